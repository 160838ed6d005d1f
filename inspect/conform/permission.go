package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// questions are what is known of the questions of a session to the user.
type questions struct {
	open      []*Call // to session/request_permission, the oldest first
	cancelled Moment  // of the newest answer that says cancelled; Seq 0: none
	refused   uint64  // Seq of the newest answer that may have ended the turn: cancelled, or an error; 0: none
}

// maxQuestions is how many open questions of a session are remembered; others are not
// judged.
const maxQuestions = 64

func (q *questions) observe(s *Step) {
	switch {
	case s.Method == "session/cancel":
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
	case !s.Succeeded(), text(s.Result("action")) == "cancel":
		q.refused = s.Frame.Seq
	}
}

// isCancelled reports whether the answer to a permission request says cancelled.
func isCancelled(s *Step) bool {
	return s.Succeeded() && text(s.Result("outcome", "outcome")) == "cancelled"
}

// permissionRules are about session/request_permission.
var permissionRules = []Rule{
	{
		ID: "ACP422", Name: "option-twice",
		Clauses: []Clause{
			{For: v2, Strength: Warning, Source: acp2("Tool Calls, Permission Options", "tool-calls#permission-options")},
			{Strength: Warning, Source: acp1("Tool Calls, Permission Options", "tool-calls#permission-options")},
		},
		Fault: Agent, Needs: Frame,
		On: []On{{Requests, "session/request_permission", dialect.AgentSide}},
		Text: Text{
			Asks:  "An `optionId` identifies one of the options of a permission request.",
			Finds: "Two options of a request with one `optionId`. The answer does not tell then what the user chose.",
			Do:    "give each option of a request an id of its own",
		},
		Check: optionTwice,
	},
	{
		ID: "ACP423", Name: "option-unknown",
		Clauses: []Clause{
			{For: v2, Strength: Warning, Source: acp2("Tool Calls, Requesting Permission", "tool-calls#requesting-permission")},
			{Strength: Warning, Source: acp1("Tool Calls, Requesting Permission", "tool-calls#requesting-permission")},
		},
		Fault: Client, Needs: Pair,
		On: []On{{Responses, "session/request_permission", dialect.ClientSide}},
		Text: Text{
			Asks:  "The answer `selected` names one of the options of the request.",
			Finds: "An `optionId` in the answer that the request did not offer.",
			Do:    "answer with the `optionId` of an option of this very request",
		},
		Check: optionUnknown,
	},
	{
		ID: "ACP424", Name: "not-cancelled",
		Clauses: []Clause{
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Prompt Lifecycle, Cancellation", "prompt-lifecycle#cancellation")},
			{Strength: Violation, Word: "MUST", Source: acp1("Prompt Turn, Cancellation", "prompt-turn#cancellation")},
		},
		Fault: Client, Needs: Session,
		On: []On{{Responses, "session/request_permission", dialect.ClientSide}},
		Text: Text{
			Asks:   "A client that sends `session/cancel` answers all permission requests that are open in the session with the outcome `cancelled`.",
			Finds:  "A permission request that was open at `session/cancel` and was answered otherwise, later than two frames may have crossed.",
			Spares: "An answer that was under way when the user cancelled; error −32800 where the agent took its request back with `$/cancel_request`.",
			Do:     "answer the open permission requests of a session with `{\"outcome\":{\"outcome\":\"cancelled\"}}` when you cancel its turn",
		},
		Check: notCancelled,
	},
}

func optionTwice(s *Step, r *Report) {
	seen := map[string]bool{}
	each(s.Param("options"), "options", func(option []byte, at string) {
		id := get(option, "optionId")
		if !isString(id) {
			return
		}
		r.Tried()
		if seen[text(id)] {
			r.Add(Evidence{Text: "offered two options with one id", Path: at + ".optionId", Got: string(id)})
		}
		seen[text(id)] = true
	})
}

func optionUnknown(s *Step, r *Report) {
	chosen := s.Result("outcome", "optionId")
	if s.Call == nil || s.Call.Params == nil || !isString(chosen) || text(s.Result("outcome", "outcome")) != "selected" {
		return
	}
	r.Tried()
	offered := false
	each(s.Call.Params, "options", func(option []byte, _ string) {
		offered = offered || text(get(option, "optionId")) == text(chosen)
	})
	if !offered {
		r.Add(Evidence{
			Text: "chose an option that was not offered (frame " + number(s.Call.Seq) + ")", Path: "outcome.optionId",
			Got: string(chosen), Because: []uint64{s.Call.Seq},
		})
	}
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
	case !ok, d <= s.judge.checker.options.Grace:
		return
	}
	r.Add(Evidence{
		Text:    "answered " + said(s) + ", " + s.After(call.halted) + "it had sent session/cancel (frame " + number(call.halted.Seq) + ")",
		Path:    "outcome.outcome",
		Want:    `"cancelled"`,
		Because: []uint64{call.Seq, call.halted.Seq},
	})
}
