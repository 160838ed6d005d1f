package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A work is what is known of the foreground work of a session in version 2. There a
// prompt is only accepted by its answer; state_update says when the work begins and ends.
type work struct {
	state   string      // of the newest state_update; empty: none came
	prompts []*accepted // whose work has not ended, the oldest first
	running uint64      // Seq of the newest update that says running; 0: none
	message uint64      // Seq of the newest message of the user; 0: none
	cancel  Moment      // of the newest session/cancel since the work was idle; Seq 0: none
}

// An accepted is a prompt, which the agent accepts with its answer.
type accepted struct {
	call     *Call
	answered bool
	alone    bool // nothing was worked on when it was sent
}

func (w *work) observe(s *Step) {
	switch {
	case s.Method == "session/prompt" && s.Kind() == wire.Request:
		w.prompted(s)
	case s.Method == "session/prompt" && s.Call != nil:
		w.answered(s)
	case s.Method == "session/cancel":
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
	call := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)
	switch {
	case call == nil:
		return
	case len(w.prompts) == maxPrompts:
		s.Session.lose("more prompts are open than are remembered")
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
	switch w.state = text(s.Param("update", "state")); w.state {
	case "running":
		w.running = s.Frame.Seq
	case "idle":
		if a := w.first(); a != nil && !a.call.command && isComplete(text(s.Param("update", "stopReason"))) {
			s.Session.turn.completed++
		}
		w.prompts = slices.DeleteFunc(w.prompts, func(a *accepted) bool { return a.answered })
		w.cancel = Moment{}
	}
}

// isActive reports whether the agent works, or has accepted to.
func (w *work) isActive() bool {
	return w.state == "running" || w.state == "requires_action" || w.first() != nil
}

// first returns the oldest prompt that was accepted and whose work has not ended, nil if
// there is none.
func (w *work) first() *accepted {
	for _, a := range w.prompts {
		if a.answered {
			return a
		}
	}
	return nil
}

// promptLifecycle is where version 2 says how work begins and ends.
func promptLifecycle(section, anchor string) []Clause {
	return []Clause{{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Prompt Lifecycle, "+section, "prompt-lifecycle#"+anchor)}}
}

// removedMethods are where a method is sent that version 2 does not have any more.
func removedMethods() []On {
	var on []On
	for _, m := range dialect.Methods() {
		if m.Protocol() == dialect.ACP && m.Removed.Has(dialect.ACPv2) {
			on = append(on, On{Requests, m.Name, m.From})
		}
	}
	return on
}

// twoRules are about what only version 2 has, and has no more.
var twoRules = []Rule{
	{
		ID: "ACP442", Name: "cancelled-idle",
		Clauses: promptLifecycle("Cancellation", "cancellation"),
		Fault:   Agent, Needs: Session,
		On: updates("state_update"),
		Text: Text{
			Asks:   "Work that was cancelled ends with the state `idle` and the stop reason `cancelled`, whatever the abort throws.",
			Finds:  "Another stop reason of work that was active at `session/cancel`, where the frames prove that the agent had read it: the time, a later answer, or a permission that was answered `cancelled` before.",
			Spares: "An `idle` that may have crossed with the cancel; one without a stop reason, which is ACP704.",
			Do:     "catch what the abort throws and report `idle` with the stop reason `cancelled`",
		},
		Check: cancelledIdle,
	},
	{
		ID: "ACP701", Name: "removed-method",
		Clauses: []Clause{{For: v2, Strength: Violation, Word: "removed", Source: acp2("Migrating from v1, Method changes", "migration#method-changes")}},
		Fault:   Sender, Needs: Hello,
		On: removedMethods(),
		Text: Text{
			Asks:   "Version 2 has no modes, no files or terminals of the client, no `session/load`, and other names for the login.",
			Finds:  "A request by a method of version 1 on a connection that speaks version 2.",
			Spares: "`session/load` to an agent that offers `session.load`, as an early draft of version 2 had it.",
			Do:     "use what the migration guide names instead",
		},
		Check: removedMethod,
	},
	{
		ID: "ACP702", Name: "user-message",
		Clauses: promptLifecycle("Prompt Accepted", "2-prompt-accepted"),
		Fault:   Agent, Needs: Session,
		On: updates("state_update"),
		Text: Text{
			Asks:   "An agent that has accepted a prompt reports where it stands in the history: by `user_message` or `user_message_chunk`.",
			Finds:  "Work on an accepted prompt that ended without any message of the user since the prompt was sent.",
			Spares: "Work that was cancelled; prompts that were sent while the agent worked on others.",
			Do:     "send `user_message` with the id of the message when you accept a prompt",
		},
		Check: userMessage,
	},
	{
		ID: "ACP703", Name: "never-running",
		Clauses: promptLifecycle("Agent Reports Output", "3-agent-reports-output"),
		Fault:   Agent, Needs: Session,
		On: updates("state_update"),
		Text: Text{
			Asks:   "The agent reports `running` when its work begins.",
			Finds:  "An `idle` with a stop reason that ends the work on an accepted prompt, though no `running` came since the prompt was sent. Clients show no sign of work until then.",
			Spares: "Output while the state is idle, which is background work; work that was cancelled; prompts that were sent while the agent worked on others.",
			Do:     "send `state_update` with `running` before the first output",
		},
		Check: neverRunning,
	},
	{
		ID: "ACP704", Name: "idle-stop-reason",
		Clauses: promptLifecycle("Report Completion", "4-report-completion"),
		Fault:   Agent, Needs: Session,
		On: updates("state_update"),
		Text: Text{
			Asks:   "An `idle` that ends work says why, by `stopReason`.",
			Finds:  "An `idle` without `stopReason` after `running` or `requires_action`.",
			Spares: "An `idle` that follows another, or comes when the session is set up.",
			Do:     "send the stop reason with the `idle` that ends work",
		},
		Check: idleStopReason,
	},
}

// idleStep returns the session of a step that says idle, nil if that is not what it says
// or the session cannot be judged.
func idleStep(s *Step, r *Report) *session {
	x := r.Session()
	if x == nil || x.setup.opening != nil || text(s.Param("update", "state")) != "idle" {
		return nil
	}
	return x
}

func cancelledIdle(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil || x.work.cancel.Seq == 0 {
		return
	}
	stop, cancel := s.Param("update", "stopReason"), x.work.cancel
	e := Evidence{
		Text: "ended the work with " + short(text(stop)) + ", " + s.After(cancel) + "session/cancel (frame " + number(cancel.Seq) + ")",
		Path: "update.stopReason", Want: `"cancelled"`, Got: string(stop), Because: []uint64{cancel.Seq},
	}
	switch told := x.questions.cancelled.Seq; {
	case !isString(stop):
		return
	case text(stop) == "cancelled":
		r.Tried()
		return
	case s.HasRead(cancel):
	case told > cancel.Seq:
		e.Text += `; a permission was answered "cancelled" before (frame ` + number(told) + ")"
		e.Because = append(e.Because, told)
	default:
		return
	}
	r.Add(e)
}

func removedMethod(s *Step, r *Report) {
	if s.Method == "session/load" && s.Conn.hello.allowed[s.Method] {
		return
	}
	r.Add(Evidence{Text: "called " + s.Method + ", which version 2 has removed", Path: "method"})
}

// endedAlone returns the accepted prompt whose work a step ends, if nothing else was
// worked on and it was not cancelled.
func endedAlone(s *Step, x *session) *accepted {
	stop := s.Param("update", "stopReason")
	a := x.work.first()
	if a == nil || !a.alone || !isString(stop) || text(stop) == "cancelled" {
		return nil
	}
	return a
}

func userMessage(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil {
		return
	}
	a := endedAlone(s, x)
	if a == nil || x.work.running < a.call.Seq {
		return
	}
	r.Tried()
	if x.work.message < a.call.Seq {
		r.Add(Evidence{
			Text: "ended the work on the prompt of frame " + number(a.call.Seq) + " without having reported the message of the user",
			Of:   a.call, Because: []uint64{a.call.Seq},
		})
	}
}

func neverRunning(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil {
		return
	}
	a := endedAlone(s, x)
	if a == nil {
		return
	}
	r.Tried()
	if x.work.running < a.call.Seq {
		r.Add(Evidence{
			Text: "ended the work on the prompt of frame " + number(a.call.Seq) + " without having reported that it runs",
			Of:   a.call, Because: []uint64{a.call.Seq},
		})
	}
}

func idleStopReason(s *Step, r *Report) {
	x := idleStep(s, r)
	if x == nil || x.work.state != "running" && x.work.state != "requires_action" {
		return
	}
	r.Tried()
	if stop := s.Param("update", "stopReason"); !isString(stop) {
		r.Add(Evidence{Text: "reported idle after " + x.work.state + " without a stop reason", Path: "update.stopReason", Want: "a stop reason", Got: string(stop)})
	}
}
