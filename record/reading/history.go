package reading

import (
	"iter"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A History is what happened on the tapes of an agent, and what its servers were called for.
// The zero value is ready to use. If Trace is Brief, calls are not joined to what led to them.
type History struct {
	Trace trace.Trace
	Calls nested.Join
	Start time.Time // when the times of all of the agent's frames begin; zero: each with its tape

	servers map[*Part]*nested.Tape // with tapes of their own
	hosts   []*Part                // of Calls.Tapes: the agent that the client has the server for; nil: the server has a tape of its own
}

// Take takes the next event of a Reader. It reports whether that is a frame of the subject on
// the tape of an agent, which then is in Trace.
func (h *History) Take(e *Event) bool {
	switch {
	case e.Part == nil, e.Part.IsServer() && e.Part.Above != e.Part.Agent: // or a server of a server
	case e.Kind == Begins && e.Part.IsServer():
		h.begin(e.Part)
	case e.Kind == Begins:
		h.Trace.Next(e.Part.Info.Connection)
		start := h.Start
		if start.IsZero() {
			start = e.Part.Info.Start.Time
		}
		h.Calls.Next(e.Part.Info.Tape, start)
	case e.Kind == Ends && e.Part.IsServer():
		h.servers[e.Part].End()
	case e.Kind != Read || e.Err != nil:
	case e.Part.IsServer():
		h.servers[e.Part].Add(&e.Frame)
	default:
		return h.frame(e)
	}
	return false
}

// begin begins with the tape of a server.
func (h *History) begin(p *Part) {
	if h.servers == nil {
		h.servers = map[*Part]*nested.Tape{}
	}
	t := CallsOf(&p.Info)
	h.servers[p] = t
	h.Calls.Nested(t)
	h.hosts = append(h.hosts, nil)
}

// CallsOf returns what gathers the calls on the tape of a server.
func CallsOf(info *record.Info) *nested.Tape {
	parent := info.Start.Parent
	return &nested.Tape{ID: info.Tape, Parent: parent.Tape, Link: parent.Link, Server: info.ServerName(), Start: info.Start.Time}
}

// frame takes a frame of the agent. One that is not of the session may still say for which
// session a server was started.
func (h *History) frame(e *Event) bool {
	own := e.Part.Has == nil || e.Part.Has(&e.Frame)
	if own {
		h.Trace.Add(&e.Frame)
	}
	if own && !h.Trace.Brief {
		h.Calls.Take(&e.Frame, &h.Trace)
	} else {
		h.Calls.Pass(&e.Frame)
	}
	for len(h.hosts) < len(h.Calls.Tapes) {
		h.hosts = append(h.hosts, e.Part)
	}
	return own
}

// End says that no frame of the agent follows.
func (h *History) End() {
	h.Trace.End()
	h.Calls.End()
}

// Servers yields what servers were called for in the sessions that were read, when all was
// read: those with tapes of their own, and those that the client hosts.
func (h *History) Servers() iter.Seq[*nested.Tape] {
	return func(yield func(*nested.Tape) bool) {
		for i, t := range h.Calls.Tapes {
			if host := h.hosts[i]; host != nil && host.Session != "" && t.Owner() != host.Session && (t.Owner() != "" || host.Info.Sessions != 1) {
				continue
			}
			if !yield(t) {
				return
			}
		}
	}
}
