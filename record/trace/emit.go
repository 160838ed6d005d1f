package trace

import (
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A life is the state of the tape itself.
type life struct {
	events []Event
	since  Span       // of the connection
	begun  bool       // a frame has arrived
	ended  bool       // End was called
	exit   *wire.Exit // of the agent; nil: not seen
	died   bool       // the agent failed, or ended before the client wanted it to
	lost   uint64     // Seq of the last mark of lost bytes that may have been the agent's; 0: none
	wanted bool       // the client has left, or has sent a signal that ends programs

	gone time.Duration // when the client left; 0: not seen
}

// Events returns what began, changed or ended with the last frame added, or with End or
// Next. A part begins after the whole and ends before it. The list is valid until the
// next call of Add, End or Next.
func (t *Trace) Events() []Event { return t.events }

// Now returns the time of the last frame of the tape.
func (t *Trace) Now() time.Duration { return t.since.Ended }

// End marks the tape as finished and emits the end of everything still open on it. Except
// for Turn.Outcome, what the Trace says about it, such as Turn.Open, stays as it is.
func (t *Trace) End() {
	t.events = t.events[:0]
	if !t.begun || t.ended {
		return
	}
	t.ended = true
	t.endCalls()
	for _, s := range t.Sessions {
		t.endSession(s, t.emitAtEnd)
	}
	end, reason := StillOpen, ""
	if x := t.exit; x != nil {
		if end = Completed; x.Code != 0 || x.Signal != "" {
			end, reason = Failed, strconv.Itoa(x.Code)
		}
		if x.Signal != "" {
			reason = x.Signal
		}
	}
	t.emitAtEnd(Event{Kind: ConnectionEvent}.about(&t.since).as(end, reason))
}

func (t *Trace) endCalls() {
	for w := range t.pending.All() {
		if w.permission != nil {
			t.emitAtEnd(w.permissionEvent(Ended).as(StillOpen, ""))
		}
		t.emitAtEnd(w.event(Ended).as(StillOpen, ""))
	}
}

// left returns the outcome of a turn that is open at the end of the tape.
func (t *Trace) left(turn *Turn) dialect.Outcome {
	if t.exit == nil && t.Live {
		return dialect.Outcome{How: dialect.Running}
	}
	var died dialect.Outcome
	if t.died {
		died = dialect.DiedOf(t.exit)
	}
	return dialect.LeftOpen(t.exit != nil, died, turn.Prompt < t.lost, dialect.LeftTurn(turn.CancelSent, t.gone))
}

// endSession emits the end of what is open in a session, if the session is on the tape.
func (t *Trace) endSession(s *Session, emit func(Event)) {
	if s.Spans[len(s.Spans)-1].Run != len(t.Runs)-1 {
		return
	}
	c := &s.Conversation
	for _, e := range inOrder(c.rejected) {
		t.emit(c.rejectedEnd(s, e))
	}
	for _, e := range inOrder(c.tools) {
		emit(s.toolEvent(e, Ended).as(StillOpen, e.ToolCall.Status))
	}
	for _, turn := range c.turns.open {
		turn.Outcome = t.left(turn)
		emit(s.turnEvent(turn, Ended).as(StillOpen, ""))
	}
	if s.live {
		emit(s.event(Ended).as(StillOpen, ""))
	}
	c.tools, c.turns.open, s.live = nil, nil, false
}

// note updates the life with the next frame of any kind.
func (t *Trace) note(f *dialect.Frame) {
	t.events = t.events[:0]
	here := Span{Run: len(t.Runs) - 1, First: f.Seq, Last: f.Seq, Began: f.At, Ended: f.At, Untimed: f.Untimed}
	if !t.begun {
		t.begun, t.since = true, here
		t.emit(Event{Kind: ConnectionEvent}.about(&t.since).at(f))
	}
	t.since.Last, t.since.Ended, t.since.Untimed = f.Seq, f.At, t.since.Untimed || f.Untimed
	if f.MayLose(false) {
		t.lost = f.Seq
	}
	if f.Kind == wire.Mark {
		switch m := wire.ReadMark(f.Frame); {
		case m.Exit != nil:
			t.exit, t.died = m.Exit, f.Events.Has(dialect.ExitFailed) || !t.wanted
		case m.EOF && f.Dir == wire.ClientToAgent:
			t.wanted, t.gone = true, f.At
		case dialect.EndsProgram(m.Signal):
			t.wanted = true
		}
	}
}

// emit adds an event.
func (t *Trace) emit(e Event) { t.events = append(t.events, e) }

// emitAtEnd adds an event that happens at the end of the tape.
func (t *Trace) emitAtEnd(e Event) {
	e.Seq, e.At, e.Untimed = t.since.Last, t.since.Ended, e.Untimed || t.since.Untimed
	t.emit(e)
}

// emit adds an event that happens with f.
func (f *frame) emit(e Event) { f.trace.emit(e.at(f.Frame)) }

func (e Event) about(s *Span) Event {
	e.Run, e.First, e.Entry, e.Began, e.Untimed = s.Run, s.First, s.entry, s.Began, s.Untimed
	return e
}

func (e Event) at(f *dialect.Frame) Event {
	e.Seq, e.At, e.Untimed = f.Seq, f.At, e.Untimed || f.Untimed
	return e
}

// as turns e into an Ended event.
func (e Event) as(end End, reason string) Event {
	e.Phase, e.End, e.Reason = Ended, end, reason
	return e
}

func (w *pendingCall) event(p Phase) Event {
	return Event{
		Kind: CallEvent, Phase: p, Run: w.Run, First: w.Request, Entry: w.entry, Began: w.Began, Untimed: w.Untimed,
		Dir: w.Dir, Method: w.Method, ID: w.id, SessionID: w.Session, InTurn: w.inTurn, Cancelled: w.Cancelled,
		Session: w.session, Call: w.Call, Question: w.asked(),
	}
}

// ended returns the event that ends a call with its response.
func (w *pendingCall) ended(f *frame) Event {
	if w.Failed {
		return w.event(Ended).as(Failed, errorCode(f))
	}
	return w.event(Ended).as(Completed, "")
}

func errorCode(f *frame) string { return f.env.Error.Get("code").String() }

func (w *pendingCall) permissionEvent(p Phase) Event {
	e := w.event(p)
	e.Kind, e.Method, e.ID = PermissionEvent, "", ""
	e.ToolCall, e.Permission = w.tool, w.permission
	return e
}

// permissionEnded returns the event that ends a permission with its answer.
func (w *pendingCall) permissionEnded() Event {
	e, outcome := w.permissionEvent(Ended), w.permission.Outcome
	switch outcome {
	case "failed":
		return e.as(Failed, outcome)
	case "cancelled":
		return e.as(Cancelled, outcome)
	}
	return e.as(Completed, outcome)
}

func (s *Session) event(p Phase) Event {
	return Event{Kind: SessionEvent, Phase: p, SessionID: s.ID, Session: s}.about(&s.since)
}

func (s *Session) turnEvent(t *Turn, p Phase) Event {
	e := Event{Kind: TurnEvent, Phase: p, SessionID: s.ID, InTurn: t.Number, Cancelled: t.Cancelled, Session: s, Turn: t}
	return e.about(&t.Span)
}

func (s *Session) turnEnded(f *frame, t *Turn) Event {
	e := s.turnEvent(t, Ended)
	switch {
	case f.Failed:
		return e.as(Failed, errorCode(f))
	case t.StopReason == "cancelled":
		return e.as(Cancelled, t.StopReason)
	}
	return e.as(Completed, t.StopReason)
}

func (s *Session) toolEvent(e *Entity, p Phase) Event {
	ev := Event{
		Kind: ToolCallEvent, Phase: p, Reason: e.ToolCall.Status, ID: e.ToolCall.ID, SessionID: s.ID, InTurn: e.Turn, Repeated: e.Replayed,
		Cancelled: e.ToolCall.Cancelled,
		Session:   s, ToolCall: e,
	}
	return ev.about(&e.Span)
}

// toolStatus emits that a tool call began or changed status.
func (s *Session) toolStatus(f *frame, e *Entity, begun bool, before string) {
	c, status := &s.Conversation, e.ToolCall.Status
	if begun {
		c.openTool(f, e)
		f.emit(s.toolEvent(e, Began))
	} else if status == before {
		return
	}
	_, rejected := c.rejected[e]
	switch {
	case rejected:
		f.trace.emit(c.rejectedEnd(s, e))
	case e.ToolCall.Finished():
		c.closeTool(f, e)
		f.emit(s.toolEvent(e, Ended).as(toolEnds[e.ToolCall.State()], status))
	case !begun:
		c.openTool(f, e)
		f.emit(s.toolEvent(e, Changed))
	}
}

var toolEnds = map[string]End{"completed": Completed, "failed": Failed, "cancelled": Cancelled, "rejected": Cancelled}
