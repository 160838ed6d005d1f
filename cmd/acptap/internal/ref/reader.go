package ref

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
)

// Agents returns parts of the subject as a Reader takes them.
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

// Reader returns what reads parts of the subject, with the tapes of the servers that were
// started on them; if all, also those of servers that these started.
func (s Subject) Reader(all bool, parts ...Part) (*reading.Reader, error) {
	agents, err := s.Agents(parts...)
	if err != nil {
		return nil, err
	}
	r := reading.New(agents)
	return r, r.AddServers(all)
}
