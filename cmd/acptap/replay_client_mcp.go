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

// A serverReplay is what --mcp of acptap replay client says: which MCP servers AGENT gets.
type serverReplay struct {
	on    bool     // tapes in place of the servers
	alone []string // names of those that AGENT gets all the same
}

// parseServerReplay reads off, or replay and, behind commas, not:NAME.
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

// play has the agent that a client is played to get the tapes of its MCP servers in place
// of the servers. They are in the store in dir or, if the client is in a file, beside that.
// It is an error if one has no tape, or if r names one that there is not. The function that
// it returns is called when the client has been played, and returns what AGENT asked that is
// not on the tapes; a second call does nothing.
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

// noServer says that AGENT is given no server of a name, but those of others.
func noServer(name string, others []string) string {
	text := fmt.Sprintf("--mcp=replay,not:%s: the client on the tape gave no MCP server %q", name, name)
	if len(others) > 0 {
		text += ", but " + strings.Join(others, ", ")
	}
	return text
}

// noTape says that servers have no tapes, and what to do.
func noTape(servers []string) string {
	what, real := "MCP server "+servers[0]+" has no tape", "one"
	if len(servers) > 1 {
		what, real = "MCP servers "+strings.Join(servers, ", ")+" have no tapes", "ones"
	}
	return fmt.Sprintf("--mcp=replay: %s: acptap proxy --mcp records them, and acptap export --mcp writes them beside the agent's; --mcp=replay,not:%s gives AGENT the real %s",
		what, strings.Join(servers, ",not:"), real)
}

// serverTapes returns the tapes that are nested in one of a store. Of a server that was
// started several times for one link it is the first.
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
