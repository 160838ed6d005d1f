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

// A turn is what is known of the turns of a session. In version 1 a turn lasts from a
// prompt to its answer.
type turn struct {
	prompts []*Call // open, the oldest first
	cancel  Moment  // of the newest session/cancel; Seq 0: none
	output  uint64  // Seq of the newest frame with which the agent did something; 0: none

	// Of the newest prompt that was answered since the session was set up.
	end       Moment // of the answer; Seq 0: none was answered
	stop      string // the stop reason; empty: an error
	cancelled bool   // session/cancel came while the prompt was open
	late      int    // parts of the conversation that came since the answer

	completed int  // turns that a history of the session has to have
	cleared   bool // whether there is more of a history, from connections before, is not known
}

// maxPrompts is how many open prompts of a session are remembered.
const maxPrompts = 64

func (t *turn) observe(s *Step) {
	switch {
	case s.Method == "session/prompt" && s.Kind() == wire.Request:
		t.prompted(s)
	case s.Method == "session/prompt" && s.Call != nil:
		t.answered(s)
	case s.Method == "session/cancel":
		t.cancel = s.Moment()
		if len(t.prompts) == 1 {
			t.prompts[0].halted = t.cancel
		}
	case s.From == Agent && s.Kind() != wire.Response:
		if isOutput(s) {
			t.output = s.Frame.Seq
		}
		if isHistory(s.Entity) && len(t.prompts) == 0 {
			t.late++
		}
	}
}

func (t *turn) prompted(s *Step) {
	call := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)
	switch {
	case call == nil:
		return
	case len(t.prompts) == maxPrompts:
		s.Session.lose("more prompts are open than are remembered")
		return
	}
	t.prompts = append(t.prompts, call)
	if call.command = isCommand(s.Param("prompt")); call.command {
		t.completed, t.cleared = 0, true
	}
}

func (t *turn) answered(s *Step) {
	t.prompts = slices.DeleteFunc(t.prompts, func(c *Call) bool { return c == s.Call })
	t.end, t.stop = s.Moment(), text(s.Result("stopReason"))
	t.cancelled = s.Call.halted.Seq != 0
	t.late = 0
	if isComplete(t.stop) && !s.Call.command {
		t.completed++
	}
}

// restored forgets what was said before the session was loaded or resumed.
func (t *turn) restored() { t.end, t.stop, t.late = Moment{}, "", 0 }

// isComplete reports whether a turn with a stop reason is part of the history for
// certain: agents may drop what was refused or cancelled.
func isComplete(stop string) bool {
	return stop == "end_turn" || stop == "max_tokens" || stop == "max_turn_requests"
}

// isCommand reports whether a prompt is a command of the agent, such as /clear.
func isCommand(prompt []byte) bool {
	return bytes.HasPrefix(get(prompt, "0", "text"), []byte(`"/`))
}

// isHistory reports whether an update is about a part of the conversation.
func isHistory(e dialect.Entity) bool {
	switch e {
	case dialect.UserMessage, dialect.AgentMessage, dialect.Thought, dialect.ToolCall, dialect.Plan:
		return true
	}
	return false
}

// isOutput reports whether a message of the agent shows that it works.
func isOutput(s *Step) bool {
	switch s.Entity {
	case dialect.Commands, dialect.SessionInfo, dialect.Usage:
		return false
	}
	return true
}

// stopReasons are those of version 1.
var stopReasons = []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}

// chunks are the variants of session/update that are parts of a message.
var chunks = []string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"}

// updates returns what a rule has on that wants to see variants of session/update.
func updates(variants ...string) []On {
	var on []On
	for _, v := range variants {
		on = append(on, On{Notifications, v, dialect.AgentSide})
	}
	return on
}

// promptEnds is where a turn of version 1 ends.
var promptEnds = On{Responses, "session/prompt", dialect.AgentSide}

// turnRules are about prompts, and what an agent sends in a turn and after it.
var turnRules = []Rule{
	{
		ID: "ACP301", Name: "stop-reason",
		Clauses: []Clause{{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Prompt Turn, Check for Completion", "prompt-turn#4-check-for-completion")}},
		Fault:   Agent, Needs: Pair,
		On: []On{promptEnds},
		Text: Text{
			Asks:  "The answer to `session/prompt` says why the turn ended: by one of the stop reasons of the protocol.",
			Finds: "A successful answer without `stopReason`, or with one that the protocol does not know.",
			Do:    "answer `session/prompt` with one of " + strings.Join(stopReasons, ", "),
		},
		Check: stopReason,
	},
	{
		ID: "ACP302", Name: "after-the-turn",
		Clauses: []Clause{{For: v1, Strength: Note, Source: acp1("Prompt Turn, The Prompt Turn Lifecycle", "prompt-turn#the-prompt-turn-lifecycle")}},
		Fault:   Agent, Needs: Session,
		On: append(updates("tool_call", "tool_call_update", "plan", "plan_update"), append(updates(chunks...), promptEnds)...),
		Text: Text{
			Asks:   "The answer to `session/prompt` ends a turn: what the agent says and does in it comes before.",
			Finds:  "A message, a tool call or a plan between the end of a turn and the next prompt. Clients that have closed the turn show it in the wrong place, or not at all. Only the first update after a turn is reported.",
			Spares: "Commands, usage, title, mode and notices, which may come at any time; the replay of a session that is loaded; what follows a turn that the client cancelled, which is ACP443.",
			Do:     "answer `session/prompt` when all updates of the turn are sent",
		},
		Check: afterTheTurn,
	},
	{
		ID: "ACP305", Name: "request-outside-turn",
		Clauses: []Clause{{For: v1, Strength: Note, Source: acp1("Prompt Turn, Tool Invocation and Status Reporting", "prompt-turn#5-tool-invocation-and-status-reporting")}},
		Fault:   Agent, Needs: Session,
		On: []On{
			{Requests, "session/request_permission", dialect.AgentSide},
			{Requests, "fs/read_text_file", dialect.AgentSide},
			{Requests, "fs/write_text_file", dialect.AgentSide},
			{Requests, "terminal/create", dialect.AgentSide},
		},
		Text: Text{
			Asks:   "Permission, files and terminals of the client are described as a part of a turn.",
			Finds:  "Such a request while no prompt of its session is open. Users do not expect a question then, and clients may have nowhere to show it.",
			Spares: "Requests while the session is being loaded or resumed; those which only follow or end a terminal.",
			Do:     "ask while a prompt is open",
		},
		Check: requestOutsideTurn,
	},
	{
		ID: "ACP307", Name: "empty-turn",
		Clauses: []Clause{{For: v1, Strength: Note, Source: acp1("Prompt Turn, Agent Reports Output", "prompt-turn#3-agent-reports-output")}},
		Fault:   Agent, Needs: Session,
		On: []On{promptEnds},
		Text: Text{
			Asks:   "The agent reports what it says and does by `session/update`.",
			Finds:  "A turn that ended with `end_turn` without a single message, call, plan or request. The user sees nothing; often a model's error was lost.",
			Spares: "Prompts that are a command, such as `/clear`.",
			Do:     "send what the model answered, and answer with an error where it failed",
		},
		Check: emptyTurn,
	},
}

func stopReason(s *Step, r *Report) {
	if !s.Succeeded() {
		return
	}
	r.Tried()
	if v := s.Result("stopReason"); !slices.Contains(stopReasons, text(v)) {
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
	x := r.Session()
	if x == nil || !x.isIdle() || x.turn.late > 0 || x.turn.cancelled {
		return
	}
	r.Add(Evidence{
		Text:    "sent " + s.Update + " " + s.After(x.turn.end) + "it had ended the turn (frame " + number(x.turn.end.Seq) + ")",
		Because: []uint64{x.turn.end.Seq},
	})
}

// isIdle reports whether a turn has ended and none has begun since then.
func (x *session) isIdle() bool {
	return x.turn.end.Seq != 0 && len(x.turn.prompts) == 0 && x.setup.opening == nil
}

func requestOutsideTurn(s *Step, r *Report) {
	x := r.Session()
	if x == nil || x.setup.opening != nil {
		return
	}
	r.Tried()
	if len(x.turn.prompts) == 0 {
		r.Add(Evidence{Text: "called " + s.Method + " while no prompt was open"})
	}
}

func emptyTurn(s *Step, r *Report) {
	if s.Call == nil || s.Call.command || text(s.Result("stopReason")) != "end_turn" {
		return
	}
	x := r.Session()
	if x == nil {
		return
	}
	r.Tried()
	if x.turn.output < s.Call.Seq {
		r.Add(Evidence{Text: "ended the turn without any output", Because: []uint64{s.Call.Seq}})
	}
}

// A messageKey names a message of a session by its messageId.
type messageKey struct {
	history uint32 // a session since it was last set up: a replay may number messages anew
	id      uint64 // hash
}

// A message is who spoke first under a messageId.
type message struct {
	seq  uint64
	role dialect.Entity
	told bool // that it was used for another role, too
}

// maxMessages is how many messages with an id are remembered, over all sessions.
const maxMessages = 1 << 15

// messages are those of a connection. A message that is forgotten is a new one: then a
// fault is missed, and nobody is accused.
type messages struct {
	seen bounded.Map[messageKey, message]
	seed maphash.Seed
}

func newMessages() messages {
	return messages{seen: bounded.Map[messageKey, message]{Limit: maxMessages}, seed: maphash.MakeSeed()}
}

// isMessage reports whether an update is about a message.
func isMessage(e dialect.Entity) bool {
	return e == dialect.UserMessage || e == dialect.AgentMessage || e == dialect.Thought
}

// find returns the message that a step is about, and its key; ok is false if it names none.
func (m *messages) find(s *Step) (key messageKey, was message, ok bool) {
	if s.Session == nil || !isMessage(s.Entity) {
		return key, was, false
	}
	id := s.EntityID()
	if !isString(id) {
		return key, was, false
	}
	key = messageKey{s.Session.history, maphash.Bytes(m.seed, id)}
	was, _ = m.seen.Get(key)
	return key, was, true
}

func (m *messages) observe(s *Step) {
	key, was, ok := m.find(s)
	switch {
	case !ok:
	case was.seq == 0:
		m.seen.Set(key, message{seq: s.Frame.Seq, role: s.Entity})
	case was.role != s.Entity && !was.told:
		was.told = true
		m.seen.Set(key, was)
	}
}

// messageRules are about the ids of messages.
var messageRules = []Rule{
	{
		ID: "ACP321", Name: "message-role",
		Clauses: []Clause{
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Prompt Lifecycle, Agent Reports Output", "prompt-lifecycle#3-agent-reports-output")},
			{For: v1, Strength: Warning, Source: acp1("Prompt Turn, Agent Reports Output", "prompt-turn#3-agent-reports-output")},
		},
		Fault: Agent, Needs: Session,
		On: updates("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "user_message", "agent_message", "agent_thought"),
		Text: Text{
			Asks:   "A `messageId` names one message: of the user, of the agent, or a thought.",
			Finds:  "One `messageId` under two roles, such as a thought and the answer that follows it. A client that joins chunks by their id mixes both. Each id is reported once.",
			Spares: "Ids that were used before the session was loaded or resumed.",
			Do:     "give each message an id of its own, also the thought before an answer",
		},
		Check: messageRole,
	},
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
	if was.seq != 0 && was.role != s.Entity && !was.told {
		r.Add(Evidence{
			Text: "used a messageId for " + roleNames[s.Entity] + " that was " + roleNames[was.role] + " in frame " + number(was.seq),
			Path: "update.messageId", Got: string(s.EntityID()), Because: []uint64{was.seq},
		})
	}
}

var roleNames = map[dialect.Entity]string{
	dialect.UserMessage:  "a message of the user",
	dialect.AgentMessage: "a message of the agent",
	dialect.Thought:      "a thought",
}
