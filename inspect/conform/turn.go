package conform

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A turn holds what is known about a session's turns. In version 1 a turn lasts from a
// prompt to its answer.
type turn struct {
	prompts []*Call // open, oldest first
	cancel  Moment  // of the latest session/cancel; Seq 0: none
	output  uint64  // Seq of the latest frame that shows the agent working; 0: none
	said    uint64  // Seq of the latest part of an agent's message; 0: none

	// The latest prompt answered since the session was set up.
	end       Moment // of the answer; Seq 0: none was answered
	stop      string // the stop reason; empty: an error
	cancelled bool   // session/cancel came while the prompt was open
	late      int    // number of conversation parts since the answer

	completed int  // number of turns that a history must have
	cleared   bool // earlier connections may have added to the history
}

// maxPrompts limits the open prompts remembered per session.
const maxPrompts = 64

func (t *turn) observe(s *Step) {
	switch {
	case s.Method == "session/prompt" && s.Kind() == wire.Request:
		t.prompted(s)
	case s.Method == "session/prompt" && s.Call != nil:
		t.answered(s)
	case s.Method == "session/cancel" && s.From == Client:
		t.cancel = s.Moment()
		if len(t.prompts) == 1 && cancelsTurn(s) {
			t.prompts[0].halted = t.cancel
		}
	case s.From == Agent && s.Kind() != wire.Response:
		if isOutput(s) {
			t.output = s.Frame.Seq
		}
		if s.Entity == dialect.AgentMessage {
			t.said = s.Frame.Seq
		}
		if isHistory(s.Entity) && len(t.prompts) == 0 {
			t.late++
		}
	}
}

func (t *turn) prompted(s *Step) {
	call := s.prompt(len(t.prompts))
	if call == nil {
		return
	}
	call.overlap = t.overlap()
	t.prompts = append(t.prompts, call)
	if call.command = isCommand(s.Param("prompt")); call.command {
		t.completed, t.cleared = 0, true
	}
}

func (t *turn) answered(s *Step) {
	t.prompts = slices.DeleteFunc(t.prompts, func(c *Call) bool { return c == s.Call })
	t.end, t.stop = s.Moment(), wire.Text(s.Result("stopReason"))
	t.cancelled = s.Call.halted.Seq != 0
	t.late = 0
	if isComplete(t.stop) && !s.Call.command {
		t.completed++
	}
}

// prompt returns the step's prompt; nil if too many are open to remember it.
func (s *Step) prompt(open int) *Call {
	call := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)
	if call != nil && open == maxPrompts {
		s.Session.lose("more prompts are open than are remembered")
		return nil
	}
	return call
}

// restored forgets the turns from before the session was loaded or resumed.
func (t *turn) restored() { t.end, t.stop, t.late = Moment{}, "", 0 }

// isComplete reports whether a turn with the given stop reason is certain to be in the
// history: agents may drop what was refused or cancelled.
func isComplete(stop string) bool {
	return stop == "end_turn" || stop == "max_tokens" || stop == "max_turn_requests"
}

// isCommand reports whether a prompt is a command for the agent, such as /clear.
func isCommand(prompt []byte) bool {
	return bytes.HasPrefix(wire.Get(prompt, "0", "text"), []byte(`"/`))
}

// isHistory reports whether an update is part of the conversation.
func isHistory(e dialect.Entity) bool {
	switch e {
	case dialect.UserMessage, dialect.AgentMessage, dialect.Thought, dialect.ToolCall, dialect.Plan:
		return true
	}
	return false
}

// isOutput reports whether a message from the agent shows that it is working.
func isOutput(s *Step) bool {
	switch s.Entity {
	case dialect.Commands, dialect.SessionInfo, dialect.Usage:
		return false
	}
	return true
}

// stopReasons are those of version 1.
var stopReasons = []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}

// turnRules judge prompts, and what an agent sends during a turn and after it.
var turnRules = checks{
	{"ACP301", stopReason},
	{"ACP302", afterTheTurn},
	{"ACP305", requestOutsideTurn},
	{"ACP307", emptyTurn},
}

func stopReason(s *Step, r *Report) {
	r.Tried()
	if v := s.Result("stopReason"); !slices.Contains(stopReasons, wire.Text(v)) {
		finding := Evidence{Text: "answered session/prompt without a stop reason", Path: "stopReason", Want: strings.Join(stopReasons, ", "), Got: string(v)}
		if len(v) > 0 {
			finding.Text = "answered session/prompt with a stop reason that does not exist"
		}
		r.Add(finding)
	}
}

func afterTheTurn(s *Step, r *Report) {
	if s.Method == "session/prompt" {
		r.Tried()
		return
	}
	if x := r.Session(); x != nil && !x.turn.cancelled {
		r.addLate(x, "it had ended the turn")
	}
}

// addLate reports that the step is the first part of the conversation after the end of a
// turn.
func (r *Report) addLate(x *session, when string) {
	if x.isIdle() && x.turn.late == 0 {
		r.Add(Evidence{
			Text:    "sent " + r.step.Update + " " + r.step.After(x.turn.end) + when + " (frame " + number(x.turn.end.Seq) + ")",
			Because: []uint64{x.turn.end.Seq},
		})
	}
}

// isIdle reports whether a turn has ended and none has started since.
func (x *session) isIdle() bool {
	return x.turn.end.Seq != 0 && len(x.turn.prompts) == 0 && x.setup.opening == nil
}

func requestOutsideTurn(s *Step, r *Report) {
	x := r.Session()
	if x == nil || x.setup.opening != nil {
		return
	}
	r.Judge(len(x.turn.prompts) == 0, Evidence{Text: "called " + s.Method + " while no prompt was open"})
}

func emptyTurn(s *Step, r *Report) {
	if s.Call == nil || s.Call.command || wire.Text(s.Result("stopReason")) != "end_turn" {
		return
	}
	x := r.Session()
	if x == nil {
		return
	}
	r.Judge(x.turn.output < s.Call.Seq, Evidence{Text: "ended the turn without any output", Because: []uint64{s.Call.Seq}})
}

// A messageKey identifies a session's message by its messageId.
type messageKey struct {
	history uint32 // of a session since it was last set up: a replay may renumber messages
	id      uint64 // hash
}

// A message records the role that first used a messageId.
type message struct {
	seq  uint64
	role dialect.Entity
	told bool // its use by another role was reported
}

// maxMessages limits the messages with an id remembered, over all sessions.
const maxMessages = 1 << 15

// messages are those of a connection. A forgotten message counts as new: this misses a
// fault, but accuses no one.
type messages struct {
	seen bounded.Map[messageKey, message]
}

// isMessage reports whether an update concerns a message.
func isMessage(e dialect.Entity) bool {
	return e == dialect.UserMessage || e == dialect.AgentMessage || e == dialect.Thought
}

// find returns the message that a step concerns, and its key; ok is false if the step
// names none.
func (m *messages) find(s *Step) (key messageKey, was message, ok bool) {
	if s.Session == nil || !isMessage(s.Entity) {
		return key, was, false
	}
	id := s.EntityID()
	if !isString(id) {
		return key, was, false
	}
	key = messageKey{s.Session.history, maphash.Bytes(seed, id)}
	was, _ = m.seen.Get(key)
	return key, was, true
}

func (m *messages) observe(s *Step) {
	key, was, ok := m.find(s)
	switch {
	case !ok:
	case was.seq == 0:
		m.seen.Set(key, message{seq: s.Frame.Seq, role: s.Entity})
	case mixesRoles(s, was) && !was.told:
		was.told = true
		m.seen.Set(key, was)
	}
}

// messageRules concern message ids.
var messageRules = checks{
	{"ACP321", messageRole},
}

func messageRole(s *Step, r *Report) {
	x := r.Session()
	if x == nil {
		return
	}
	_, was, ok := s.Conn.messages.find(s)
	if !ok {
		return
	}
	r.Tried()
	if was.seq != 0 && mixesRoles(s, was) && !was.told {
		r.Add(Evidence{
			Text: "used a messageId for " + roleName(s.Entity) + " that was " + roleName(was.role) + " in frame " + number(was.seq),
			Path: "update.messageId", Got: string(s.EntityID()), Because: []uint64{was.seq},
		})
	}
}

// mixesRoles reports whether a step has a different role from the message whose id it
// uses. Version 1 does not separate an agent's thoughts from its answers.
func mixesRoles(s *Step, was message) bool {
	ofUser := was.role == dialect.UserMessage || s.Entity == dialect.UserMessage
	return was.role != s.Entity && (ofUser || s.Conn.Dialect != dialect.ACPv1)
}

func roleName(of dialect.Entity) string {
	switch of {
	case dialect.UserMessage:
		return "a message of the user"
	case dialect.AgentMessage:
		return "a message of the agent"
	}
	return "a thought"
}
