package stats

import "github.com/acptap/acptap/record/trace/nested"

// ServerCalls counts the calls to servers that agents started: calls of a tool, named
// SERVER/TOOL, or of another method, named SERVER METHOD. Its zero value is empty.
type ServerCalls struct {
	calls   names[Timing]
	servers map[string]string // by the name of a call
}

// Add counts the calls on the tape of a server. index becomes the Run of their Places.
func (s *ServerCalls) Add(tape *nested.Tape, index int) {
	for _, c := range tape.Calls {
		name := tape.Server + "/" + c.Name
		if !c.IsTool() {
			name = tape.Server + " " + c.Method
		}
		t := s.calls.of(name)
		if s.calls[name] == t && s.servers[name] == "" {
			if s.servers == nil {
				s.servers = map[string]string{}
			}
			s.servers[name] = tape.Server
		}
		if c.Open() {
			t.Open++
			continue
		}
		t.End(c.Failed, c.Took(), !c.Untimed, Place{index, c.Request})
	}
}

// List returns the calls by name, most frequent first.
func (s *ServerCalls) List() []Named {
	list := timings(s.calls)
	for i := range list {
		list[i].Server = s.servers[list[i].Name]
	}
	return list
}
