package tracepage

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/inspect/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Capabilities shows what both sides said of themselves, as negotiated on the tapes,
// and how often what they offer was used. read returns a frame with its bytes.
func (r *Reader) Capabilities(width int, read func(seq uint64) (dialect.Frame, error)) []page.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []page.Line
	shown := -1 // the tape whose sides are shown already
	for _, call := range r.trace.Calls {
		if !initializes(call) && (!discovers(call) || shown == call.Run) {
			continue
		}
		shown = call.Run
		asked, answered := params(read, call.Request), params(read, call.Response)
		o := capabilityLines{width: width, used: r.used[call.Run], dialect: r.trace.Runs[call.Run].Dialect}
		lines = append(lines, o.side("Client", dialect.ClientSide, asked, call.Request)...)
		lines = append(lines, page.Line{})
		if call.Open() {
			lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Permission.Span("The agent has not answered.")}, Seq: call.Request})
		} else {
			lines = append(lines, o.side("Agent", dialect.AgentSide, answered, call.Response)...)
		}
		lines = append(lines, page.Line{})
	}
	if len(lines) == 0 {
		text := "Neither side has said what it can do: there is no initialize and no server/discover on this tape."
		if !r.ended && r.last == 0 {
			text = "reading…"
		}
		return []page.Line{{Spans: []termtext.Span{termtext.Dim.Span(text)}}}
	}
	return lines
}

func initializes(c *trace.Call) bool {
	m, ok := dialect.Lookup(dialect.AnyProtocol, c.Method)
	return ok && m.Effect == dialect.Initializes
}

// discovers reports whether a call is what in MCP, since 2026-07-28, comes nearest
// to initialize. Clients of both eras try it, and servers of the older do not know
// it.
func discovers(c *trace.Call) bool {
	return c.Method == "server/discover" && !c.Open() && !c.Failed
}

// params returns the params or the result of a frame; nothing if it cannot be
// read.
func params(read func(uint64) (dialect.Frame, error), seq uint64) gjson.Result {
	f, err := read(seq)
	if err != nil {
		return gjson.Result{}
	}
	return frametext.Body(&f)
}

// The capabilityLines are about the members of capabilities, with the methods that
// depend on them.
type capabilityLines struct {
	width   int
	used    methodUses
	dialect dialect.Dialect

	from  dialect.Side // whose they are
	known []string     // as in specified
	seq   uint64
	lines []page.Line
}

// side shows one side, which is called who.
func (o capabilityLines) side(who string, side dialect.Side, v gjson.Result, seq uint64) []page.Line {
	p := frametext.PartyOf(v)
	lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span(termtext.Spaced(who, p.Who)), termtext.Dim.Span("  " + p.Protocol)}, Seq: seq}}
	if !p.Capabilities.IsObject() {
		return append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span("  offers nothing")}, Seq: seq})
	}
	o.from, o.seq, o.lines = side, seq, lines
	o.known = specified()[sideKey{o.dialect, side}]
	o.add("", p.Capabilities, 1)
	return o.lines
}

// deepestCapability is how deep capabilities are shown: as deep as those go that are
// specified, and some more.
const deepestCapability = 8

// What stands in the columns of a line: name, answer, methods.
const (
	answerColumn  = 32
	methodsColumn = answerColumn + 5
)

// add adds the members of the capability at a path, and then those that it could
// have.
func (o *capabilityLines) add(path string, v gjson.Result, depth int) {
	v.ForEach(func(key, value gjson.Result) bool {
		at := strings.TrimPrefix(path+"."+key.Str, ".")
		answer := termtext.Plain.Span("yes")
		switch {
		case !isOffered(o.known, at, value):
			answer = termtext.Dim.Span("no")
		case value.Type != gjson.True && !value.IsObject():
			answer = termtext.Plain.Span(frametext.Value(value))
		}
		o.row([]termtext.Span{capabilityName(key.Str, depth), answer}, o.methods(at))
		if value.IsObject() && key.Str != "_meta" && depth < deepestCapability && !(len(value.Map()) == 0 && answer.Text == "no") {
			o.add(at, value, depth+1)
		}
		return true
	})
	for _, name := range absent(o.known, path, v) {
		o.row([]termtext.Span{capabilityName(name, depth), termtext.Dim.Span("no")}, o.methods(strings.TrimPrefix(path+"."+name, ".")))
	}
}

func capabilityName(name string, depth int) termtext.Span {
	return termtext.Plain.Span(termtext.Pad(strings.Repeat("  ", depth)+termtext.Piece(name), answerColumn))
}

// row adds a line, and goes on below it where the methods have no room.
func (o *capabilityLines) row(row []termtext.Span, methods [][2]termtext.Span) {
	used := 0
	for _, s := range row {
		used += termtext.Width(s.Text)
	}
	for _, m := range methods {
		columns := termtext.Width(m[0].Text) + termtext.Width(m[1].Text)
		if used > methodsColumn && used+2+columns > o.width {
			o.lines = append(o.lines, page.Line{Spans: row, Seq: o.seq})
			row, used = nil, 0
		}
		gap := max(methodsColumn-used, 2)
		row = append(row, termtext.Plain.Span(strings.Repeat(" ", gap)), m[0], m[1])
		used += gap + columns
	}
	o.lines = append(o.lines, page.Line{Spans: row, Seq: o.seq})
}

// methods tells which methods depend on a capability, and how often they were used.
func (o *capabilityLines) methods(path string) [][2]termtext.Span {
	var methods [][2]termtext.Span
	for _, c := range dialect.Capabilities(o.dialect) {
		if c.Side != o.from || c.Path != path || c.Form != dialect.AsObject && c.Form != dialect.AsTrue {
			continue
		}
		for _, m := range c.Allows {
			if n := o.used[m]; n > 0 {
				methods = append(methods, [2]termtext.Span{frametext.Role(m, "").Span(m), termtext.Dim.Span(" ×" + termtext.Grouped(int64(n)))})
			}
		}
	}
	return methods
}
