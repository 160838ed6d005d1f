package trace

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Work is what the agent did in a turn.
type Work struct {
	Tools          int // tool calls that began
	FailedTools    int // how many of those failed by their status
	BadExits       int // how many of those completed, but their commands failed
	CancelledTools int // how many of those the client cancelled or the user rejected
	Requests       Requests
}

// Requests counts the agent's requests to the client in a turn by outcome. The rest are
// unanswered.
type Requests struct {
	Sent      int
	Done      int // with a result
	Refused   int // permissions that the user rejected, elicitations that the user declined
	Cancelled int // permissions and elicitations
	Failed    int // with an error
}

// answered counts the answer to a request.
func (r *Requests) answered(f *frame) {
	switch {
	case f.Failed:
		r.Failed++
	case f.Events.Has(dialect.PermissionRefused):
		r.Refused++
	case isCancelled(f.Method, f.result()):
		r.Cancelled++
	default:
		r.Done++
	}
}

// isCancelled reports whether the user was asked but did not answer.
func isCancelled(method string, result wire.Value) bool {
	switch role := dialect.RoleOf(dialect.AnyProtocol, method); {
	case role.Is(dialect.AsksPermission):
		return result.Get("outcome.outcome").Text() == "cancelled"
	case role.Is(dialect.AsksInput):
		return result.Get("action").Text() == "cancel"
	}
	return false
}

// countTool counts the beginning of a tool call.
func (c *Conversation) countTool(e *Entity) {
	if t := c.openTurn(e.Turn); t != nil && !e.Replayed {
		t.Work.Tools++
		t.LastCalls = append(t.LastCalls[max(0, len(t.LastCalls)-maxLastCalls+1):], e.ToolCall)
	}
}

// countEnd counts the end of a tool call that was open.
func (c *Conversation) countEnd(e *Entity) {
	t := c.openTurn(e.Turn)
	if t == nil || e.Replayed {
		return
	}
	switch w := &t.Work; e.ToolCall.State() {
	case "failed":
		w.FailedTools = min(w.FailedTools+1, w.Tools) // a call may fail twice
	case "cancelled", "rejected":
		w.CancelledTools = min(w.CancelledTools+1, w.Tools)
	}
}

// EndedBadly notes that a tool call which has just completed has run a command that failed. The
// protocol does not say that, but what the command returned or printed.
func (c *Conversation) EndedBadly(e *Entity) {
	e.ToolCall.BadExit = true
	if t := c.openTurn(e.Turn); t != nil && !e.Replayed {
		t.Work.BadExits++
	}
}

// Confirmed returns the time from the client's cancel to the end of the turn. ok is false
// if the turn was not cancelled, is open, or has unknown times.
func (t *Turn) Confirmed() (took time.Duration, ok bool) {
	if !t.Cancelled || t.Open() || t.Untimed {
		return 0, false
	}
	return t.Ended - t.CancelSent, true
}
