package report

import (
	"cmp"
	"encoding/json"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A status is a word about a state, and a class of the style sheet. We choose the
// classes, so an agent cannot hide what it did with an invented status.
type status struct{ Word, Class string }

var toolStates = map[string]status{
	"pending":     {"pending", "warn"},
	"in_progress": {"in progress", "warn"},
	"completed":   {"completed", "good"},
	"failed":      {"failed", "bad"},
	"cancelled":   {"cancelled", "warn"},
}

// toolState returns the final state of a tool call. turnOpen means that the call may
// still be running.
func toolState(t *trace.ToolCall, turnOpen bool) status {
	s, ok := toolStates[t.State()]
	switch {
	case t.Status == "":
		return status{}
	case !ok:
		return status{"other: " + termtext.Brief(t.Status, 30), ""}
	case !t.Finished() && !turnOpen:
		return status{s.Word + ", not ended", "warn"}
	}
	return s
}

// turnState returns how a turn ended.
func turnState(t *trace.Turn) status {
	s := status{termtext.Brief(t.Outcome.How.String(), 60), "warn"}
	switch how := t.Outcome.How; {
	case how == dialect.Done:
		s.Class = "good"
	case how.IsBad():
		s.Class = "bad"
	}
	if t.Cancelled && t.Outcome.How != dialect.Cancelled {
		s = status{s.Word + ", though cancelled", "warn"}
	}
	return s
}

// A toolKind is a word and a sign for what a tool does.
type toolKind struct{ Word, Icon string }

var toolKinds = map[string]toolKind{
	"read": {"read", "≡"}, "edit": {"edit", "±"}, "delete": {"delete", "×"}, "move": {"move", "→"}, "search": {"search", "?"},
	"execute": {"run", "$"}, "fetch": {"fetch", "↓"}, "think": {"think", "…"}, "switch_mode": {"mode", "⇄"}, "other": {"tool", "·"},
}

func kindOf(t *trace.ToolCall) toolKind {
	return cmp.Or(toolKinds[t.Kind], toolKinds["other"])
}

// errorText returns a JSON-RPC error on one line.
func errorText(raw json.RawMessage) string {
	e := wire.ValueOf(raw)
	return termtext.Brief(termtext.Spaced(e.Get("code").Raw(), e.Get("message").String()), 500)
}
