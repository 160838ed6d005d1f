package report

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A passage is a part of a message: a paragraph, a heading, a list, a table or a fenced
// block. Other Markdown, such as links, is shown as plain text: a link that an agent wrote
// can leak a secret.
type passage struct {
	Kind  string // p, h, ul, ol, table, pre
	Text  string // of pre
	Lines [][]run
	Table *proseTable
}

// A run is text in one style, which may have runs in other styles in it.
type run struct {
	Kind   string // code, b, i, or empty for plain text
	Text   string // of code and plain text
	Inside []run  // of b and i
}

// prose returns the passages of a text from the wire.
func prose(text string) []passage {
	var p parser
	text = termtext.Text(text)
	if strings.TrimLeft(text, " ") == strings.TrimPrefix(text, " ") { // models begin words, and thus messages, with a blank
		text = strings.TrimPrefix(text, " ")
	}
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	p.end()
	return p.list
}

// A parser reads a text line by line.
type parser struct {
	list  []passage
	fence string // fence of the open block; empty if none is
	lines []string
	kind  string // kind of passage that lines form; empty if there are no lines
}

func (p *parser) line(line string) {
	bare := strings.TrimSpace(line)
	if p.fence != "" {
		if strings.HasPrefix(bare, p.fence) && strings.Trim(bare, p.fence[:1]) == "" {
			p.end()
			return
		}
		p.lines = append(p.lines, line)
		return
	}
	mark, rest := blockMark(bare)
	switch {
	case p.kind == "table" && strings.Contains(bare, "|"):
		p.lines = append(p.lines, bare)
	case p.kind == "p" && beginsTable(p.lines[len(p.lines)-1], bare):
		head := p.lines[len(p.lines)-1]
		if p.lines = p.lines[:len(p.lines)-1]; len(p.lines) == 0 {
			p.kind = ""
		}
		p.end()
		p.kind, p.lines = "table", []string{head, bare}
	case bare == "":
		p.end()
	case mark == "pre":
		p.end()
		p.kind, p.fence = "pre", rest
	case mark == "h":
		p.end()
		p.kind, p.lines = "h", []string{rest}
		p.end()
	case mark != "":
		if p.kind != mark {
			p.end()
		}
		p.kind, p.lines = mark, append(p.lines, rest)
	case p.kind == "ul" || p.kind == "ol": // continues a list item
		p.lines[len(p.lines)-1] += "\n" + bare
	default:
		if p.kind == "table" {
			p.end()
		}
		p.kind, p.lines = "p", append(p.lines, line)
	}
}

// blockMark returns the kind of block that a line begins, and its text or the fence
// itself.
func blockMark(line string) (kind, rest string) {
	if fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]; len(fence) >= 3 {
		return "pre", fence
	}
	if strings.HasPrefix(line, "~~~") {
		return "pre", "~~~"
	}
	if text := strings.TrimLeft(line, "#"); len(line)-len(text) <= 6 && text != line && strings.HasPrefix(text, " ") {
		return "h", strings.TrimSpace(strings.TrimRight(text, "#"))
	}
	for _, sign := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			return "ul", rest
		}
	}
	digits := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(digits); n > 0 && n < 10 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return "ol", digits[2:]
	}
	return "", ""
}

// end ends the open passage.
func (p *parser) end() {
	switch p.kind {
	case "":
	case "pre":
		p.list = append(p.list, passage{Kind: "pre", Text: strings.Join(p.lines, "\n")})
	case "table":
		p.list = append(p.list, passage{Kind: "table", Table: tableOfProse(p.lines)})
	case "p":
		p.list = append(p.list, passage{Kind: "p", Lines: [][]run{runs(strings.Join(p.lines, "\n"))}})
	default:
		one := passage{Kind: p.kind}
		for _, line := range p.lines {
			one.Lines = append(one.Lines, runs(line))
		}
		p.list = append(p.list, one)
	}
	p.kind, p.fence, p.lines = "", "", nil
}

// A proseTable is a table in a message.
type proseTable struct {
	Head []proseCell
	Rows [][]proseCell
}

type proseCell struct {
	Class string // n for numbers, which are aligned right
	Runs  []run
}

// beginsTable reports whether two lines begin a table: a row, and one of dashes with as many
// cells.
func beginsTable(head, dashes string) bool {
	if !strings.Contains(head, "|") || !strings.Contains(dashes, "-") || strings.Trim(dashes, "|:- ") != "" {
		return false
	}
	return len(tableCells(head)) == len(tableCells(dashes))
}

// tableCells returns the cells of a line. In a code span, or after a backslash, a bar divides
// nothing.
func tableCells(line string) (cells []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	begun, code := 0, false
	for i := range len(line) {
		switch {
		case line[i] == '`':
			code = !code
		case line[i] == '|' && !code && (i == 0 || line[i-1] != '\\'):
			cells = append(cells, line[begun:i])
			begun = i + 1
		}
	}
	return append(cells, line[begun:])
}

func tableOfProse(lines []string) *proseTable {
	var t proseTable
	dashes := tableCells(lines[1])
	row := func(line string) (cells []proseCell) {
		texts := tableCells(line)
		for i := range dashes {
			one := proseCell{}
			if i < len(texts) {
				one.Runs = runs(strings.ReplaceAll(strings.TrimSpace(texts[i]), `\|`, "|"))
			}
			if strings.HasSuffix(strings.TrimSpace(dashes[i]), ":") {
				one.Class = "n"
			}
			cells = append(cells, one)
		}
		return cells
	}
	t.Head = row(lines[0])
	for _, line := range lines[2:] {
		t.Rows = append(t.Rows, row(line))
	}
	return &t
}

// longestStyled limits the bytes of bold text and emphasis, so that reading a line takes time
// in proportion to its length.
const longestStyled = 2000

// deepest limits how many styles a run may have.
const deepest = 4

// runs splits a line into plain text, `code`, **bold** and *emphasis*.
func runs(line string) []run { return runsIn(line, 0) }

// titleRuns splits a title, which may have commands in it, into plain text and `code`.
func titleRuns(line string) []run { return runsIn(line, deepest) }

func runsIn(line string, depth int) []run {
	var list []run
	plain := func(text string) {
		if text != "" {
			list = append(list, run{Text: text})
		}
	}
	begun := 0
	for i := 0; i < len(line); {
		sign, length := styled(line, i, depth)
		if length == 0 {
			i += max(len(sign), 1)
			continue
		}
		plain(line[begun:i])
		inner := line[i+len(sign) : i+len(sign)+length]
		switch {
		case sign[0] == '`':
			list = append(list, run{Kind: "code", Text: inner})
		case len(sign) == 2:
			list = append(list, run{Kind: "b", Inside: runsIn(inner, depth+1)})
		default:
			list = append(list, run{Kind: "i", Inside: runsIn(inner, depth+1)})
		}
		i += len(sign) + length + len(sign)
		begun = i
	}
	plain(line[begun:])
	return list
}

// styled returns the sign that begins a style at line[i], and the length of the text until
// the same sign ends it, which is 0 if nothing does.
func styled(line string, i, depth int) (sign string, length int) {
	c := line[i]
	sign = line[i : len(line)-len(strings.TrimLeft(line[i:], string(c)))]
	switch {
	case c == '`':
		return sign, max(strings.Index(line[i+len(sign):], sign), 0)
	case c != '*' && c != '_' || depth == deepest:
		return line[i : i+1], 0
	case len(sign) > 2:
		sign = sign[:2]
	}
	if rest := line[i+len(sign):]; rest == "" || isBlank(rest[0]) || c == '_' && i > 0 && isWord(line[i-1]) {
		return sign, 0
	}
	code := false
	for end := i + len(sign) + 1; end+len(sign) <= min(len(line), i+longestStyled); end++ {
		switch {
		case line[end] == '`':
			code = !code
		case code || !strings.HasPrefix(line[end:], sign) || isBlank(line[end-1]):
		case c == '_' && end+len(sign) < len(line) && isWord(line[end+len(sign)]):
		case len(sign) == 1 && (strings.HasPrefix(line[end+1:], sign) || line[end-1] == c): // of bold text in it
		case len(sign) == 2 && strings.HasPrefix(line[end+1:], sign): // emphasis in it ends first
		default:
			return sign, end - i - len(sign)
		}
	}
	return sign, 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func isWord(c byte) bool {
	return c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
