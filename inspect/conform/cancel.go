package conform

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// cancelsTurn reports whether a step is a session/cancel that the agent must obey. As a
// request (RPC017) it may be refused.
func cancelsTurn(s *Step) bool {
	return s.Method == "session/cancel" && s.is(wire.Notification)
}

// isTakenBack reports whether a response says that its request was cancelled, and the
// request's sender has cancelled it by $/cancel_request.
func isTakenBack(s *Step) bool {
	return s.Call != nil && s.Call.Cancelled.Seq != 0 && code(s.Envelope.Error) == wire.RequestCancelled
}

// said describes a response.
func said(s *Step) string {
	if e := s.Envelope.Error; e != nil {
		return "with error " + short(string(wire.Get(e, "code"))) + " " + strconv.Quote(short(wire.Text(wire.Get(e, "message"))))
	}
	for _, path := range [][]string{{"stopReason"}, {"outcome", "outcome"}} {
		if v := wire.Text(s.Result(path...)); v != "" {
			return short(v)
		}
	}
	return "something else"
}

// short truncates a text that is part of a sentence.
func short(s string) string { return wire.Clip(s, 80) }

// isAborted reports whether an error appears to result from a cancellation.
func isAborted(e []byte) bool {
	message := bytes.ToLower(e)
	return bytes.Contains(message, []byte("abort")) || bytes.Contains(message, []byte("cancel"))
}

// cancelRules concern cancelled turns and requests.
var cancelRules = checks{
	{"ACP441", cancelledPrompt},
	{"ACP443", updateAfterCancelled},
	{"ACP444", takesNothingBack},
	{"ACP445", cancelledUnasked},
	{"ACP446", cancelUnanswered},
	{"ACP448", worksOn},
}

func cancelledPrompt(s *Step, r *Report) {
	call := s.Call
	if call == nil || call.halted.Seq == 0 {
		return
	}
	x := r.Session()
	stop := wire.Text(s.Result("stopReason"))
	switch {
	case x == nil, s.Succeeded() && !slices.Contains(stopReasons, stop): // ACP301
		return
	case stop == "cancelled" || isTakenBack(s):
		r.Tried()
		return
	}
	e := Evidence{Text: "answered " + said(s), Path: "stopReason", Got: string(s.Result("stopReason"))}
	r.addUncancelled(e, x, call.halted, s.Envelope.Error != nil && isAborted(s.Envelope.Error))
}

// addUncancelled reports that a session's work ended as e says although it was cancelled. It
// reports nothing unless the agent knew: surely is set, the agent had read session/cancel, or
// a permission had been answered "cancelled".
func (r *Report) addUncancelled(e Evidence, x *session, cancel Moment, surely bool) {
	e.Text += ", " + r.step.After(cancel) + "session/cancel (frame " + number(cancel.Seq) + ")"
	e.Want, e.Because = `"cancelled"`, []uint64{cancel.Seq}
	switch told := x.questions.cancelled.Seq; {
	case surely, r.step.HasRead(cancel):
	case told > cancel.Seq:
		e.Text += `; a permission was answered "cancelled" before (frame ` + number(told) + ")"
		e.Because = append(e.Because, told)
	default:
		return
	}
	r.Add(e)
}

func updateAfterCancelled(s *Step, r *Report) {
	if s.Method == "session/prompt" {
		if s.Call != nil && s.Call.halted.Seq != 0 && wire.Text(s.Result("stopReason")) == "cancelled" {
			r.Tried()
		}
		return
	}
	if x := r.Session(); x != nil && x.turn.cancelled && x.turn.stop == "cancelled" {
		r.addLate(x, "it had answered cancelled")
	}
}

func cancelledUnasked(s *Step, r *Report) {
	if s.Call == nil || wire.Text(s.Result("stopReason")) != "cancelled" {
		return
	}
	x := r.Session()
	if x == nil {
		return
	}
	begin := min(x.turn.end.Seq, s.Call.Seq) // a session/cancel just before the prompt may be meant for it
	asked := x.turn.cancel.Seq > begin || s.Call.Cancelled.Seq != 0 || x.questions.refused > s.Call.Seq || x.setup.leaving > s.Call.Seq
	r.Judge(!asked && !s.Conn.leaves(), Evidence{Text: "answered cancelled though the client cancelled nothing", Path: "stopReason", Got: `"cancelled"`, Because: []uint64{s.Call.Seq}})
}

// leaves reports whether the client has closed its stream or a signal told the agent to
// exit.
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
		if call.Cancelled.Seq == 0 || !s.Conn.EndedItself(side) || !s.Conn.closing.leftTimeSince(call.Cancelled, side, s.judge.checker.options.Grace) {
			continue
		}
		r.Add(Evidence{
			Text: "did not answer " + call.Method + ", which was taken back (frame " + number(call.Cancelled.Seq) + ")",
			Seq:  call.Seq, Of: call, By: side, Because: []uint64{call.Cancelled.Seq},
		})
	}
}

// worksOnAfter is how long an agent may go on sending output that it had begun.
const worksOnAfter = time.Second

func worksOn(s *Step, r *Report) {
	x := r.Session()
	if cancelsTurn(s) {
		r.Tried()
		return
	}
	if x == nil || len(x.turn.prompts) != 1 {
		return
	}
	call := x.turn.prompts[0]
	if d, timed := since(call.halted, s.Moment()); call.halted.Seq == 0 || call.worked || !timed || d <= worksOnAfter {
		return
	}
	what := "asked for " + s.Method
	if s.Entity == dialect.ToolCall {
		status := wire.Text(s.Param("update", "status"))
		if _, known, ok := s.Conn.tools.find(x, s.EntityID()); !ok || known != nil || status == "completed" || status == "failed" {
			return
		}
		what = "began a tool call"
	}
	call.worked = true
	r.Add(Evidence{
		Text: what + " " + s.After(call.halted) + "session/cancel (frame " + number(call.halted.Seq) + ")", Because: []uint64{call.halted.Seq},
	})
}
