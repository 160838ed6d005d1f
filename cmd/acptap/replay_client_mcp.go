package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// replayServers has the agent that a client is played to start the tapes of its MCP
// servers in place of the servers. They are in the store in dir or, if the client is in a
// file, beside that. Of servers that have none w tells.
func replayServers(dir, file string, client *drive.Client, w *warning.Queue) error {
	acptap, err := self.Path(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return err
	}
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	servers, err := drive.ReadServers(client.Tapes, client.Session, func(t *record.Tape) (map[string]string, error) {
		if file != "" {
			return serverFiles(file, t.ID())
		}
		return serverTapes(store, t.ID())
	})
	if err != nil {
		return err
	}
	if !servers.Any() {
		return errors.New("--mcp=replay: the tape has no tapes of MCP servers: acptap proxy --mcp makes them, and acptap export --mcp writes them beside it")
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

// serverTapes returns the ids of the tapes that are nested in one of a store, by their
// links. Of a server that was started several times for one link it is the first.
func serverTapes(store *record.Store, parent string) (map[string]string, error) {
	l, err := store.List()
	if err != nil {
		return nil, err
	}
	tapes := map[string]string{}
	for _, info := range record.NestingOf(l.Tapes).Children(parent) {
		if link := info.Start.Parent.Link; tapes[link] == "" {
			tapes[link] = info.Tape
		}
	}
	return tapes, nil
}

// serverFiles is serverTapes for tapes in files, as acptap export --mcp writes them: beside
// NAME.jsonl there is NAME.mcp.SERVER.jsonl. It returns their absolute paths.
func serverFiles(path, parent string) (map[string]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".jsonl")+".mcp."
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	tapes, began := map[string]string{}, map[string]time.Time{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		info, err := infoOf(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		link, before := info.Start.Parent.Link, info.Start.Time
		if known, ok := began[link]; info.Start.Parent.Tape == parent && (!ok || before.Before(known)) {
			tapes[link], began[link] = filepath.Join(dir, e.Name()), before
		}
	}
	return tapes, nil
}

// infoOf returns what is known of a tape in a file.
func infoOf(path string) (record.Info, error) {
	t, err := record.OpenFile(path)
	if err != nil {
		return record.Info{}, err
	}
	return t.Info()
}
