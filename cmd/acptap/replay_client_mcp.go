package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/drive"
)

// A serverReplay is the parsed --mcp of acptap replay client: which MCP servers AGENT gets.
type serverReplay struct {
	on    bool     // replace servers by their tapes
	alone []string // names of the servers not to replace
}

// parseServerReplay parses off, or replay and any number of ,not:NAME.
func parseServerReplay(text string) (r serverReplay, err error) {
	if text == "off" {
		return r, nil
	}
	words := strings.Split(text, ",")
	r.on = words[0] == "replay"
	for _, word := range words[1:] {
		name, ok := strings.CutPrefix(word, "not:")
		r.on = r.on && ok && name != ""
		r.alone = append(r.alone, name)
	}
	if !r.on {
		return r, fmt.Errorf("--mcp is replay, replay,not:NAME or off, not %q", text)
	}
	return r, nil
}

// play gives AGENT replayed tapes in place of its MCP servers. The tapes are in the store
// in dir, or beside file if the client's tape is a file. play returns an error if a server
// to replace has no tape, or if r names a server that is not on the client's tape. Call end
// after the client has been played: it returns what AGENT asked for that is not on the
// tapes. Further calls of end do nothing.
func (r serverReplay) play(dir, file string, client *drive.Client, stderr io.Writer) (end func() []string, err error) {
	acptap, err := cli.Acptap.Self(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return nil, err
	}
	store, err := ref.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	servers, err := drive.ReadServers(client.Tapes, client.Session, func(t *record.Tape) (drive.Nested, error) {
		if file != "" {
			return drive.Beside(file, t)
		}
		return serverTapes(store, t.ID())
	})
	if err != nil {
		return nil, err
	}
	for _, name := range r.alone {
		if names := servers.Names(); !slices.Contains(names, name) {
			return nil, errors.New(termtext.Line(noServer(name, names)))
		}
	}
	missing := slices.DeleteFunc(servers.Missing(), func(name string) bool { return slices.Contains(r.alone, name) })
	if len(missing) > 0 {
		return nil, errors.New(termtext.Line(noTape(missing)))
	}
	next := func(name string) string {
		if slices.Contains(r.alone, name) {
			return ""
		}
		return servers.Next(name)
	}
	misses, err := newServerMisses()
	if err != nil {
		return nil, err
	}
	fronts := &serverFronts{store: store, stderr: stderr}
	client.Interceptors = []proxy.Interceptor{&nest.Substitute{
		Command: func(name string) []string {
			tape := next(name)
			if tape == "" {
				return nil
			}
			return []string{acptap, "replay", "agent", "--store", store.Dir(), "--misses-to", misses.file(name), tape}
		},
		URL: func(name string) string { return fronts.url(name, next(name)) },
	}}
	return sync.OnceValue(func() []string { return append(misses.close(), fronts.close()...) }), nil
}

// noServer says that the client on the tape gave no server called name, and which it gave.
func noServer(name string, others []string) string {
	text := fmt.Sprintf("--mcp=replay,not:%s: the client on the tape gave no MCP server %q", name, name)
	if len(others) > 0 {
		text += ", but " + strings.Join(others, ", ")
	}
	return text
}

// noTape says that servers have no tapes, and what to do about it.
func noTape(servers []string) string {
	what, real := "MCP server "+servers[0]+" has no tape", "one"
	if len(servers) > 1 {
		what, real = "MCP servers "+strings.Join(servers, ", ")+" have no tapes", "ones"
	}
	return fmt.Sprintf("--mcp=replay: %s: acptap proxy --mcp records them, and acptap export --mcp writes them beside the agent's; --mcp=replay,not:%s gives AGENT the real %s",
		what, strings.Join(servers, ",not:"), real)
}

// serverTapes returns the tapes nested in a tape of the store. If a server was started
// several times for one link, it returns only the first of its tapes.
func serverTapes(store *record.Store, parent string) (drive.Nested, error) {
	l, err := store.List()
	if err != nil {
		return drive.Nested{}, err
	}
	tapes := map[string]string{}
	for _, info := range record.NestingOf(l.Tapes).Children(parent) {
		if link := info.Start.Parent.Link; tapes[link] == "" {
			tapes[link] = info.Tape
		}
	}
	return drive.Nested{ByLink: tapes}, nil
}
