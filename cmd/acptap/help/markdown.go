package help

import (
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// A block is a part of a Markdown text, or of the help of a command.
type block struct {
	kind  blockKind
	level int        // of a heading
	spans []span     // heading, paragraph, item, definition
	term  []span     // of a definition
	mark  string     // of an item: - or its number
	lines []string   // code
	rows  [][]string // table: the header first; cells with inline marks
}

type blockKind uint8

const (
	paragraph blockKind = iota
	heading
	item
	code
	table
	definition // only of the help of commands
)

// Compiled only when the user asks for help, so that proxies do not pay for it at
// startup.
var (
	headingLine = lazyregexp.New(`^(#{1,4}) +(.*)$`)
	itemLine    = lazyregexp.New(`^(-|\d+\.) +(.*)$`)
	ruleLine    = lazyregexp.New(`^\|[ |:-]+\|$`)
	inlineMark  = lazyregexp.New("`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\*([^* ][^*]*)\\*|\\[([^]]+)\\]\\(([^)]+)\\)")
)

// parse splits Markdown into its blocks.
func parse(markdown string) []block {
	var blocks []block
	lines := strings.Split(strings.TrimRight(markdown, "\n"), "\n")
	for len(lines) > 0 {
		var b block
		n := 1
		switch line := lines[0]; {
		case line == "":
			lines = lines[1:]
			continue
		case strings.HasPrefix(line, "```"):
			b.kind = code
			for n < len(lines) && lines[n] != "```" {
				b.lines = append(b.lines, lines[n])
				n++
			}
			n++ // the closing fence
		case strings.HasPrefix(line, "|"):
			b.kind = table
			for n = 0; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
				if !ruleLine().MatchString(lines[n]) || n != 1 {
					b.rows = append(b.rows, cells(lines[n]))
				}
			}
		case headingLine().MatchString(line):
			m := headingLine().FindStringSubmatch(line)
			b.kind, b.level, b.spans = heading, len(m[1]), spans(m[2])
		default:
			if m := itemLine().FindStringSubmatch(line); m != nil {
				b.kind, b.mark, line = item, m[1], m[2]
			}
			text := []string{line}
			for n < len(lines) && continues(lines[n]) {
				text = append(text, strings.TrimSpace(lines[n]))
				n++
			}
			b.spans = spans(strings.Join(text, " "))
		}
		blocks = append(blocks, b)
		lines = lines[min(n, len(lines)):]
	}
	return blocks
}

// continues reports whether a line continues the paragraph before it.
func continues(line string) bool {
	return line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "|") &&
		!headingLine().MatchString(line) && !itemLine().MatchString(line)
}

// cells splits a line of a table. \| is a bar within a cell.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	list := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, c := range list {
		list[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
	}
	return list
}

// A span is a piece of text in one style.
type span struct {
	style  style
	text   string
	target string // of a link
}

type style uint8

const (
	plain style = iota
	literal
	strong
	emphasis
	link
)

// spans splits the text of a block by its inline marks.
func spans(text string) []span {
	var list []span
	at := 0
	for _, m := range inlineMark().FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			list = append(list, span{plain, text[at:m[0]], ""})
		}
		group := func(i int) string { return text[m[2*i]:m[2*i+1]] }
		switch {
		case m[2] >= 0:
			list = append(list, span{literal, group(1), ""})
		case m[4] >= 0:
			list = append(list, span{strong, group(2), ""})
		case m[6] >= 0:
			list = append(list, span{emphasis, group(3), ""})
		default:
			list = append(list, span{link, strings.Trim(group(4), "`"), group(5)})
		}
		at = m[1]
	}
	if at < len(text) {
		list = append(list, span{plain, text[at:], ""})
	}
	return list
}

// linkText returns a link as text: with its address, or for another topic, with the
// command that prints it.
func (s span) linkText() string {
	topic, ok := strings.CutSuffix(s.target, ".md")
	switch command := "acptap help " + topic; {
	case !ok:
		return s.text + " <" + s.target + ">"
	case s.text == topic:
		return command
	default:
		return s.text + " (" + command + ")"
	}
}
