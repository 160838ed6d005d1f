package report

import (
	"cmp"
	"encoding/json"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A status is a word about a state, and a class of the style sheet. We choose the
// classes, so an agent cannot hide what it did with an invented status.
type status struct{ Word, Class string }

func (s status) chip() h.Node { return span("chip "+s.Class, s.Word) }

// span returns text in a span of a class.
func span(class, text string) h.Node { return h.Span(h.Class(class), h.Text(text)) }

// textIn returns text in an element of its own, or nothing if there is none.
func textIn(of func(...h.Node) h.Node, class, text string) h.Node {
	return h.Given(text, of(h.Class(class), h.Text(text)))
}

var toolStates = map[string]status{
	"pending":     {"pending", "warn"},
	"in_progress": {"in progress", "warn"},
	"completed":   {"completed", "good"},
	"failed":      {"failed", "bad"},
	"cancelled":   {"cancelled", "warn"},
	"rejected":    {"rejected", "warn"},
}

// toolState returns the final state of a tool call of a turn, which is nil before the first
// one. A call that did not end on a live tape may still be running; otherwise the end of its
// turn is its own.
func toolState(c *trace.ToolCall, t *trace.Turn, live bool) status {
	s, ok := toolStates[c.State()]
	switch {
	case c.Status == "":
		return status{}
	case !ok:
		return status{"other: " + termtext.Brief(c.Status, 30), ""}
	case c.Finished() || c.Rejected || t != nil && t.Open() && live:
		return s
	case t != nil && (t.Outcome.How == dialect.Died || t.Outcome.How == dialect.Errored):
		return status{"not ended: " + termtext.Brief(t.Outcome.Brief(), 60), "bad"}
	}
	return status{s.Word + ", not ended", "warn"}
}

// outcomeClasses gives each style of an outcome its class.
var outcomeClasses = map[termtext.Style]string{termtext.Failure: "bad", termtext.Slow: "warn", termtext.Good: "good"}

// outcomeStatus returns an outcome after its sign.
func outcomeStatus(o dialect.Outcome) status {
	span := tapetext.OutcomeSpan(o)
	return status{span.Text, outcomeClasses[span.Style]}
}

// turnState returns how a turn ended.
func turnState(t *trace.Turn) status {
	s := outcomeStatus(t.Outcome)
	if t.Cancelled && t.Outcome.How != dialect.Cancelled && !t.Open() {
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

// errorText returns a JSON-RPC error on one line, its code behind its message.
func errorText(raw json.RawMessage) string {
	o := dialect.OutcomeOf(raw, nil)
	return termtext.Brief(o.Brief(), 500)
}
