package conform

import (
	"strconv"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
)

// isReplay reports whether a request asks for the history of a session.
func isReplay(call *Call) bool {
	switch call.Method {
	case "session/load":
		return true
	case "session/resume":
		return text(get(call.Params, "replayFrom", "type")) == "start"
	}
	return false
}

// turns returns how many turns the history of a session has to have, as far as the tapes
// tell.
func (x *session) turns(p *past) int {
	if x.turn.cleared {
		return x.turn.completed
	}
	before, _ := p.sessions.Get(x.id)
	return before.Turns + x.turn.completed
}

// A replay is a load, or a resume with history, that was answered with success and is
// whole on the tape.
type replay struct {
	rule    int     // index among the rules of the Checker
	finding Finding // without what is lossy
}

// maxReplays is how many of a tape are remembered.
const maxReplays = 1 << 10

func newReplays() bounded.Map[uint64, replay] { return bounded.Map[uint64, replay]{Limit: maxReplays} }

// AddLossy adds what a comparison with earlier tapes has found missing, changed or
// doubled in a replay on the present tape: rule ACP223. The comparison needs whole
// conversations, which a Checker does not keep. request is the Seq of the session/load or
// session/resume, text says in one clause what is lossy. AddLossy may be called once for
// each, at any time before Next. It reports false, and adds nothing, where the Checker
// does not know of such a replay that can be judged.
func (c *Checker) AddLossy(request uint64, text string) bool {
	known, ok := c.replays.Get(request)
	if !ok {
		return false
	}
	c.replays.Drop(request)
	known.finding.Text = text
	v := &c.verdicts[known.rule]
	if v.found[Agent]++; v.found[Agent] <= maxFindings {
		c.findings = append(c.findings, known.finding)
	}
	return true
}

// restores is where the agent answers a request to load or resume.
var restores = []On{{Responses, "session/load", dialect.AgentSide}, {Responses, "session/resume", dialect.AgentSide}}

var (
	loading1 = acp1("Session Setup, Loading Sessions", "session-setup#loading-sessions")
	resuming = acp2("Session Setup, Resuming Sessions", "session-setup#resuming-sessions")
)

// loadRules are about sessions that are loaded and resumed.
var loadRules = []Rule{
	{
		ID: "ACP221", Name: "no-replay",
		Clauses: []Clause{
			{For: v2, Strength: Violation, Word: "MUST", Source: resuming},
			{For: v1AndOld, Strength: Violation, Word: "MUST", Source: loading1},
		},
		Fault: Agent, Needs: Session, About: "session/load",
		On: restores,
		Text: Text{
			Asks:   "The agent replays the whole conversation before it answers `session/load`, in version 2 `session/resume` with `replayFrom`.",
			Finds:  "A successful answer before a single update of the conversation, though earlier tapes, or this one, hold turns of the session.",
			Spares: "Sessions without a completed turn; those in which a command such as `/clear` may have emptied the history; tapes on which something is missing.",
			Do:     "send the messages, tool calls and plans of the session by `session/update`, and answer then",
		},
		Check: noReplay,
	},
	{
		ID: "ACP222", Name: "replay-after-answer",
		Clauses: []Clause{{For: v1AndOld, Strength: Violation, Word: "MUST", Source: loading1}},
		Fault:   Agent, Needs: Session, About: "session/load",
		On: updates("user_message_chunk", "user_message"),
		Text: Text{
			Asks:   "The agent answers `session/load` when all of the conversation is replayed.",
			Finds:  "A message of the user after the answer and before the next prompt: that can only be a part of the replay. A client takes what comes after the answer for new. The first one is reported.",
			Spares: "Loads that are reported as ACP221 already.",
			Do:     "wait until the replay is sent before you answer `session/load`",
		},
		Check: replayAfterAnswer,
	},
	{
		ID: "ACP223", Name: "replay-lossy", Elsewhere: "It takes whole conversations to compare a replay with what was recorded before; `acptap check` and `acptap sessions check-load` do that.",
		Clauses: []Clause{
			{For: v2, Strength: Warning, Word: "MUST", Source: resuming},
			{For: v1AndOld, Strength: Warning, Word: "MUST", Source: loading1},
		},
		Fault: Agent, Needs: Session, About: "session/load",
		On: restores,
		Text: Text{
			Asks:   "The agent replays the entire conversation.",
			Finds:  "Messages, tool calls or plans that earlier tapes hold and the replay lacks, or has changed, or has twice.",
			Spares: "What is only in the replay: the agent may know more than was recorded. Loads without any replay, which are ACP221.",
			Do:     "store what you send to the client, and replay it as it was",
		},
		Check: replayLossy,
	},
	{
		ID: "ACP224", Name: "resume-replays",
		Clauses: []Clause{
			{For: v2, Strength: Violation, Word: "MUST NOT", Source: resuming},
			{For: v1AndOld, Strength: Violation, Word: "MUST NOT", Source: acp1("Session Setup, Resuming Sessions", "session-setup#resuming-sessions")},
		},
		Fault: Agent, Needs: Connection, About: "session/resume",
		On: updates("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "user_message", "agent_message", "agent_thought", "tool_call", "tool_call_update"),
		Text: Text{
			Asks:   "`session/resume` restores a session without its history; in version 2, unless `replayFrom` asks for it.",
			Finds:  "A message or a tool call of the session between the request and its answer. A client that has the conversation shows it twice. The first one is reported.",
			Spares: "Sessions that were set up on this connection already, and may be at work.",
			Do:     "restore the context without sending updates of the conversation",
		},
		Check: resumeReplays,
	},
	{
		ID: "ACP225", Name: "refuses-own",
		Clauses: []Clause{{For: allOfACP, Strength: Note, Source: loading1}},
		Fault:   Agent, Needs: Session, About: "session/load",
		On: restores,
		Text: Text{
			Asks:   "A session that the agent made can be loaded, or resumed, where it offers that.",
			Finds:  "An error for a session that this agent made on an earlier tape. As a rule it is one that was never prompted: clients make a session in one run and load it in the next.",
			Spares: "Sessions that were deleted; refusals because of the login or the method; tapes on which something is missing.",
			Do:     "store a session when it is made, not with its first prompt",
		},
		Check: refusesOwn,
	},
}

func noReplay(s *Step, r *Report) {
	x := r.Session()
	if x == nil || s.Call == nil || !s.Succeeded() || !isReplay(s.Call) || x.setup.opening != s.Call {
		return
	}
	turns := x.turns(s.Conn.past)
	if turns == 0 {
		return
	}
	r.Tried()
	if x.setup.replayed == 0 {
		r.Add(Evidence{
			Text:    "answered " + s.Method + " before it had replayed anything; the tapes hold " + plural(turns, "turn") + " of the session",
			Because: []uint64{s.Call.Seq},
		})
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func replayAfterAnswer(s *Step, r *Report) {
	x := r.Session()
	if x == nil || x.setup.method != "session/load" || x.setup.prompted || x.setup.opening != nil || len(x.turn.prompts) > 0 {
		return
	}
	r.Tried()
	if x.setup.late || x.setup.empty {
		return
	}
	r.Add(Evidence{
		Text:    "replayed a message of the user " + s.After(x.setup.done) + "it had answered session/load (frame " + number(x.setup.done.Seq) + ")",
		Because: []uint64{x.setup.done.Seq},
	})
}

func replayLossy(s *Step, r *Report) {
	x := r.Session()
	if x == nil || s.Call == nil || !s.Succeeded() || !isReplay(s.Call) || x.setup.replayed == 0 {
		return
	}
	r.Tried()
	r.judge.checker.replays.Set(s.Call.Seq, replay{r.active.index, r.finding(Evidence{Because: []uint64{s.Call.Seq}}, Agent)})
}

func resumeReplays(s *Step, r *Report) {
	x := s.Session
	if x == nil || x.setup.opening == nil || x.setup.opening.Method != "session/resume" {
		return
	}
	call := x.setup.opening
	if call.Params == nil || present(get(call.Params, "replayFrom")) || x.setup.method != "" {
		return
	}
	if x.setup.replayed > 0 {
		return
	}
	r.Add(Evidence{
		Text: "sent " + s.Update + " before it answered session/resume (frame " + number(call.Seq) + ")",
		In:   x, Because: []uint64{call.Seq},
	})
}

func refusesOwn(s *Step, r *Report) {
	x := r.Session()
	if x == nil || s.Call == nil || s.Envelope.Error == nil || refusesOtherwise(s.Envelope.Error) || !s.Conn.hello.allowed[s.Method] {
		return
	}
	before, _ := s.Conn.past.sessions.Get(x.id)
	if !before.Made {
		return
	}
	r.Tried()
	r.Add(Evidence{Text: "refused a session that it made on an earlier connection: answered " + said(s), Because: []uint64{s.Call.Seq}})
}
