package inspect

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A paneForm is how a frame is shown.
type paneForm uint8

const (
	asTree paneForm = iota
	asRaw
	asHex
	asDiff // against another frame
	paneForms
)

var paneNames = [paneForms]string{"tree", "raw", "hex", "diff"}

// A pane shows one frame.
type pane struct {
	frame dialect.Frame // with its bytes
	form  paneForm
	title string // of a comparison
	tree  *tree  // nil: the frame is no JSON
	words string // that were searched
	fold  map[int32]bool
	whole map[int32]bool // long strings that are shown to their ends

	lines  []paneLine
	width  int // that lines were made for; 0: they are to be made
	cursor int // index in lines
	top    int
	height int
}

// A paneLine is a line of a value. It is a few words, and its text is made when it
// is drawn, for there may be half a million of them.
type paneLine struct {
	node int32  // -1: none
	text string // of a string that takes several lines, of a diff, or of raw bytes
	part linePart
}

type linePart uint8

const (
	beginning linePart = iota // name and value, or what the value begins with
	inside                    // a line of a string
	added                     // a line of a diff
	removed
	ending // a closing bracket
	cutOff // there is more of it
)

// longString is how many lines of a string are shown until it is unfolded.
const longString = 24

// show puts a frame into the pane. The form stays, the rest begins anew.
func (p *pane) show(f dialect.Frame) {
	form := p.form
	if form == asDiff {
		form = asTree
	}
	*p = pane{frame: f, form: form, words: p.words, fold: map[int32]bool{}, whole: map[int32]bool{}}
	raw := f.Raw[:min(len(f.Raw), wire.MaxChecked)]
	switch f.Kind {
	case wire.Junk, wire.Stderr:
	case wire.Unchecked:
		p.tree = newTree(mended(raw))
	default:
		p.tree = newTree(raw)
	}
	if p.tree != nil && len(p.tree.nodes) == 0 {
		p.tree = nil
	}
}

// compare shows what differs between two frames.
func (p *pane) compare(title string, before, after []byte) {
	p.form, p.title = asDiff, title
	p.lines = nil
	for _, line := range diffLines(indented(before), indented(after)) {
		p.lines = append(p.lines, diffLine(-1, line))
	}
	p.cursor, p.top = 0, 0
	for i, line := range p.lines {
		if line.part != inside {
			p.cursor = i
			break
		}
	}
}

func diffLine(n int32, line string) paneLine {
	part := inside
	switch line[0] {
	case '+':
		part = added
	case '-':
		part = removed
	}
	return paneLine{n, tidy(line), part}
}

func indented(raw []byte) string {
	var b strings.Builder
	in := &Indenter{W: &b}
	in.Write(raw) // a Builder takes everything
	in.Close()
	return b.String()
}

// layout makes the lines for a width.
func (p *pane) layout(width int) {
	if p.form == asDiff || p.width == width {
		return
	}
	node := p.node()
	p.lines, p.width = nil, width
	switch {
	case p.form == asHex:
	case p.form == asRaw || p.tree == nil:
		lines, more := wrapped(string(p.frame.Raw), width, wire.MaxChecked)
		for _, line := range lines {
			p.lines = append(p.lines, paneLine{-1, line, inside})
		}
		if more || int64(len(p.frame.Raw)) < p.frame.Size {
			p.lines = append(p.lines, paneLine{-1, "", cutOff})
		}
	default:
		p.layoutTree(width)
		p.point(node)
	}
}

func (p *pane) layoutTree(width int) {
	t := p.tree
	var open []int32
	closeBefore := func(i int32) {
		for n := len(open); n > 0 && t.nodes[open[n-1]].end <= i; n-- {
			p.lines = append(p.lines, paneLine{open[n-1], "", ending})
			open = open[:n-1]
		}
	}
	for i := int32(0); i < int32(len(t.nodes)); {
		closeBefore(i)
		p.lines = append(p.lines, paneLine{i, "", beginning})
		switch {
		case !t.holds(i):
			p.layoutString(i, width)
			i++
		case p.fold[i] || t.nodes[i].children == 0:
			i = t.nodes[i].end
		default:
			open = append(open, i)
			i++
		}
	}
	closeBefore(int32(len(t.nodes)))
	if int64(len(p.frame.Raw)) < p.frame.Size {
		p.lines = append(p.lines, paneLine{-1, "", cutOff})
	}
}

// layoutString adds the lines of a string that does not fit on one.
func (p *pane) layoutString(i int32, columns int) {
	t := p.tree
	if !p.long(i, columns) || p.fold[i] {
		return
	}
	indent := p.indent(i) + 2
	if lines := p.diff(i); lines != nil {
		for _, line := range lines {
			p.lines = append(p.lines, diffLine(i, line))
		}
		return
	}
	most := longString
	if p.whole[i] {
		most = wire.MaxChecked
	}
	lines, more := wrapped(t.text(i), columns-indent, most)
	for _, line := range lines {
		p.lines = append(p.lines, paneLine{i, line, inside})
	}
	if more {
		p.lines = append(p.lines, paneLine{i, "", cutOff})
	}
}

// long reports whether a value is a string that takes lines of its own.
func (p *pane) long(i int32, columns int) bool {
	raw := p.tree.raw(i)
	if raw[0] != '"' || p.base64(i) != "" {
		return false
	}
	n := p.tree.nodes[i]
	return strings.Contains(p.tree.text(i), "\n") || len(raw)+int(n.nameEnd-n.name)+2+p.indent(i) > columns
}

// diff returns the lines of the newText of a diff against its oldText (ACP,
// tool call content), nil if the value is none.
func (p *pane) diff(i int32) []string {
	t := p.tree
	parent := t.nodes[i].parent
	if parent < 0 || t.name(i) != "newText" {
		return nil
	}
	before := t.member(parent, "oldText")
	if before < 0 || t.raw(before)[0] != '"' {
		return nil
	}
	return diffLines(t.text(before), t.text(i))
}

// shortestBase64 is how long text must be to be taken for base64.
const shortestBase64 = 128

// base64 returns what is told of a value in base64, such as `image/png, 12 kB in
// base64`, nothing if it is none.
func (p *pane) base64(i int32) string {
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
		kind = piece(p.tree.text(m)) + ", "
	}
	return kind + byteSize(int64(len(raw)-2)/4*3) + " in base64"
}

// deepest is how deep lines are indented: there must be room for the values.
const deepest = 12

func (p *pane) indent(i int32) int { return 2 * min(int(p.tree.nodes[i].depth), deepest) }

// count returns how many lines there are.
func (p *pane) count() int {
	if p.form == asHex {
		return (len(p.frame.Raw) + 15) / 16
	}
	return len(p.lines)
}

// spans returns a line for drawing.
func (p *pane) spans(k int) []span {
	if p.form == asHex {
		return hexLine(p.frame.Raw, k*16)
	}
	line := p.lines[k]
	margin := ""
	if line.node >= 0 {
		margin = strings.Repeat(" ", p.indent(line.node)+2)
	}
	switch line.part {
	case inside:
		s := green
		if line.node < 0 {
			s = plain
		}
		return []span{{plain, margin}, {s, line.text}}
	case added:
		return []span{{plain, margin}, {green, line.text}}
	case removed:
		return []span{{plain, margin}, {red, line.text}}
	case cutOff:
		if line.node < 0 {
			return []span{{dim, fmt.Sprintf("… of %s; w writes the whole frame to a file", byteSize(p.frame.Size))}}
		}
		return []span{{dim, margin + "… more: Enter"}}
	case ending:
		return []span{{dim, margin[:len(margin)-2] + string(p.tree.json[p.tree.nodes[line.node].to-1])}}
	}
	return append([]span{{plain, margin[:len(margin)-2]}}, p.value(line.node)...)
}

// value returns the first line of a value.
func (p *pane) value(i int32) []span {
	t := p.tree
	var line []span
	if n := t.nodes[i]; n.nameEnd > 0 {
		line = append(line, span{cyan, piece(t.name(i))}, span{dim, ": "})
	} else if n.parent >= 0 {
		line = append(line, span{dim, fmt.Sprint(n.index, ": ")})
	}
	raw := t.raw(i)
	switch c := raw[0]; {
	case c == '{' || c == '[':
		brackets := map[byte]string{'{': "{}", '[': "[]"}[c]
		switch n := t.nodes[i].children; {
		case n == 0:
			return append(line, span{dim, brackets})
		case p.fold[i]:
			return append(line, span{dim, fmt.Sprintf("%c … %d %c", brackets[0], n, brackets[1])})
		}
		return append(line, span{dim, brackets[:1]})
	case c != '"':
		s := yellow // true, false, null
		if c == '-' || '0' <= c && c <= '9' {
			s = magenta
		}
		return append(line, span{s, piece(string(raw))})
	}
	if said := p.base64(i); said != "" {
		return append(line, span{dim, "‹" + said + "›"})
	}
	if p.long(i, p.width) {
		if p.fold[i] {
			return append(line, span{green, piece(t.text(i))}, span{dim, " …"})
		}
		said := byteSize(int64(len(raw) - 2))
		if p.diff(i) != nil {
			said = "as a diff"
		}
		return append(line, span{dim, said})
	}
	return append(line, span{green, `"` + tidy(t.text(i)) + `"`})
}

func hexLine(raw []byte, from int) []span {
	part := raw[from:min(from+16, len(raw))]
	var hex, text strings.Builder
	for i := range 16 {
		if i == 8 {
			hex.WriteByte(' ')
		}
		if i >= len(part) {
			hex.WriteString("   ")
			continue
		}
		fmt.Fprintf(&hex, "%02x ", part[i])
		if c := part[i]; ' ' <= c && c <= '~' {
			text.WriteByte(c)
		} else {
			text.WriteByte('.')
		}
	}
	return []span{{dim, fmt.Sprintf("%08x  ", from)}, {plain, hex.String() + " "}, {green, text.String()}}
}

// node returns the value that the cursor is on, 0 if it is on none.
func (p *pane) node() int32 {
	if p.form == asTree && p.cursor < len(p.lines) {
		return max(p.lines[p.cursor].node, 0)
	}
	return 0
}

// point puts the cursor on a value.
func (p *pane) point(n int32) {
	for i, line := range p.lines {
		if line.node == n {
			p.cursor = i
			return
		}
	}
	p.cursor = 0
}

// move moves the cursor n lines down.
func (p *pane) move(n int) { p.cursor = max(min(p.cursor+n, p.count()-1), 0) }

// open folds the value under the cursor, or unfolds it, or shows all of it.
func (p *pane) open() {
	if p.tree == nil || p.form != asTree || p.cursor >= len(p.lines) {
		return
	}
	line := p.lines[p.cursor]
	switch {
	case line.node < 0:
		return
	case line.part == cutOff, p.base64(line.node) != "":
		p.whole[line.node] = true
	default:
		p.fold[line.node] = !p.fold[line.node]
	}
	p.relayout()
	p.point(line.node)
}

// relayout makes the lines anew.
func (p *pane) relayout() {
	width := p.width
	p.width = 0
	p.layout(width)
}

// find puts the cursor on the next value with the words.
func (p *pane) find(words string, forward bool) bool {
	if p.tree == nil || p.form != asTree {
		return p.findLine(words, forward)
	}
	n := p.tree.find(words, p.node(), forward)
	if n < 0 {
		return false
	}
	for up := p.tree.nodes[n].parent; up >= 0; up = p.tree.nodes[up].parent {
		delete(p.fold, up)
	}
	p.relayout()
	p.point(n)
	for i := p.cursor; i < len(p.lines) && p.lines[i].node == n; i++ {
		if hasWords(p.lines[i].text, words) {
			p.cursor = i
			break
		}
	}
	return true
}

// findLine is find where there are no values.
func (p *pane) findLine(words string, forward bool) bool {
	n := len(p.lines)
	for k := 1; k <= n; k++ {
		i := (p.cursor + k) % n
		if !forward {
			i = (p.cursor - k + n) % n
		}
		if hasWords(p.lines[i].text, words) {
			p.cursor = i
			return true
		}
	}
	return false
}

// window returns the first and the last but one line on a screen of some lines.
func (p *pane) window(width, height int) (from, to int) {
	p.layout(width)
	p.height = height
	p.cursor = max(min(p.cursor, p.count()-1), 0)
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, p.count()-height), 0)
	return p.top, min(p.top+height, p.count())
}
