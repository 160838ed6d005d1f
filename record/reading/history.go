package reading

import (
	"iter"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A History is what happened on the tapes of an agent, and the calls of its servers. The
// zero value is ready to use. If Trace is Brief, calls are not joined to tool calls.
type History struct {
	Trace trace.Trace
	Calls nested.Join
	Start time.Time // time 0 for all of the agent's frames; zero: each tape has its own

	tape    *Part                  // the agent's tape that Trace has reached
	servers map[*Part]*nested.Tape // with tapes of their own
	hosts   []*Part                // by index in Calls.Tapes: the agent whose client hosts the server; nil: the server has a tape of its own
}

// Take handles the next event of a Reader. It reports whether the event is a frame of the
// subject on an agent's tape, which Take has then added to Trace.
func (h *History) Take(e *Event) bool {
	switch {
	case e.Part == nil, e.Part.IsServer() && e.Part.Above != e.Part.Agent: // or a server of a server
	case e.Kind == Begins && e.Part.IsServer():
		h.begin(e.Part)
	case e.Kind == Begins:
		h.Trace.Next(e.Part.Info.Connection)
		h.tape, h.Trace.Live = e.Part, e.Part.Info.Live
		start := h.Start
		if start.IsZero() {
			start = e.Part.Info.Start.Time
		}
		h.Calls.Next(e.Part.Info.Tape, start)
		h.Calls.Partial = h.Calls.Partial || e.Part.Store == nil || e.Part.Info.Imported
	case e.Kind == Ends && e.Part.IsServer():
		h.servers[e.Part].End()
	case e.Kind == Ends && e.Part == h.tape:
		h.Trace.Live = false
	case e.Kind != Read || e.Err != nil:
	case e.Part.IsServer():
		h.servers[e.Part].Add(&e.Frame)
	default:
		return h.frame(e)
	}
	return false
}

// begin adds the tape of a server.
func (h *History) begin(p *Part) {
	if h.servers == nil {
		h.servers = map[*Part]*nested.Tape{}
	}
	t := CallsOf(&p.Info)
	h.servers[p] = t
	h.Calls.Nested(t)
	h.hosts = append(h.hosts, nil)
}

// CallsOf returns a nested.Tape that collects the calls on the tape of a server.
func CallsOf(info *record.Info) *nested.Tape {
	parent := info.Start.Parent
	return &nested.Tape{ID: info.Tape, Parent: parent.Tape, Link: parent.Link, Server: info.ServerName(), Start: info.Start.Time}
}

// frame handles a frame of the agent. A frame of another session may still say for which
// session a server was started.
func (h *History) frame(e *Event) bool {
	own := e.Part.Holds(&e.Frame)
	if own || e.Frame.Kind == wire.Mark { // how the agent ended says how its sessions ended
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

// End marks the agent's tapes as finished.
func (h *History) End() {
	h.Trace.End()
	h.Calls.End()
}

// Servers yields the calls of servers in the sessions that were read: of servers with
// their own tapes, and of those that the client hosts. Call it after everything has been
// read.
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

// Uncalled returns the servers that were never called in these sessions.
func (h *History) Uncalled(sessions ...*trace.Session) []nested.Uncalled {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.ID
	}
	return h.Calls.Uncalled(h.Trace.Live, ids...)
}
