package conform

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// isReplay reports whether a request asks for a session's history.
func isReplay(call *Call) bool {
	switch call.Method {
	case "session/load":
		return true
	case "session/resume":
		return wire.Text(wire.Get(call.Params, "replayFrom", "type")) == "start"
	}
	return false
}

// turns returns the number of turns that a session's history must have according to the
// tapes.
func (x *session) turns(p *past) int {
	if x.turn.cleared {
		return x.turn.completed
	}
	before, _ := p.sessions.Get(x.id)
	return before.Turns + x.turn.completed
}

// A replay is a load, or a resume with history, that succeeded and is complete on the tape.
type replay struct {
	rule    int     // index in the Checker's rules
	finding Finding // without the loss
}

// maxReplays limits the replays remembered per tape.
const maxReplays = 1 << 10

func newReplays() bounded.Map[uint64, replay] { return bounded.Map[uint64, replay]{Limit: maxReplays} }

// Replayed returns the sessions of the current tape's complete replays to which AddLossy
// has not been applied.
func (c *Checker) Replayed() (sessions []string) {
	for _, r := range c.replays.All() {
		sessions = append(sessions, r.finding.Session)
	}
	return sessions
}

// AddLossy reports that a replay on the current tape lost, changed or duplicated something
// that earlier tapes have: rule ACP223. A Checker cannot compare, because it does not keep
// conversations. request is the Seq of the session/load or session/resume; text describes the
// loss in one clause. AddLossy may be called once per request, at any time before Next. It
// returns false and adds nothing if the Checker knows no such replay.
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

// loadRules concern sessions that are loaded or resumed.
var loadRules = checks{
	{"ACP221", noReplay},
	{"ACP222", replayAfterAnswer},
	{"ACP223", replayLossy},
	{"ACP224", resumeReplays},
	{"ACP225", refusesOwn},
}

func noReplay(s *Step, r *Report) {
	x := r.Session()
	if x == nil || !isReplay(s.Call) || x.setup.opening != s.Call {
		return
	}
	turns := x.turns(s.Conn.past)
	if turns == 0 {
		return
	}
	r.Judge(x.setup.replayed == 0, Evidence{
		Text:    "answered " + s.Method + " before it had replayed anything; the tapes hold " + termtext.Counted(turns, "turn") + " of the session",
		Because: []uint64{s.Call.Seq},
	})
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
	if x == nil || !isReplay(s.Call) || x.setup.replayed == 0 {
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
	if call.Params == nil || wire.Present(wire.Get(call.Params, "replayFrom")) || x.setup.method != "" {
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
