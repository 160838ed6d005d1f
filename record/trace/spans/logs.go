package spans

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Record is a log record of a frame or of a line that the agent wrote to stderr.
type Record struct {
	Resource []Attr
	In       Ref // the span that contains it
	Time     time.Time
	Session  string // empty: the connection's
	Stderr   bool
	Attrs    []Attr
	Body     string // the frame or the line; empty without Content
}

// A location is the span that contains the current frame.
type location struct {
	Ref
	rank rank
}

// A rank orders the candidate spans of a frame. The one with the highest rank contains it.
type rank uint8

const (
	inConnection rank = iota
	inTurn
	inToolCall
	inCall
)

// Record returns the record of f, which must be the last frame added. ok is false if neither
// side sent f. Record requires Logs.
func (b *Builder) Record(f *dialect.Frame) (r Record, ok bool) {
	if f.Kind == wire.Mark {
		return Record{}, false
	}
	var s Span
	s.attr(tapeID, b.tape.ID)
	s.attr(frameNumber, int64(f.Seq))
	s.text(direction, f.Dir.String())
	s.attr(byteCount, f.Size)
	if f.Origin != wire.Wire {
		s.text(origin, f.Origin.String())
	}
	if b.now().Protocol == dialect.MCP {
		s.text(mcpMethod, f.Method)
		s.text(mcpSession, f.Session)
	} else {
		s.text(rpcMethod, f.Method)
		s.text(updateKind, f.Update)
		s.text(conversation, f.Session)
	}
	r = Record{Resource: b.resource(), In: b.lies(f), Time: b.at(f.At), Session: f.Session, Stderr: f.Kind == wire.Stderr}
	if !r.Stderr && f.Kind != wire.Batch {
		s.text(requestID, wire.ValueOf(wire.Scan(f.Raw).ID).String())
	}
	if r.Attrs = s.Attrs; b.Content {
		r.Body = clip(string(f.Raw), maxValue)
	}
	return r, true
}

// lies returns the span that contains f, the last frame added: what f begins, changes or ends,
// else the current turn of its session, else the connection.
func (b *Builder) lies(f *dialect.Frame) Ref {
	if b.location.rank > inConnection {
		return b.location.Ref
	}
	if s := b.sessions[f.Session]; s != nil && f.Session != "" {
		if working, _ := s.of.Conversation.Working(); working != nil {
			if to, ok := s.turns[working.Number]; ok {
				return to
			}
		}
	}
	return connectionRef(b.tape.ID)
}

// locate records what an event reveals about the location of its frame.
func (b *Builder) locate(e *trace.Event, s *session) {
	if !b.Logs || e.End == trace.StillOpen || e.End == trace.Replaced || e.End == trace.Forgotten {
		return
	}
	at := func(r rank, to Ref) {
		if r > b.location.rank {
			b.location = location{to, r}
		}
	}
	switch e.Kind {
	case trace.CallEvent:
		if c := b.calls[placeOf(e)]; c != nil {
			at(inCall, Ref{c.trace, spanID(b.tape.ID, Call, e.First, e.Entry)})
		}
	case trace.ToolCallEvent:
		if b.tools[placeOf(e)] && !e.Repeated {
			at(inToolCall, Ref{b.traceOf(e, s), spanID(b.tape.ID, ToolCall, e.First, e.Entry)})
		}
	case trace.TurnEvent:
		if to, ok := s.turns[e.InTurn]; ok {
			at(inTurn, to)
		}
	}
}

// traceOf returns the trace of the span of an event, unless a traceparent names another.
func (b *Builder) traceOf(e *trace.Event, s *session) TraceID {
	if s != nil {
		if to, ok := s.turns[e.InTurn]; ok {
			return to.Trace
		}
	}
	return b.above(e).Trace
}
