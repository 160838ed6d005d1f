package drive

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/trace/nested"
)

// Servers holds the tapes of the MCP servers that the client configured for its agent,
// which reaches them over stdio or by URL.
type Servers struct {
	tapes map[string][]string           // by name, in the order of the client's requests; empty: no tape
	kinds map[string]dialect.ServerKind // by tape
}

// Nested holds the tapes that belong to an agent's tape.
type Nested struct {
	ByLink map[string]string // by the link of the entry that the server was started for
	ByName map[string]string // by the server's portable.FileName, if the tape has no link
}

// ReadServers finds the tapes of servers that belong to tapes, for one session or, if
// session is empty, for all. nestedIn returns the tapes that belong to one tape.
func ReadServers(tapes []*record.Tape, session string, nestedIn func(t *record.Tape) (Nested, error)) (*Servers, error) {
	s := &Servers{tapes: map[string][]string{}, kinds: map[string]dialect.ServerKind{}}
	for _, t := range tapes {
		n, err := nestedIn(t)
		if err == nil {
			err = s.read(t, session, n)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, starts := range s.tapes {
		fill(starts)
	}
	return s, nil
}

// read reads which servers the agent was given.
func (s *Servers) read(t *record.Tape, session string, n Nested) error {
	type start struct {
		name, link string
		kind       dialect.ServerKind
		of         string // the session; empty: unknown, or about to be made
	}
	var starts []start
	var links nested.Links
	for f, err := range t.Frames(1) {
		if err != nil {
			return err
		}
		links.Add(&f)
		if f.Dir != wire.ClientToAgent || !f.Origin.Received() || !f.Kind.IsMessage() {
			continue
		}
		servers, _ := dialect.Servers(f.Raw)
		for _, server := range servers {
			switch server.Kind {
			case dialect.StdioServer, dialect.HTTPServer, dialect.SSEServer:
				starts = append(starts, start{server.Name, dialect.LinkOf(wire.ValueOf(f.Raw[server.At.Start:server.At.End])), server.Kind, f.Session})
			}
		}
	}
	for _, st := range starts {
		of, linked := links.Session(st.link)
		if !linked {
			of = st.of
		}
		if session != "" && of != "" && of != session {
			continue
		}
		tape, ok := n.ByLink[st.link]
		if !ok {
			tape = n.ByName[portable.FileName(st.name)]
		}
		s.tapes[st.name] = append(s.tapes[st.name], tape)
		if tape != "" {
			s.kinds[tape] = st.kind
		}
	}
	return nil
}

// fill gives a start without a tape the tape of the previous start, or of the next one:
// an agent that called no tool in a session may not have started its server.
func fill(starts []string) {
	i := slices.IndexFunc(starts, func(tape string) bool { return tape != "" })
	if i < 0 {
		return
	}
	last := starts[i]
	for i, tape := range starts {
		if tape != "" {
			last = tape
		}
		starts[i] = last
	}
}

// Names returns the names of all servers, sorted.
func (s *Servers) Names() []string { return slices.Sorted(maps.Keys(s.tapes)) }

// Missing returns the names of the servers without a tape, sorted.
func (s *Servers) Missing() (names []string) {
	for name, starts := range s.tapes {
		if starts[0] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Tapes returns the names of all tapes, with the kinds of their servers.
func (s *Servers) Tapes() map[string]dialect.ServerKind { return s.kinds }

// Next returns the tape of the next server called name that the client gives the agent,
// or "" if there is none. The last tape serves all further servers with that name.
func (s *Servers) Next(name string) (tape string) {
	tapes := s.tapes[name]
	if len(tapes) == 0 {
		return ""
	}
	if len(tapes) > 1 {
		s.tapes[name] = tapes[1:]
	}
	return tapes[0]
}

// Beside returns the tapes of servers that are next to the file of an agent's tape: the
// absolute paths of NAME.mcp.SERVER.jsonl next to NAME.jsonl, which is how acptap export
// --mcp names them. A tape whose head names its parent must belong to that agent's tape; if a
// server was started several times for one link, Beside returns the tape of the first start.
// For other tapes, such as those written by hand, the file name says which server it is.
func Beside(path string, t *record.Tape) (Nested, error) {
	n := Nested{ByLink: map[string]string{}, ByName: map[string]string{}}
	path, err := filepath.Abs(path)
	if err != nil {
		return n, err
	}
	dir, base := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".jsonl")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return n, err
	}
	began := map[string]time.Time{}
	for _, e := range entries {
		server, ok := portable.ServerInFile(base, e.Name())
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		tape, err := record.OpenFile(path)
		if err != nil {
			return n, err
		}
		info, err := tape.Info()
		if err != nil {
			return n, err
		}
		parent := info.Start.Parent
		before, known := began[parent.Link]
		switch {
		case parent.Tape == "":
			n.ByName[server] = path
		case parent.Tape == t.ID() && (!known || info.Start.Time.Before(before)):
			n.ByLink[parent.Link], began[parent.Link] = path, info.Start.Time
		}
	}
	return n, nil
}
