package report

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A passage is a part of a message: a paragraph, a heading, a list or a fenced block.
// Other Markdown, such as links, is shown as plain text: a link that an agent wrote can
// leak a secret.
type passage struct {
	Kind  string // p, h, ul, ol, pre
	Text  string // of pre
	Lines [][]run
}

// A run is text in one style.
type run struct{ Code, Bold, Text string } // one of them is not empty

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

// runs splits a line into plain text, `code` and **bold**.
func runs(line string) []run {
	var list []run
	plain := func(text string) {
		if text != "" {
			list = append(list, run{Text: text})
		}
	}
	begun := 0
	for i := 0; i < len(line); {
		sign := ""
		switch {
		case line[i] == '`':
			sign = line[i : len(line)-len(strings.TrimLeft(line[i:], "`"))]
		case strings.HasPrefix(line[i:], "**"):
			sign = "**"
		default:
			i++
			continue
		}
		length := strings.Index(line[i+len(sign):], sign)
		if length <= 0 || sign == "**" && strings.HasPrefix(line[i+2:], " ") {
			i += len(sign)
			continue
		}
		plain(line[begun:i])
		inner := line[i+len(sign) : i+len(sign)+length]
		if sign == "**" {
			list = append(list, run{Bold: inner})
		} else {
			list = append(list, run{Code: inner})
		}
		i += len(sign) + length + len(sign)
		begun = i
	}
	plain(line[begun:])
	return list
}
