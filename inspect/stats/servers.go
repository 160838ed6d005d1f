package stats

import "github.com/acptap/acptap/record/trace/nested"

// ServerCalls counts the calls of servers that agents started. Its zero value has none.
type ServerCalls struct {
	calls   names[Timing]
	servers map[string]string // by the name of a call
}

// A ServerCall is how long calls of a server took: of one of its tools, named SERVER/TOOL,
// or of another method, named SERVER METHOD.
type ServerCall struct {
	Server string // empty: everything beyond the bound
	Named
}

// Add counts the calls on the tape of a server. index is the Run of their Places.
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

// List returns the calls by name, the most frequent first.
func (s *ServerCalls) List() []ServerCall {
	var list []ServerCall
	for _, one := range timings(s.calls) {
		list = append(list, ServerCall{s.servers[one.Name], one})
	}
	return list
}
