package dialect

import "github.com/acptap/acptap/proxy/wire"

// toolCall handles the status of a tool call, as JSON. A call fails once, however often
// that is repeated, unless it gets another status in between. A failure that is repeated
// when a session is loaded is history. A call that fails because the client cancelled the
// turn is not a failure.
func (t *Tracker) toolCall(s *step, id, status []byte) {
	failed := string(status) == `"failed"`
	begins := s.annotation.Update == "tool_call"
	if !begins && !wire.Present(status) {
		return
	}
	key := t.runs(s, id, status)
	switch _, again := t.failed.Get(key); {
	case again && failed:
	case failed:
		t.failed.Set(key, true)
		past, _ := t.restored.Get(key.Session)
		turn, _ := t.turns.Get(key.Session)
		if !past && !turn.Cancelled && s.Origin != wire.Injected {
			s.annotation.Events |= CallFailed
		}
	case again:
		t.failed.Drop(key)
	}
}

// A callOf identifies a tool call.
type callOf struct {
	Session string `json:"session"`
	ID      string `json:"id"` // as JSON, or its digest
}

// IsFinal reports whether a status ends a tool call of ACP or a task of MCP.
func IsFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}
