package conform

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// questions tracks a session's questions to the user.
type questions struct {
	open      []*Call // to session/request_permission, oldest first
	cancelled Moment  // of the latest answer "cancelled"; Seq 0: none
	refused   uint64  // Seq of the latest answer that may have ended the turn: cancelled, or an error; 0: none
}

// maxQuestions limits the open questions remembered per session; others are not judged.
const maxQuestions = 64

func (q *questions) observe(s *Step) {
	switch {
	case cancelsTurn(s):
		for _, call := range q.open {
			call.halted = s.Moment()
		}
	case s.Method != "session/request_permission" && s.Method != "elicitation/create":
	case s.Kind() == wire.Request:
		if call := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID); call != nil && len(q.open) < maxQuestions {
			q.open = append(q.open, call)
		}
	case s.Call != nil:
		q.answered(s)
	}
}

func (q *questions) answered(s *Step) {
	q.open = slices.DeleteFunc(q.open, func(c *Call) bool { return c == s.Call })
	switch cancelled := isCancelled(s); {
	case cancelled:
		q.cancelled, q.refused = s.Moment(), s.Frame.Seq
	case !s.Succeeded(), wire.Text(s.Result("action")) == "cancel":
		q.refused = s.Frame.Seq
	}
}

// isCancelled reports whether a permission request was answered "cancelled".
func isCancelled(s *Step) bool {
	return s.Succeeded() && wire.Text(s.Result("outcome", "outcome")) == "cancelled"
}

// permissionRules concern session/request_permission.
var permissionRules = checks{
	{"ACP422", optionTwice},
	{"ACP423", optionUnknown},
	{"ACP424", notCancelled},
}

func optionTwice(s *Step, r *Report) {
	seen := map[string]bool{}
	for i, option := range wire.Elements(s.Param("options")) {
		id := wire.Get(option, "optionId")
		if !isString(id) {
			continue
		}
		r.Judge(seen[wire.Text(id)], Evidence{Text: "offered two options with one id", Path: dialect.ElementPath("options", i) + ".optionId", Got: string(id)})
		seen[wire.Text(id)] = true
	}
}

func optionUnknown(s *Step, r *Report) {
	chosen := s.Result("outcome", "optionId")
	if s.Call == nil || s.Call.Params == nil || !isString(chosen) || wire.Text(s.Result("outcome", "outcome")) != "selected" {
		return
	}
	offered := false
	for _, option := range wire.Elements(s.Call.Params) {
		offered = offered || wire.Text(wire.Get(option, "optionId")) == wire.Text(chosen)
	}
	r.Judge(!offered, Evidence{
		Text: "chose an option that was not offered (frame " + number(s.Call.Seq) + ")", Path: "outcome.optionId",
		Got: string(chosen), Because: []uint64{s.Call.Seq},
	})
}

func notCancelled(s *Step, r *Report) {
	call := s.Call
	if call == nil || call.halted.Seq == 0 {
		return
	}
	switch d, ok := since(call.halted, s.Moment()); {
	case isCancelled(s), isTakenBack(s):
		r.Tried()
		return
	case s.Conn.http.several && (!ok || d <= s.judge.checker.options.Grace):
		return // the frames are on different streams
	}
	r.Add(Evidence{
		Text:    "answered " + said(s) + ", " + s.After(call.halted) + "it had sent session/cancel (frame " + number(call.halted.Seq) + ")",
		Path:    "outcome.outcome",
		Want:    `"cancelled"`,
		Because: []uint64{call.Seq, call.halted.Seq},
	})
}

// terminals holds those that the agent created at the client on this connection.
type terminals struct {
	byID   bounded.Map[terminalID, *terminal]
	forgot bool // there were more than can be remembered
}

type terminalID struct{ session, id string }

// A terminal is an element of terminals.
type terminal struct {
	call     *Call  // the request that created it
	released Moment // Seq 0: it was not
}

const maxTerminals = 4096

// of returns a session's terminal with the given ID, or nil if it is unknown.
func (t *terminals) of(session, id string) *terminal {
	x, _ := t.byID.Get(terminalID{session, id})
	return x
}

// observe updates the state with a step.
func (t *terminals) observe(s *Step) {
	switch {
	case s.Method == "terminal/create" && s.Call != nil && s.Succeeded():
		id := wire.Text(s.Result("terminalId"))
		if id == "" {
			return
		}
		t.byID.Limit = maxTerminals
		_, full := t.byID.Set(terminalID{s.Call.Session, id}, &terminal{call: s.Call})
		t.forgot = t.forgot || full
	case s.Method == "terminal/release" && s.is(wire.Request):
		if x := t.of(s.About.Session, wire.Text(s.Param("terminalId"))); x != nil && x.released.Seq == 0 {
			x.released = s.Moment()
		}
	case s.Method == "terminal/release" && s.Call != nil && s.Envelope.Error != nil:
		if x := t.of(s.Call.Session, wire.Text(wire.Get(s.Call.Params, "terminalId"))); x != nil && x.released.Seq == s.Call.Seq {
			x.released = Moment{}
		}
	}
}

// serviceRules concern the client's files and terminals.
var serviceRules = checks{
	{"ACP502", relativeArgument},
	{"ACP522", deadTerminal},
	{"ACP523", notReleased},
}

func relativeArgument(s *Step, r *Report) {
	key := "cwd" // of terminal/create and session/list
	if strings.HasPrefix(s.Method, "fs/") {
		key = "path"
	}
	path := s.Param(key)
	if !isString(path) {
		return
	}
	r.Judge(isRelative(path), Evidence{Text: "sent a path that is not absolute", Path: key, Want: "an absolute path", Got: string(path)})
}

func deadTerminal(s *Step, r *Report) {
	if s.Conn.terminals.forgot {
		return
	}
	r.Tried()
	id := s.Param("terminalId")
	switch x := s.Conn.terminals.of(s.About.Session, wire.Text(id)); {
	case x == nil:
		r.Add(Evidence{Text: "named a terminal that was not created here", Path: "terminalId", Got: string(id)})
	case x.released.Seq != 0:
		r.Add(Evidence{Text: "named a terminal that it had released (frame " + number(x.released.Seq) + ")", Path: "terminalId", Got: string(id), Because: []uint64{x.released.Seq}})
	}
}

func notReleased(s *Step, r *Report) {
	for id, x := range s.Conn.terminals.byID.All() {
		session := s.Conn.session(id.session)
		if x.released.Seq != 0 || session == nil {
			continue
		}
		e := Evidence{Text: "did not release the terminal " + id.id, Seq: x.call.Seq, Of: x.call, In: session, By: Agent}
		switch closed := session.setup.closed; {
		case s.Conn.EndedItself(Agent):
		case closed.Seq != 0:
			if d, timed := since(closed, s.Moment()); !timed || d <= s.judge.checker.options.Grace {
				continue
			}
			e.Because = []uint64{closed.Seq}
		default:
			continue
		}
		r.Add(e)
	}
}
