package stall

import (
	"time"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A session is a session with an open turn or setup.
type session struct {
	of     *trace.Session
	turns  bool // one is open
	setups int  // number of open ones
	heard  place
	last   said // what the last frame said

	cancelled int           // number of the cancelled turn
	cancel    place         // when it was cancelled
	began     time.Duration // how long after that it began a tool call, if over worksOnAfter; 0: it did not
}

// worksOnAfter is how long after a cancel an agent may still send output of what it had
// begun.
const worksOnAfter = time.Second

// begins notes that a tool call begins.
func (s *session) begins(here place) {
	turn, _ := s.of.Conversation.Working()
	if late := here.at - s.cancel.at; s.began == 0 && turn != nil && turn.Cancelled && s.cancelled == turn.Number && late > worksOnAfter {
		s.began = late
	}
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
	if s.began > 0 {
		details = append(details, "began a tool call "+lasts(s.began)+" after the cancel")
	}
	return s.of.ID, turn, details
}

// An agent hangs if it exits too early, in the middle of work that its client did not
// want to end, or too late, after its client has closed stdin and no work is left.
type agent struct {
	left   place // when the client closed stdin; Seq 0: not yet
	heard  place // the agent's last frame since then
	wanted bool  // the client has left, or has sent a terminating signal
	idle   bool  // no work is open
	ended  bool
	broke  place  // when it exited too early; Seq 0: it has not
	work   string // what it was doing when it exited
}

// take processes the next frame, given the work that is open after it.
func (a *agent) take(f *dialect.Frame, here place, open *work) {
	a.idle = open.idle()
	switch m := wire.ReadMark(f.Frame); {
	case f.Events.Has(dialect.AgentEnded):
		a.ended = true
		if !a.idle && !a.wanted {
			a.broke, a.work = here, open.name()
		}
	case m.EOF && f.Dir == wire.ClientToAgent:
		a.left, a.heard, a.wanted = here, here, true
	case dialect.EndsProgram(m.Signal):
		a.wanted = true
	case f.Dir == wire.AgentToClient && f.Kind != wire.Mark:
		a.heard = here
	}
}

func (a *agent) waits() (wait, bool) {
	switch {
	case a.broke.seq != 0:
		return wait{Gone, a.broke}, true
	case a.left.seq != 0 && !a.ended && a.idle:
		return wait{Gone, a.heard}, true
	}
	return wait{}, false
}

func (a *agent) names() (session string, turn int, details []string) {
	if a.broke.seq != 0 {
		return "", 0, []string{"the agent ended in the middle of " + a.work}
	}
	return "", 0, []string{"the agent has not ended since its client left"}
}
