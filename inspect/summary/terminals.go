package summary

import (
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// The terminals say what the latest commands printed that the client ran for tool calls. The
// zero value is ready to use.
type terminals struct {
	asked bounded.Map[uint64, string]   // by request for the output, the terminal
	said  bounded.Map[string, string]   // by terminal, the line of its output that says most
	calls bounded.Map[toolCall, string] // the last terminal of each
}

type toolCall struct{ session, id string }

// take processes a frame.
func (t *terminals) take(f *dialect.Frame) {
	t.asked.Limit, t.said.Limit, t.calls.Limit = maxNames, maxNames, maxNames
	switch {
	case !f.Does(dialect.ReadsOutput):
	case f.Kind == wire.Request:
		t.asked.Set(f.Seq, strings.Clone(wire.Text(wire.Get(f.Raw, "params", "terminalId"))))
	case f.Kind == wire.Response:
		if id, known := t.asked.Get(f.Request); known {
			t.said.Set(id, telling(wire.Text(wire.Get(f.Raw, "result", "output")), true))
		}
	}
	if u, _ := dialect.LookupUpdate(f.Update); u.Entity != dialect.ToolCall {
		return
	}
	update := wire.Get(f.Raw, "params", "update")
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		if id := wire.Text(wire.Get(block, "terminalId")); id != "" {
			t.calls.Set(toolCall{strings.Clone(f.Session), strings.Clone(wire.Text(wire.Get(update, "toolCallId")))}, strings.Clone(id))
		}
	}
}

// of returns what the last command of the tool call printed that an event is about.
func (t *terminals) of(e *trace.Event) string {
	if e == nil || e.ToolCall == nil || e.ToolCall.ToolCall == nil {
		return ""
	}
	terminal, _ := t.calls.Get(toolCall{e.SessionID, e.ToolCall.ToolCall.ID})
	said, _ := t.said.Get(terminal)
	return said
}
