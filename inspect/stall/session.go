package stall

import (
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A session is a session with an open turn or set-up.
type session struct {
	of     *trace.Session
	turns  bool // one is open
	setups int  // number of open ones
	heard  place
	last   said // what the last frame said

	cancelled int   // number of the turn that was cancelled
	cancel    place // when
}

func (s *session) hear(f *dialect.Frame, a *dialect.Annotation, here place) {
	s.heard, s.last = here, said{name: frametext.Name(&dialect.Frame{Annotation: *a}), answer: f.Request != 0}
	if e := s.of.Conversation.Changed; e != nil && e.Last == f.Seq {
		s.last.tool = e.ToolCall
	}
}

func (s *session) waits() (wait, bool) {
	turn, part := s.of.Conversation.Working()
	switch {
	case !s.turns, turn == nil:
	case turn.Cancelled && s.cancelled == turn.Number:
		return wait{Cancel, s.cancel}, true
	case part == trace.ForAgent:
		return wait{Silent, s.heard}, true
	case part == trace.ForTool:
		return wait{Tool, s.heard}, true
	}
	return wait{}, false
}

func (s *session) names() (session string, turn int, details []string) {
	if t, _ := s.of.Conversation.Working(); t != nil {
		turn = t.Number
	}
	if after := s.last.String(); after != "" {
		details = []string{"after " + after}
	}
	return s.of.ID, turn, details
}
