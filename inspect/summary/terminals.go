package summary

import (
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
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
	edits bounded.Map[toolCall, edit]       // how others change a file
	shown bounded.Map[toolCall, string]     // the end of what each has printed
}

type toolCall struct{ session, id string }

// take processes a frame.
func (t *terminals) take(f *dialect.Frame) {
	t.asked.Limit, t.said.Limit, t.calls.Limit, t.ran.Limit, t.given.Limit, t.edits.Limit, t.shown.Limit = maxNames, maxNames, maxNames, maxNames, maxNames, maxNames, maxNames
	switch {
	case !f.Does(dialect.ReadsOutput):
	case f.Kind == wire.Request:
		t.asked.Set(f.Seq, strings.Clone(wire.Text(wire.Get(f.Raw, "params", "terminalId"))))
	case f.Kind == wire.Response:
		if id, known := t.asked.Get(f.Request); known {
			said := cause.Telling(wire.Text(wire.Get(f.Raw, "result", "output")), true)
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
			t.calls.Set(callOf(f.Session, update), strings.Clone(id))
		}
		if wire.Text(wire.Get(block, "type")) == "diff" {
			t.edits.Set(callOf(f.Session, update), editOf(block))
		}
		if text := cause.Ending(wire.Text(wire.Get(block, "content", "text"))); text != "" {
			t.shown.Set(callOf(f.Session, update), strings.Clone(text))
		}
	}
}

func callOf(session string, call []byte) toolCall {
	return toolCall{strings.Clone(session), strings.Clone(wire.Text(wire.Get(call, "toolCallId")))}
}

// lastLine returns the line of what a tool call has printed last.
func (t *terminals) lastLine(session, call string) string {
	printed, _ := t.shown.Get(toolCall{session, call})
	return cause.LastLine(printed)
}

// runs notes the command that a part of a tool call names, or what else the tool is given.
func (t *terminals) runs(session string, call []byte) {
	id := callOf(session, call)
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
	a.edit = t.edit(e).line
	a.given, _ = t.given.Get(toolCall{e.SessionID, c.ID})
	switch command := t.command(e); {
	case trace.OnlyLooks(c.Kind), changes(c):
	case command != "":
		a.command = shell.Parse(command)
	case c.Kind == "execute", !bareTool().MatchString(c.Title):
		a.command = shell.Parse(whereNote().ReplaceAllString(c.Title, ""))
	}
	return a
}

// edit returns how the tool call changes a file that an event is about, if that is known.
func (t *terminals) edit(e *trace.Event) edit {
	edit, _ := t.edits.Get(toolCall{e.SessionID, e.ToolCall.ToolCall.ID})
	return edit
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
