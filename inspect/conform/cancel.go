package conform

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// requestCancelled is the code of the error that answers a request which was taken
// back.
const requestCancelled = "-32800"

// isTakenBack reports whether a response answers that its request was cancelled, and its
// sender has taken it back by $/cancel_request.
func isTakenBack(s *Step) bool {
	return s.Call != nil && s.Call.Cancelled.Seq != 0 && string(get(s.Envelope.Error, "code")) == requestCancelled
}

// said returns what a response says, in words.
func said(s *Step) string {
	if e := s.Envelope.Error; e != nil {
		return "with error " + short(string(get(e, "code"))) + " " + strconv.Quote(short(text(get(e, "message"))))
	}
	for _, path := range [][]string{{"stopReason"}, {"outcome", "outcome"}} {
		if v := text(s.Result(path...)); v != "" {
			return short(v)
		}
	}
	return "something else"
}

// short returns the beginning of a text that stands in a sentence.
func short(s string) string {
	const most = 80 // bytes
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// isAborted reports whether an error reads as if a cancellation had thrown it.
func isAborted(e []byte) bool {
	message := bytes.ToLower(e)
	return bytes.Contains(message, []byte("abort")) || bytes.Contains(message, []byte("cancel"))
}

// cancelRules are about turns and requests that are cancelled.
var cancelRules = []Rule{
	{
		ID: "ACP441", Name: "cancelled-prompt",
		Clauses: []Clause{{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Prompt Turn, Cancellation", "prompt-turn#cancellation")}},
		Fault:   Agent, Needs: Session,
		On: []On{promptEnds},
		Text: Text{
			Asks:   "A prompt that was cancelled is answered with stopReason `cancelled`, whatever the abort throws.",
			Finds:  "A prompt that was open at `session/cancel` and was answered otherwise, where the frames prove that the agent had read it: the time, a later answer, an error that speaks of an abort, or a permission of the turn that was answered `cancelled` before.",
			Spares: "An answer that may have crossed with the cancel; error −32800 after `$/cancel_request`; several prompts at once.",
			Do:     "catch what the abort throws and answer `session/prompt` with the stop reason `cancelled`",
		},
		Check: cancelledPrompt,
	},
	{
		ID: "ACP443", Name: "update-after-cancelled",
		Clauses: []Clause{{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Prompt Turn, Cancellation", "prompt-turn#cancellation")}},
		Fault:   Agent, Needs: Session,
		On: append(updates("tool_call", "tool_call_update"), append(updates(chunks...), promptEnds)...),
		Text: Text{
			Asks:   "The agent sends what is left of a cancelled turn before it answers the prompt.",
			Finds:  "A message or a tool call after the answer `cancelled` and before the next prompt. The first one is reported.",
			Spares: "Commands, usage, title, mode; the replay of a session that is loaded.",
			Do:     "wait for what is being sent, then answer `session/prompt`",
		},
		Check: updateAfterCancelled,
	},
	{
		ID: "ACP444", Name: "cancels-no-request",
		Clauses: []Clause{
			{For: v2, Strength: Warning, Source: acp2("Cancellation", "cancellation")},
			{For: v1, Strength: Warning, Source: acp1("Cancellation", "cancellation")},
		},
		Fault: Sender, Needs: Connection,
		On: []On{{Kinds: Notifications, Name: "$/cancel_request"}},
		Text: Text{
			Asks:   "`$/cancel_request` names a request of its sender that has no answer yet.",
			Finds:  "A `requestId` that is of no open request of the same side. Ids are compared with their type: `7` is not `\"7\"`.",
			Spares: "A request whose answer may have crossed with the cancel.",
			Do:     "send the `id` of the request exactly as it was, and only while it is open",
		},
		Check: takesNothingBack,
	},
	{
		ID: "ACP445", Name: "cancelled-unasked",
		Clauses: []Clause{{For: v1, Strength: Warning, Source: acp1("Prompt Turn, Stop Reasons", "prompt-turn#stop-reasons")}},
		Fault:   Agent, Needs: Session,
		On: []On{promptEnds},
		Text: Text{
			Asks:   "The stop reason `cancelled` says that the client cancelled the turn.",
			Finds:  "A prompt answered `cancelled` though the client cancelled nothing. That the user rejected a permission is no cancellation.",
			Spares: "Turns in which the session was closed or deleted, a question to the user was cancelled or failed, the request was taken back, or the client left.",
			Do:     "answer with `end_turn` when the user rejected something, and with an error when something failed",
		},
		Check: cancelledUnasked,
	},
	{
		ID: "ACP446", Name: "cancel-unanswered",
		Clauses: []Clause{
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Cancellation", "cancellation")},
			{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Cancellation", "cancellation")},
		},
		Fault: Sender, Needs: End,
		On: []On{{Kinds: Ends}},
		Text: Text{
			Asks:   "A request that was taken back by `$/cancel_request` is answered all the same: with a result, or with error −32800.",
			Finds:  "No answer to such a request, though the side that had to give it later ended by itself.",
			Spares: "Requests that were open when the connection was ended from the other side.",
			Do:     "answer a cancelled request with error −32800 if there is nothing else to say",
		},
		Check: cancelUnanswered,
	},
}

func cancelledPrompt(s *Step, r *Report) {
	call := s.Call
	if call == nil || call.halted.Seq == 0 {
		return
	}
	x := r.Session()
	stop := text(s.Result("stopReason"))
	switch {
	case x == nil, s.Succeeded() && !slices.Contains(stopReasons, stop): // ACP301
		return
	case stop == "cancelled" || isTakenBack(s):
		r.Tried()
		return
	}
	e := Evidence{
		Text: "answered " + said(s) + ", " + s.After(call.halted) + "session/cancel (frame " + number(call.halted.Seq) + ")",
		Path: "stopReason", Want: `"cancelled"`, Got: string(s.Result("stopReason")), Because: []uint64{call.halted.Seq},
	}
	switch told := x.questions.cancelled.Seq; {
	case s.HasRead(call.halted), s.Envelope.Error != nil && isAborted(s.Envelope.Error):
	case told > call.halted.Seq:
		e.Text += `; a permission was answered "cancelled" before (frame ` + number(told) + ")"
		e.Because = append(e.Because, told)
	default:
		return
	}
	r.Add(e)
}

func updateAfterCancelled(s *Step, r *Report) {
	if s.Method == "session/prompt" {
		if s.Call != nil && s.Call.halted.Seq != 0 && text(s.Result("stopReason")) == "cancelled" {
			r.Tried()
		}
		return
	}
	x := r.Session()
	if x == nil || !x.isIdle() || x.turn.late > 0 || !x.turn.cancelled || x.turn.stop != "cancelled" {
		return
	}
	r.Add(Evidence{
		Text:    "sent " + s.Update + " " + s.After(x.turn.end) + "it had answered cancelled (frame " + number(x.turn.end.Seq) + ")",
		Because: []uint64{x.turn.end.Seq},
	})
}

func cancelledUnasked(s *Step, r *Report) {
	if s.Call == nil || text(s.Result("stopReason")) != "cancelled" {
		return
	}
	x := r.Session()
	if x == nil {
		return
	}
	r.Tried()
	begin := min(x.turn.end.Seq, s.Call.Seq) // a cancel before the prompt may be meant for it
	switch {
	case x.turn.cancel.Seq > begin, s.Call.Cancelled.Seq != 0, x.questions.refused > s.Call.Seq, x.setup.leaving > s.Call.Seq, s.Conn.leaves():
		return
	}
	r.Add(Evidence{Text: "answered cancelled though the client cancelled nothing", Path: "stopReason", Got: `"cancelled"`, Because: []uint64{s.Call.Seq}})
}

// leaves reports whether the client has ended its stream, or the agent was told to end.
func (c *connection) leaves() bool { return c.signalled || c.closing.eof[0].Seq != 0 }

func takesNothingBack(s *Step, r *Report) {
	id, by := dialect.NamedID(s.Method, dialect.RequestID, s.Frame.Dir, s.Envelope.Params)
	if len(id) == 0 || len(id) > maxReplyID {
		return
	}
	r.Tried()
	if s.Conn.calls.Find(by, s.Frame.Stream, id) != nil {
		return
	}
	e := Evidence{Text: "took back a request that it had not made", Path: "requestId", Got: string(id)}
	if answer, _ := s.Conn.replies.of(by, id); answer.Seq != 0 {
		if !s.HasRead(answer.Moment) {
			return
		}
		e.Text = "took back a request " + s.After(answer.Moment) + "it was answered (frame " + number(answer.Seq) + ")"
		e.Because = []uint64{answer.Seq}
	}
	r.Add(e)
}

func cancelUnanswered(s *Step, r *Report) {
	for call := range s.Conn.calls.All() {
		side := Client + Agent - call.From
		if call.Cancelled.Seq == 0 || !s.Conn.EndedItself(side) || !s.Conn.closing.leftTimeFor(call, side, s.judge.checker.options.Grace) {
			continue
		}
		r.Add(Evidence{
			Text: "did not answer " + call.Method + ", which was taken back (frame " + number(call.Cancelled.Seq) + ")",
			Seq:  call.Seq, Of: call, By: side, Because: []uint64{call.Cancelled.Seq},
		})
	}
}
