package ref

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
)

// Agents returns parts of the subject in the form that a Reader takes.
func (s Subject) Agents(parts ...Part) ([]reading.Part, error) {
	agents, err := reading.Agents(Subject{Parts: parts}.Tapes()...)
	for i := range agents {
		a := &agents[i]
		if a.Store, a.Session, a.From = s.Store, s.Session, parts[i].Run.First; s.Session != "" {
			a.Has = func(f *dialect.Frame) bool { return s.Has(parts[i], f) }
		}
	}
	return agents, err
}

// Reader returns a reader of parts of the subject and of the tapes of the servers that were
// started on them. If all is set, it includes servers that those servers started.
func (s Subject) Reader(all bool, parts ...Part) (*reading.Reader, error) {
	agents, err := s.Agents(parts...)
	if err != nil {
		return nil, err
	}
	r := reading.New(agents)
	return r, r.AddServers(all)
}
