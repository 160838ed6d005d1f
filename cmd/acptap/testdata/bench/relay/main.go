// Command relay is the least that a process between a client and an agent can
// do: it reads and writes, through files as os/exec gives them, and records
// nothing. It is what acptap is measured by.
package main

import (
	"io"
	"os"
	"os/exec"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		os.Exit(99)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		os.Exit(99)
	}
	if cmd.Start() != nil {
		os.Exit(99)
	}
	go func() {
		shovel(in, os.Stdin)
		in.Close()
	}()
	shovel(os.Stdout, out)
	cmd.Wait()
}

func shovel(dst io.Writer, src io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
