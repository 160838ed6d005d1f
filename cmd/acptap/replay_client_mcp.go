package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/self"
	"github.com/acptap/acptap/cmd/acptap/internal/warning"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/drive"
)

// replayServers has the agent that the client is played to start the tapes of its MCP
// servers in place of the servers. Of those that have none w tells.
func replayServers(dir string, client *drive.Client, w *warning.Queue) error {
	acptap, err := self.Path(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return err
	}
	store, l, err := ref.ListStore(dir)
	if err != nil {
		return err
	}
	servers, err := drive.ReadServers(client.Tapes, client.Session, record.NestingOf(l.Tapes).Children)
	if err != nil {
		return err
	}
	if !servers.Any() {
		return errors.New("--mcp=replay: the tape has no tapes of MCP servers: acptap proxy --mcp makes them")
	}
	client.Interceptors = []proxy.Interceptor{&nest.Substitute{Command: func(name string, kind dialect.ServerKind) []string {
		tape := ""
		if kind == dialect.StdioServer {
			tape = servers.Next(name)
		}
		if tape == "" {
			w.Print("note: %s", termtext.Line(fmt.Sprintf("MCP server %s was not recorded: AGENT gets the real one", name)))
			return nil
		}
		return []string{acptap, "replay", "agent", "--store", store.Dir(), tape}
	}}}
	return nil
}
