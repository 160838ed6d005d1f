package framepane

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/termtext"
)

// layoutTree makes the tree's lines.
func (p *Pane) layoutTree(width int) {
	t := p.tree
	var open []int32
	closeBefore := func(i int32) {
		for n := len(open); n > 0 && t.nodes[open[n-1]].end <= i; n-- {
			p.lines = append(p.lines, textLine{node: open[n-1], part: ending})
			open = open[:n-1]
		}
	}
	if p.folded() {
		p.lines = append(p.lines, textLine{part: around})
	}
	for i := int32(0); i < int32(len(t.nodes)); {
		closeBefore(i)
		if p.enveloped(i) {
			i++
			continue
		}
		p.lines = append(p.lines, textLine{node: i, part: beginning})
		switch {
		case !t.holds(i):
			p.layoutString(i, width)
			i++
		case t.nodes[i].children == 0:
			i = t.nodes[i].end
		default:
			open = append(open, i)
			i++
		}
	}
	closeBefore(int32(len(t.nodes)))
	if int64(len(p.Frame.Raw)) < p.Frame.Size {
		p.lines = append(p.lines, textLine{node: -1, part: cutOff})
	}
}

// layoutString adds the lines of a string that does not fit on one line.
func (p *Pane) layoutString(i int32, columns int) {
	t := p.tree
	if !p.long(i, columns) {
		return
	}
	indent := p.indent(i) + 2
	if before := p.replaced(i); before >= 0 {
		for _, line := range linediff.Lines(strings.Split(t.text(before), "\n"), strings.Split(t.text(i), "\n")) {
			p.lines = append(p.lines, diffLine(i, line))
		}
		return
	}
	most := longString + 1
	if p.whole[i] || p.laidOut.whole {
		most = wire.MaxChecked
	}
	lines, _ := wrapped(t.text(i), columns-indent, most)
	p.addText(i, lines[:min(len(lines), longString)])
	if len(lines) > longString {
		p.lines = append(p.lines, textLine{node: i, part: cutOff, join: page.Within})
		p.addText(i, lines[longString:])
	}
}

// long reports whether a value is a string that needs separate lines.
func (p *Pane) long(i int32, columns int) bool {
	raw := p.tree.raw(i)
	if raw[0] != '"' || p.base64(i) != "" {
		return false
	}
	n := p.tree.nodes[i]
	return strings.Contains(p.tree.text(i), "\n") || len(raw)+int(n.nameEnd-n.name)+2+p.indent(i) > columns
}

// replaced returns the oldText that a diff's newText replaces (ACP, tool call content),
// or -1 if the value is not the newText of a diff.
func (p *Pane) replaced(i int32) int32 {
	t := p.tree
	parent := t.nodes[i].parent
	if parent < 0 || t.name(i) != "newText" {
		return -1
	}
	before := t.member(parent, "oldText")
	if before < 0 || t.raw(before)[0] != '"' {
		return -1
	}
	return before
}

// shortestBase64 is the minimum length for text to be treated as base64.
const shortestBase64 = 128

// base64 returns what is shown for a base64 value, such as `image/png, 12 kB in base64`,
// or the empty string for other values.
func (p *Pane) base64(i int32) string {
	raw := p.tree.raw(i)
	if raw[0] != '"' || len(raw) < shortestBase64 || p.whole[i] {
		return ""
	}
	switch p.tree.name(i) {
	case "data", "blob":
	default:
		return ""
	}
	head := raw[1 : 1+shortestBase64/4*4-4]
	if _, err := base64.StdEncoding.Decode(make([]byte, len(head)), head); err != nil {
		return ""
	}
	var kind string
	if m := p.tree.member(p.tree.nodes[i].parent, "mimeType"); m >= 0 {
		kind = termtext.Piece(p.tree.text(m)) + ", "
	}
	return kind + termtext.ByteSize(int64(len(raw)-2)/4*3) + " in base64"
}

// deepest is the deepest level that is indented; the values need room.
const deepest = 12

func (p *Pane) indent(i int32) int {
	return 2 * min(int(p.tree.nodes[i].depth)-p.outside(i), deepest)
}

// nameSpans returns a value's name or its index in its parent.
func (p *Pane) nameSpans(i int32) []termtext.Span {
	switch n := p.tree.nodes[i]; {
	case n.nameEnd > 0 && n.parent == 0 && p.tree.name(i) == "error":
		return []termtext.Span{termtext.Failure.Span("error: ")}
	case n.nameEnd > 0:
		return []termtext.Span{termtext.Repeats.Span(p.shownName(i) + ": ")}
	case n.parent >= 0:
		return []termtext.Span{termtext.Dim.Span(fmt.Sprint(n.index, ": "))}
	}
	return nil
}

// valueSpans returns a value's first line, in its folded or unfolded form.
func (p *Pane) valueSpans(i int32, folded bool) []termtext.Span {
	t, line := p.tree, p.nameSpans(i)
	raw := t.raw(i)
	switch c := raw[0]; {
	case c == '{' || c == '[':
		brackets := map[byte]string{'{': "{}", '[': "[]"}[c]
		switch n := t.nodes[i].children; {
		case n == 0:
			return append(line, termtext.Dim.Span(brackets))
		case folded:
			return append(line, termtext.Dim.Span(fmt.Sprintf("%c … %d %c", brackets[0], n, brackets[1])))
		case i == 0 && p.unfolded && len(p.envelope.opened) > 0:
			return append(line, termtext.Dim.Span("▾ "+brackets[:1]))
		}
		return append(line, termtext.Dim.Span(brackets[:1]))
	case c != '"':
		style := termtext.Magenta // true, false, null
		if c == '-' || '0' <= c && c <= '9' {
			style = termtext.Cyan
		}
		return append(line, style.Span(termtext.Piece(string(raw))))
	}
	if text := p.base64(i); text != "" {
		return append(line, termtext.Dim.Span("‹"+text+"›"))
	}
	if p.long(i, p.width) {
		if folded { // its text follows as a preview
			return line
		}
		text := termtext.ByteSize(int64(len(raw) - 2))
		if p.replaced(i) >= 0 {
			text = "as a diff"
		}
		return append(line, termtext.Dim.Span(text))
	}
	return append(line, termtext.Green.Span(`"`+termtext.Line(t.text(i))+`"`))
}
