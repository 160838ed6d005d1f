// Command servers is an agent with MCP servers for the benchmarks. To each line it
// answers when all servers in its mcpServers have answered their first; they are this
// program too, with the argument server, and send each line back.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		io.Copy(os.Stdout, os.Stdin)
		return
	}
	var servers []func()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var setup struct {
			Params struct{ McpServers []entry }
		}
		if err := json.Unmarshal(in.Bytes(), &setup); err != nil {
			panic(err)
		}
		var group sync.WaitGroup
		for _, s := range setup.Params.McpServers {
			cmd, first := s.start()
			servers = append(servers, cmd)
			group.Go(first)
		}
		group.Wait()
		fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`)
	}
	for _, end := range servers {
		end()
	}
}

// An entry is one of mcpServers.
type entry struct {
	Command string
	Args    []string
}

// start starts a server. first returns when it has answered, and end when it has ended.
func (e entry) start() (end, first func()) {
	cmd := exec.Command(e.Command, e.Args...)
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
	first = func() {
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			panic(err)
		}
	}
	end = func() {
		in.Close()
		cmd.Wait()
	}
	return end, first
}
