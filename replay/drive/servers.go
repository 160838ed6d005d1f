package drive

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// Servers are the tapes of the MCP servers that the agent of a tape has started.
type Servers struct {
	tapes map[string][]string // by name, in the order of the client's requests; empty: none was recorded
}

// ReadServers finds the tapes of servers on tapes, of one session or, if that is empty, of
// all. nestedIn returns the names of the tapes that are nested in one, by their links.
func ReadServers(tapes []*record.Tape, session string, nestedIn func(t *record.Tape) (map[string]string, error)) (*Servers, error) {
	s := &Servers{tapes: map[string][]string{}}
	for _, t := range tapes {
		byLink, err := nestedIn(t)
		if err == nil {
			err = s.read(t, session, byLink)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// read reads what the agent was told to start.
func (s *Servers) read(t *record.Tape, session string, byLink map[string]string) error {
	type start struct{ name, link string }
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
			if server.Kind == dialect.StdioServer {
				p, _ := nest.ParentOf(f.Raw[server.At.Start:server.At.End])
				starts = append(starts, start{server.Name, p.Link})
			}
		}
	}
	for _, st := range starts {
		if of, _ := links.Session(st.link); session == "" || of == session {
			s.tapes[st.name] = append(s.tapes[st.name], byLink[st.link])
		}
	}
	return nil
}

// Any reports whether a tape of a server was found.
func (s *Servers) Any() bool {
	for _, tapes := range s.tapes {
		for _, tape := range tapes {
			if tape != "" {
				return true
			}
		}
	}
	return false
}

// Next returns the name of the tape of the next server of a name that the client gives the agent; empty
// if there is none. The last one is there for those that the client did not give it on the
// tapes.
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
