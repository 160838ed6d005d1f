package spans

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// Servers finds the spans on an agent's tape that contain the calls to its servers, as far as
// nested.Join knows: a tool call, or the turn during which they were made. Later frames may
// change the result.
type Servers struct {
	agent Builder
	join  nested.Join
	tools map[*trace.Entity]SpanID
	sent  map[SpanID]TraceID // of tool calls
	calls map[callKey][]placedCall
}

// A callKey is the tape and the frame of a request.
type callKey struct {
	tape  string
	frame uint64
}

// A placedCall is a call to a server and its parent.
type placedCall struct {
	*nested.Call
	above Ref
}

// ServersOf returns the Servers of the agent on a tape.
func ServersOf(agent Tape) *Servers {
	s := &Servers{
		agent: Builder{Content: true}, // a Join compares content
		tools: map[*trace.Entity]SpanID{}, sent: map[SpanID]TraceID{}, calls: map[callKey][]placedCall{},
	}
	s.agent.Next(agent)
	s.join.Next(agent.ID, agent.Start)
	return s
}

// Add handles the next frame of the agent's tape, with its bytes. It keeps nothing of f.
func (s *Servers) Add(f *dialect.Frame) {
	s.take(s.agent.Add(f))
	s.join.Take(f, &s.agent.trace)
	for _, e := range s.agent.trace.Events() {
		if e.Kind == trace.ToolCallEvent && !e.Repeated {
			s.tools[e.ToolCall] = spanID(s.agent.tape.ID, ToolCall, e.First, e.Entry)
		}
	}
}

// Server adds the tape of a server, whose frames are then added to t.
func (s *Servers) Server(t *nested.Tape) { s.join.Nested(t) }

// End marks all tapes as finished. Above returns nothing before End.
func (s *Servers) End() {
	s.take(s.agent.End())
	s.join.End()
	for _, one := range s.agent.sessions {
		for _, e := range one.of.Conversation.Entities {
			turn, ok := one.turns[e.Turn]
			if !ok {
				continue
			}
			for _, c := range s.join.Of(e) {
				s.place(c, s.joined(c, e, turn))
			}
		}
	}
	*s = Servers{calls: s.calls} // discards the content
}

// take records the traces of tool calls.
func (s *Servers) take(sets []Set) {
	for _, set := range sets {
		for _, span := range set.Spans {
			if span.Kind == ToolCall {
				s.sent[span.ID] = span.Trace
			}
		}
	}
}

// joined returns the parent of a call that is joined to an entity of a turn or follows it.
func (s *Servers) joined(c nested.Joined, e *trace.Entity, turn Ref) Ref {
	id, ok := s.tools[e]
	if in := s.sent[id]; ok && in != (TraceID{}) && c.By != nested.NoEvidence {
		return Ref{in, id}
	}
	return turn
}

func (s *Servers) place(c nested.Joined, above Ref) {
	if !c.Tape.Hosted() { // a hosted server's frames are on the agent's tape
		key := callKey{c.Tape.ID, c.Request}
		s.calls[key] = append(s.calls[key], placedCall{c.Call, above})
	}
}

// Above returns the span that contains a call on the tape of a server, given the frame and the
// id of its request as JSON. ok is false if there is none.
func (s *Servers) Above(tape string, frame uint64, id string) (above Ref, ok bool) {
	for _, c := range s.calls[callKey{tape, frame}] {
		if c.IsOf(id) {
			return c.above, true
		}
	}
	return Ref{}, false
}
