package rule

import (
	"strings"

	"github.com/acptap/acptap/proxy/syntax"
)

// A SyntaxError says what is wrong with rules, and where.
type SyntaxError = syntax.Error

// A source is the text of a set of rules.
type source struct {
	file  string
	text  string // as written
	plain string // of the same length, with comments blanked out
}

func newSource(file, text string) *source {
	return &source{file, text, withoutComments(text)}
}

// withoutComments replaces each comment with as many blanks. A comment starts with a # at the
// beginning of a word outside quotes, and extends to the end of the line.
func withoutComments(text string) string {
	b := []byte(text)
	var quote byte // the quote that is open; 0: none
	word, comment := false, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '\n':
			quote, word, comment = 0, false, false
		case comment:
			b[i] = ' '
		case quote != 0:
			if c == '\\' && quote == '"' && i+1 < len(b) && b[i+1] != '\n' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote, word = c, true
		case c == '#' && !word:
			comment = true
			b[i] = ' '
		default:
			word = !isBlank(c)
		}
	}
	return string(b)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// wrong returns an error about the text at an offset.
func (s *source) wrong(at int, problem string, valid ...string) *SyntaxError {
	return syntax.At(s.file, s.text, at, problem, valid...)
}

// line returns the number of the line at an offset.
func (s *source) line(at int) int { return syntax.Line(s.text, at) }

// entries calls yield with the position of each entry: a line and its continuation lines.
func (s *source) entries(yield func(from, to int) bool) {
	from := 0
	for from < len(s.plain) {
		to := from
		for {
			if n := strings.IndexByte(s.plain[to:], '\n'); n >= 0 {
				to += n + 1
			} else {
				to = len(s.plain)
			}
			if to == len(s.plain) || !isBlank(s.plain[to]) {
				break
			}
		}
		if strings.TrimLeft(s.plain[from:to], " \t\r\n") != "" && !yield(from, to) {
			return
		}
		from = to
	}
}

// A scanner reads the words of an entry.
type scanner struct {
	*source
	i, end int
}

func (p *scanner) blanks() {
	for p.i < p.end && isBlank(p.plain[p.i]) {
		p.i++
	}
}

// more reports whether anything except options and blanks is left.
func (p *scanner) more() bool {
	p.blanks()
	return p.i < p.end && p.plain[p.i] != '['
}

// word reads up to the next blank. At the end it returns "".
func (p *scanner) word() string {
	p.blanks()
	from := p.i
	for p.i < p.end && !isBlank(p.plain[p.i]) {
		p.i++
	}
	return p.plain[from:p.i]
}

// take reads the next word if it is one of words.
func (p *scanner) take(words ...string) string {
	at := p.i
	w := p.word()
	for _, one := range words {
		if w == one {
			return w
		}
	}
	p.i = at
	return ""
}

// arrow returns the position of the => between filter and action, or -1.
func (p *scanner) arrow() int {
	var quote byte
	for i := p.i; i < p.end; i++ {
		switch c := p.plain[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(p.plain[i:p.end], "=>") && (i == p.i || isBlank(p.plain[i-1])) && (i+2 == p.end || isBlank(p.plain[i+2])):
			return i
		}
	}
	return -1
}
