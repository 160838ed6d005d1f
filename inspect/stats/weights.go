package stats

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// weights counts bytes: all that were sent, and those in the final content of tool calls. Its
// zero value is empty.
type weights struct {
	methods names[weight]
	tools   names[weight]
	turns   bounded.Map[Place, int64]                // sent in the turn that begins there
	open    bounded.Map[string, openTurn]            // by session
	calls   bounded.Map[*trace.Entity, *weighedCall] // tool calls
	session *trace.Session                           // of the latest update
}

// A weight is a number of bytes sent, and how many of them were kept.
type weight struct{ Sent, Kept int64 }

// An openTurn is a turn that has not ended.
type openTurn struct {
	began Place
	sent  int64
}

// A weighedCall is a tool call whose bytes are counted under the name of its tool.
type weighedCall struct {
	weight
	name string
	in   *weight // of the tool; several names may share it
}

// maxWeighed limits the sessions, turns and tool calls whose bytes are counted individually.
const maxWeighed = 1 << 14

// Weigh counts the bytes of the frame that was just added to tr. Frames that acptap made do
// not count.
func (c *Collector) Weigh(f *dialect.Frame, tr *trace.Trace) {
	if !f.Counts() || f.Kind == wire.Batch {
		return
	}
	w := &c.weights
	w.turns.Limit, w.open.Limit, w.calls.Limit = maxWeighed, maxWeighed, maxWeighed
	w.methods.of(cmp.Or(f.Method, f.Kind.String())).Sent += f.Size
	w.turn(f, len(tr.Runs)-1)
	if row, ok := dialect.LookupUpdate(f.Update); ok && row.Entity == dialect.ToolCall {
		w.tool(f, tr)
	}
}

func (w *weights) turn(f *dialect.Frame, run int) {
	if f.Session == "" {
		return
	}
	t, ok := w.open.Get(f.Session)
	if f.Events.Has(dialect.TurnBegan) && !ok {
		t, ok = openTurn{began: Place{run, f.Seq}}, true
	}
	if !ok {
		return
	}
	if t.sent += f.Size; f.Events.Has(dialect.TurnEnded) {
		w.open.Drop(f.Session)
		w.turns.Set(t.began, t.sent)
		return
	}
	w.open.Set(f.Session, t)
}

func (w *weights) tool(f *dialect.Frame, tr *trace.Trace) {
	if w.session == nil || w.session.ID != f.Session {
		i := slices.IndexFunc(tr.Sessions, func(s *trace.Session) bool { return s.ID == f.Session })
		if i < 0 {
			return
		}
		w.session = tr.Sessions[i]
	}
	e := w.session.Conversation.Changed
	if e == nil || e.Last != f.Seq || e.ToolCall == nil {
		return
	}
	call, ok := w.calls.Get(e)
	if !ok {
		call = &weighedCall{}
		w.calls.Set(e, call)
	}
	w.rename(call, ToolName(e.ToolCall))
	call.Sent += f.Size
	call.in.Sent += f.Size
	if content := wire.Get(f.Raw, "params", "update", "content"); wire.Present(content) {
		call.in.Kept += int64(len(content)) - call.Kept
		call.Kept = int64(len(content))
	}
}

// rename moves all bytes of a call to the latest name of its tool, under which its time is
// counted too.
func (w *weights) rename(call *weighedCall, name string) {
	if call.in != nil && call.name == name {
		return
	}
	if was := call.in; was != nil {
		was.Sent -= call.Sent
		was.Kept -= call.Kept
		if *was == (weight{}) && w.tools[call.name] == was {
			delete(w.tools, call.name)
		}
	}
	call.name, call.in = name, w.tools.of(name)
	call.in.Sent += call.Sent
	call.in.Kept += call.Kept
}

// weighed lists the columns for bytes.
var weighed = []Column{{"sent", "bytes sent", 2, false}, {"kept", "kept", 6, false}}

// cells returns the cells of weighed.
func (w *weight) cells() []Cell {
	if w == nil {
		return []Cell{{}, {}}
	}
	cells := []Cell{{kind: aCount, n: w.Sent}, {}}
	if w.Kept > 0 {
		cells[1] = Cell{kind: aCount, n: w.Kept}
	}
	return cells
}

// weigh adds the columns for bytes to a table whose rows begin with names, and rows for names
// that it lacks. Those with most bytes come first if largest is set.
func (t *Table) weigh(n names[weight], largest bool) {
	sent := len(t.Columns)
	seen := map[string]bool{}
	for i := range t.Rows {
		name := t.Rows[i][0].text
		seen[name] = true
		t.Rows[i] = append(t.Rows[i], n[name].cells()...)
	}
	t.Columns = append(t.Columns, weighed...)
	var rest []string
	for name := range n {
		if !seen[name] {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		row := make([]Cell, sent)
		row[0] = text(name)
		t.Rows = append(t.Rows, append(row, n[name].cells()...))
	}
	if largest {
		sortRows(t.Rows, sent)
	}
}
