package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A work holds what is known about a session's foreground work in version 2. There the
// answer to a prompt only accepts it; state_update says when the work starts and ends.
type work struct {
	state   string      // of the latest state_update; empty: none came
	prompts []*accepted // those whose work has not ended, oldest first
	running uint64      // Seq of the latest update that says running; 0: none
	message uint64      // Seq of the latest user message; 0: none
	cancel  Moment      // of the latest session/cancel since the work was idle; Seq 0: none
}

// An accepted is a prompt that the agent accepts in its answer.
type accepted struct {
	call     *Call
	answered bool
	alone    bool // the agent was idle when it was sent
}

func (w *work) observe(s *Step) {
	switch {
	case s.Method == "session/prompt" && s.Kind() == wire.Request:
		w.prompted(s)
	case s.Method == "session/prompt" && s.Call != nil:
		w.answered(s)
	case cancelsTurn(s):
		if w.isActive() {
			w.cancel = s.Moment()
		}
	case s.Entity == dialect.UserMessage:
		w.message = s.Frame.Seq
	case s.Entity == dialect.State:
		w.changed(s)
	}
}

func (w *work) prompted(s *Step) {
	call := s.prompt(len(w.prompts))
	if call == nil {
		return
	}
	idle := w.state == "idle" || w.state == "" && s.Session.setup.method == "session/new"
	w.prompts = append(w.prompts, &accepted{call: call, alone: idle && len(w.prompts) == 0})
}

func (w *work) answered(s *Step) {
	i := slices.IndexFunc(w.prompts, func(a *accepted) bool { return a.call == s.Call })
	switch {
	case i < 0:
	case s.Succeeded():
		w.prompts[i].answered = true
	default:
		w.prompts = slices.Delete(w.prompts, i, i+1)
	}
}

func (w *work) changed(s *Step) {
	switch w.state = wire.Text(s.Param("update", "state")); w.state {
	case "running":
		w.running = s.Frame.Seq
	case "idle":
		if a := w.first(); a != nil && !a.call.command && isComplete(wire.Text(s.Param("update", "stopReason"))) {
			s.Session.turn.completed++
		}
		w.prompts = slices.DeleteFunc(w.prompts, func(a *accepted) bool { return a.answered })
		w.cancel = Moment{}
	}
}

// isActive reports whether the agent is working or has accepted a prompt.
func (w *work) isActive() bool {
	return w.state == "running" || w.state == "requires_action" || w.first() != nil
}

// first returns the oldest accepted prompt whose work has not ended, or nil if there is
// none.
func (w *work) first() *accepted {
	for _, a := range w.prompts {
		if a.answered {
			return a
		}
	}
	return nil
}

// twoRules judge what exists only in version 2, and what it has removed.
var twoRules = checks{
	{"ACP442", cancelledIdle},
	{"ACP701", removedMethod},
	{"ACP702", userMessage},
	{"ACP703", neverRunning},
	{"ACP704", idleStopReason},
}

// idleStep returns the session of a step that reports idle; nil for any other step, or if
// the session cannot be judged.
func idleStep(s *Step, r *Report) *session {
	x := r.Session()
	if x == nil || x.setup.opening != nil || wire.Text(s.Param("update", "state")) != "idle" {
		return nil
	}
	return x
}

func cancelledIdle(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil || x.work.cancel.Seq == 0 {
		return
	}
	switch stop := s.Param("update", "stopReason"); {
	case !isString(stop):
	case wire.Text(stop) == "cancelled":
		r.Tried()
	default:
		e := Evidence{Text: "ended the work with " + short(wire.Text(stop)), Path: "update.stopReason", Got: string(stop)}
		r.addUncancelled(e, x, x.work.cancel, false)
	}
}

func removedMethod(s *Step, r *Report) {
	if s.Method == "session/load" && s.Conn.hello.allowed[s.Method] {
		return
	}
	r.Add(Evidence{Text: "called " + s.Method + ", which version 2 has removed", Path: "method"})
}

// endedAlone returns the session and the accepted prompt of a step that ends the work on
// it; nil if other work was in progress or the prompt was cancelled.
func endedAlone(s *Step, r *Report) (x *session, a *accepted) {
	if x = idleStep(s, r); x == nil {
		return nil, nil
	}
	stop := s.Param("update", "stopReason")
	if a = x.work.first(); a == nil || !a.alone || !isString(stop) || wire.Text(stop) == "cancelled" {
		return nil, nil
	}
	return x, a
}

func userMessage(s *Step, r *Report) {
	if x, a := endedAlone(s, r); a != nil && x.work.running >= a.call.Seq {
		r.judgeWork(x.work.message, a, "the message of the user")
	}
}

func neverRunning(s *Step, r *Report) {
	if x, a := endedAlone(s, r); a != nil {
		r.judgeWork(x.work.running, a, "that it runs")
	}
}

// judgeWork judges the end of the work on a prompt: the agent must have reported
// something since the prompt.
func (r *Report) judgeWork(reported uint64, a *accepted, what string) {
	r.Judge(reported < a.call.Seq, Evidence{
		Text: "ended the work on the prompt of frame " + number(a.call.Seq) + " without having reported " + what,
		Of:   a.call, Because: []uint64{a.call.Seq},
	})
}

func idleStopReason(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil || x.work.state != "running" && x.work.state != "requires_action" {
		return
	}
	stop := s.Param("update", "stopReason")
	r.Judge(!isString(stop), Evidence{Text: "reported idle after " + x.work.state + " without a stop reason", Path: "update.stopReason", Want: "a stop reason", Got: string(stop)})
}
