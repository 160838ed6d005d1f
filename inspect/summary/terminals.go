package summary

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// The terminals say what the latest tool calls ran, and what the commands printed that the client
// ran for them. The zero value is ready to use.
type terminals struct {
	asked bounded.Map[uint64, string]       // by request for the output, the terminal
	said  bounded.Map[string, string]       // by terminal, the line of its output that says most
	calls bounded.Map[toolCall, string]     // the last terminal of each
	ran   bounded.Map[toolCall, string]     // the command of each
	given bounded.Map[toolCall, []argument] // what others were given
}

type toolCall struct{ session, id string }

// take processes a frame.
func (t *terminals) take(f *dialect.Frame) {
	t.asked.Limit, t.said.Limit, t.calls.Limit, t.ran.Limit, t.given.Limit = maxNames, maxNames, maxNames, maxNames, maxNames
	switch {
	case !f.Does(dialect.ReadsOutput):
	case f.Kind == wire.Request:
		t.asked.Set(f.Seq, strings.Clone(wire.Text(wire.Get(f.Raw, "params", "terminalId"))))
	case f.Kind == wire.Response:
		if id, known := t.asked.Get(f.Request); known {
			said := telling(wire.Text(wire.Get(f.Raw, "result", "output")), true)
			if signal := wire.Text(wire.Get(f.Raw, "result", "exitStatus", "signal")); signal != "" {
				said = signal + because(said)
			}
			t.said.Set(id, said)
		}
	}
	if f.Kind == wire.Request && f.Does(dialect.AsksPermission) {
		t.runs(f.Session, wire.Get(f.Raw, "params", "toolCall"))
	}
	if u, _ := dialect.LookupUpdate(f.Update); u.Entity != dialect.ToolCall {
		return
	}
	update := wire.Get(f.Raw, "params", "update")
	t.runs(f.Session, update)
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		if id := wire.Text(wire.Get(block, "terminalId")); id != "" {
			t.calls.Set(toolCall{strings.Clone(f.Session), strings.Clone(wire.Text(wire.Get(update, "toolCallId")))}, strings.Clone(id))
		}
	}
}

// runs notes the command that a part of a tool call names, or what else the tool is given.
func (t *terminals) runs(session string, call []byte) {
	id := toolCall{strings.Clone(session), strings.Clone(wire.Text(wire.Get(call, "toolCallId")))}
	if command := commandText(wire.Get(call, "rawInput", "command")); command != "" {
		t.ran.Set(id, command[:min(len(command), maxObject)])
	} else if given := argumentsOf(wire.Get(call, "rawInput")); given != nil {
		t.given.Set(id, given)
	}
}

// command returns what the tool call runs that an event is about, if that is known.
func (t *terminals) command(e *trace.Event) string {
	if e == nil || e.ToolCall == nil || e.ToolCall.ToolCall == nil {
		return ""
	}
	command, _ := t.ran.Get(toolCall{e.SessionID, e.ToolCall.ToolCall.ID})
	return command
}

// attempt returns the attempt that the tool call is that an event is about.
func (t *terminals) attempt(e *trace.Event) attempt {
	c := e.ToolCall.ToolCall
	a := attempt{title: c.Title, kind: c.Kind, file: c.File, object: e.SessionID, during: e.InTurn}
	if a.given, _ = t.given.Get(toolCall{e.SessionID, c.ID}); !trace.OnlyLooks(c.Kind) && !changes(c) {
		a.command = parseCommand(cmp.Or(t.command(e), whereNote.ReplaceAllString(c.Title, "")))
	}
	return a
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
