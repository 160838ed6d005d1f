package tracepage

import (
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Capabilities shows the capabilities that both sides announced on the tapes, and how
// often they were used. read returns a frame with its bytes.
func (r *Reader) Capabilities(width int, read func(seq uint64) (dialect.Frame, error)) []page.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []page.Line
	for _, call := range r.history.Trace.Introductions() {
		asked, answered := params(read, call.Request), params(read, call.Response)
		o := capabilityLines{width: width, used: r.used[call.Run], dialect: r.history.Trace.Runs[call.Run].Dialect}
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
		return r.nothing("Neither side has said what it can do: there is no initialize and no server/discover on this tape.")
	}
	return lines
}

// params returns a frame's params or result, or nothing if it cannot be read.
func params(read func(uint64) (dialect.Frame, error), seq uint64) wire.Value {
	f, err := read(seq)
	if err != nil {
		return wire.Value{}
	}
	return frametext.Body(&f)
}

// capabilityLines lists what one side offers.
type capabilityLines struct {
	width   int
	used    stats.Uses
	dialect dialect.Dialect
	seq     uint64
	lines   []page.Line
}

// side returns one side's lines, under the name who.
func (o capabilityLines) side(who string, side dialect.Side, v wire.Value, seq uint64) []page.Line {
	p := frametext.PartyOf(v)
	o.seq = seq
	o.lines = []page.Line{{Spans: []termtext.Span{termtext.Bold.Span(termtext.Spaced(who, p.Who)), termtext.Dim.Span("  " + p.Protocol)}, Seq: seq}}
	if !p.Capabilities.IsObject() {
		return append(o.lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span("  offers nothing")}, Seq: seq})
	}
	for _, one := range p.Offers(o.dialect, side, o.used) {
		o.row(&one)
	}
	return o.lines
}

// Columns of a line: name, answer, methods.
const (
	answerColumn  = 32
	methodsColumn = answerColumn + 5
)

// row adds a line, and continues on another one if the methods do not fit.
func (o *capabilityLines) row(one *frametext.Offer) {
	answer := termtext.Plain.Span(one.Answer)
	if !one.Offered {
		answer.Style = termtext.Dim
	}
	row := []termtext.Span{termtext.Plain.Span(termtext.Pad(strings.Repeat("  ", one.Depth+1)+termtext.Piece(one.Name), answerColumn)), answer}
	used := termtext.SpansWidth(row)
	for _, m := range one.Uses {
		method, count := frametext.Role(m.Method).Span(m.Method), termtext.Dim.Span(" ×"+termtext.Grouped(int64(m.Count)))
		columns := termtext.Width(method.Text) + termtext.Width(count.Text)
		if used > methodsColumn && used+2+columns > o.width {
			o.lines = append(o.lines, page.Line{Spans: row, Seq: o.seq})
			row, used = nil, 0
		}
		gap := max(methodsColumn-used, 2)
		row = append(row, termtext.Plain.Span(strings.Repeat(" ", gap)), method, count)
		used += gap + columns
	}
	o.lines = append(o.lines, page.Line{Spans: row, Seq: o.seq})
}
