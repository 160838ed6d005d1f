package trace

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Session is a session of the protocol, identified by its sessionId. It may span
// several tapes.
type Session struct {
	ID      string
	Opened  string // the method that first opened it, such as session/new; empty: not on these tapes
	Parent  string // of a fork: the session it came from
	Cwd     string // working directory
	Title   string // the agent's, or else the first line of the first prompt, cut to 80 characters
	Frames  int
	Spans   []Span // one for each tape that has frames of it
	Closed  bool   // closed, and not reopened
	Deleted bool

	Connection   dialect.Connection // of the newest tape
	Conversation Conversation       // empty in the Model Context Protocol

	known       bool // it is in Trace.Sessions
	since       Span // on the newest tape
	live        bool // it began on the newest tape and has not ended
	over        bool // it ended on the newest tape and was not reopened
	agentTitled bool
}

// session returns the session with the id and counts f as one of its frames. It
// returns nil if id is empty.
func (t *Trace) session(id string, f *frame) *Session {
	if id == "" {
		return nil
	}
	s := t.sessions[id]
	if s == nil || s.replacedBy(f) {
		s = &Session{ID: id}
		t.sessions[id] = s
		t.meet(f, s)
	}
	if n := len(s.Spans); n == 0 || s.Spans[n-1].Run != f.run {
		s.Spans = append(s.Spans, begin(f))
		s.Conversation.reopen()
		s.live, s.over = false, false
	}
	f.session = s
	s.Conversation.belong(f)
	s.Spans[len(s.Spans)-1].extend(f)
	s.Conversation.extend(f)
	s.Conversation.hear(f)
	s.Frames++
	s.Connection = t.Runs[f.run]
	if !s.known && !f.OnlyNames() {
		s.known = true
		t.Sessions = append(t.Sessions, s)
	}
	if !s.live && !s.over && !f.OnlyNames() {
		s.begin(f)
	}
	return s
}

func (s *Session) begin(f *frame) {
	s.live, s.over, s.since = true, false, begin(f)
	f.emit(s.event(Began))
}

// end records that the session can no longer be used.
func (s *Session) end(f *frame, end End, method string) {
	if s.live {
		s.live, s.over = false, true
		f.emit(s.event(Ended).as(end, method))
	}
}

// replacedBy reports whether f creates a session with the id of s, and s is from an earlier
// tape.
func (s *Session) replacedBy(f *frame) bool {
	return f.MakesSession() && s.known && s.Spans[len(s.Spans)-1].Run != f.run
}

// clientRequest applies the changes that the client's request w makes before it is answered.
func (s *Session) clientRequest(f *frame, w *pendingCall) {
	c := &s.Conversation
	switch role := dialect.RoleOf(dialect.ACP, f.Method); {
	case role.Is(dialect.Prompts):
		w.turn = c.prompt(f)
		if s.Title == "" {
			s.Title = cmp.Or(c.firstPrompt(), f.promptTitle())
		}
	case role.Is(dialect.Loads):
		c.historyAsked()
	case role.Is(dialect.Resumes):
		if f.params().Get("replayFrom").IsObject() { // version 2
			c.historyAsked()
		}
	}
}

// answered applies the changes that the response to w makes.
func (s *Session) answered(f *frame, w *pendingCall) {
	s.changeLife(f, w)
	c := &s.Conversation
	c.clock.end(f, &w.wait)
	if w.during != nil {
		w.during.Work.Requests.answered(f)
	}
	if dialect.RoleOf(dialect.ACP, w.Method).Is(dialect.Restores) {
		c.history.repeated = c.history.repeated && !f.Failed
		c.historySent()
	}
	switch {
	case w.turn != nil && f.Events.Has(dialect.TurnEnded):
		c.endPrompt(f, w.turn)
	case w.turn != nil: // version 2, where the response does not end the turn
		w.turn.accepted = true
	case w.permission != nil:
		w.permission.answer(f)
		if w.tool != nil {
			c.reject(f, w.tool)
		}
		f.emit(w.permissionEnded())
	case w.question != nil:
		w.question.Question.answer(f)
		c.touch(f, w.question)
	case f.Failed:
	case w.Dir == wire.AgentToClient:
		c.terminalAnswer(f, w)
	case sets(w.Method):
		c.change(f, func() { c.State.answer(f, w) })
	default:
		c.State.answer(f, w)
	}
}

// changeLife records that the session was opened, closed or deleted, or that the agent does
// not know it.
func (s *Session) changeLife(f *frame, w *pendingCall) {
	switch {
	case f.Events.Has(dialect.SessionOpened):
		s.Closed = false
		if s.Opened == "" {
			s.Opened = w.Method
		}
		if cwd := w.param("cwd"); cwd != "" {
			s.Cwd = cwd
		}
		if dialect.Does(w.Method, dialect.Copies) {
			s.Parent = w.param("sessionId")
		}
		if dialect.Does(w.Method, dialect.Creates) {
			s.Conversation.costs.known = true // a new session has cost nothing
		}
		s.Conversation.State.reopened = dialect.Does(w.Method, dialect.Restores)
		if !s.live {
			s.begin(f)
		}
		opened := s.event(Changed)
		opened.Reason = w.Method
		f.emit(opened)
	case f.Events.Has(dialect.SessionClosed):
		s.Closed = true
		s.end(f, Completed, w.Method)
	case f.Events.Has(dialect.SessionGone):
		s.Deleted = true
		s.end(f, Completed, w.Method)
	case f.Events.Has(dialect.SessionLost):
		s.end(f, Failed, w.Method)
	}
}

// retitle applies the title of a session_info_update. If that is empty, the first prompt
// becomes the title again.
func (s *Session) retitle(title string) {
	switch {
	case title != "":
		s.Title, s.agentTitled = title, true
	case s.agentTitled:
		s.Title, s.agentTitled = s.Conversation.firstPrompt(), false
	}
}

// promptTitle returns the first line of a prompt. A brief Trace keeps none.
func (f *frame) promptTitle() string {
	for block := range elements(f.params().Get("prompt")) {
		if block.Get("type").Text() != "text" {
			continue
		}
		if line := titleOf(block.Get("text").Text()); line != "" {
			return line
		}
	}
	return ""
}

const titleLength = 80 // runes

// titleOf returns the first line of a prompt, cut to titleLength.
func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = termtext.Unmarked(line[:min(len(line), 8*titleLength)])
	n := 0
	for i := range line {
		if n == titleLength {
			line = line[:i]
			break
		}
		n++
	}
	return strings.Clone(line)
}
