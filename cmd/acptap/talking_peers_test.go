package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// talkingAgent is an agent that talks without end, to its client and to the MCP servers
// that it is given in session/new, which need not be more than talkingServer is.
//
//	exec acptap proxy --mcp -- talking-agent DIR
//
// Everything sent and received is logged in files in DIR, as described at talk: agent, and
// NAME.client for each server.
func talkingAgent() {
	dir := os.Args[1]
	setups, hear := io.Pipe()
	go func() {
		for in := bufio.NewReader(setups); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			for _, s := range wire.ValueAt(line, "params.mcpServers").Array() {
				startTalking(dir, s)
			}
		}
	}()
	talk(filepath.Join(dir, "agent"), io.TeeReader(os.Stdin, hear), os.Stdout)
}

// startTalking starts a server as an entry of mcpServers says, and talks to it.
func startTalking(dir string, entry wire.Value) {
	var args []string
	for _, a := range entry.Get("args").Array() {
		args = append(args, a.Text())
	}
	cmd := exec.Command(entry.Get("command").Text(), args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	go func() {
		talk(filepath.Join(dir, entry.Get("name").Text()+".client"), out, in)
		cmd.Wait()
	}()
}

// talkingServer is a server that sends without end. It logs what it sends and receives in
// PATH.said and PATH.heard.
//
//	talking-server PATH
func talkingServer() { talk(os.Args[1], os.Stdin, os.Stdout) }

// talk writes lines to out without end, and reads in to its end. It logs lines in path.said
// before it writes them, and what it has read in path.heard.
func talk(path string, in io.Reader, out io.Writer) {
	said, heard := create(path+".said"), create(path+".heard")
	go func() {
		for n := 0; ; n++ {
			line := talkLine(n)
			if _, err := said.Write(line); err != nil {
				panic(err)
			}
			if _, err := out.Write(line); err != nil {
				return
			}
		}
	}()
	io.Copy(heard, in)
}

func create(path string) *os.File {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	return f
}

// talkLine returns a line of a length that chance decides.
func talkLine(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d,"data":"%s"}}`+"\n", n, strings.Repeat("word ", rand.IntN(100)))
}
