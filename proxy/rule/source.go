package rule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A SyntaxError says what is wrong with rules, and where.
type SyntaxError struct {
	File         string // as given to Parse
	Line, Column int    // from 1; a column is a character
	Text         string // the line
	Problem      string
	Valid        []string // what would be valid there, if that is a list
}

func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	if len(e.Valid) > 0 {
		text += "; expected one of " + strings.Join(e.Valid, " ")
	}
	return text
}

// Caret returns the line and, below it, a ^ under the position, each with a line end.
// Control characters become blanks.
func (e *SyntaxError) Caret() string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, e.Text)
	before := []rune(line)
	before = before[:min(e.Column-1, len(before))]
	return line + "\n" + strings.Repeat(" ", uniseg.StringWidth(string(before))) + "^\n"
}

// A source is a text of rules.
type source struct {
	file  string
	text  string // as given
	plain string // the same length, with blanks in place of comments
}

func newSource(file, text string) *source {
	return &source{file, text, withoutComments(text)}
}

// withoutComments replaces each comment by as many blanks. A comment begins with a # at
// the beginning of a word, outside of quotes, and ends with the line.
func withoutComments(text string) string {
	b := []byte(text)
	var quote byte // the open quote; 0: none
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
	at = min(at, len(s.text))
	start := strings.LastIndexByte(s.text[:at], '\n') + 1
	line, _, _ := strings.Cut(s.text[start:], "\n")
	line = strings.TrimSuffix(line, "\r")
	return &SyntaxError{
		File: s.file, Line: s.line(at), Column: utf8.RuneCountInString(s.text[start:at]) + 1,
		Text: strings.ToValidUTF8(line, "\ufffd"), Problem: problem, Valid: valid,
	}
}

// line returns the number of the line at an offset.
func (s *source) line(at int) int { return strings.Count(s.text[:at], "\n") + 1 }

// entries calls yield with the positions of each entry: a line, with the lines after it
// that begin with a blank.
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

// more reports whether anything but options and blanks follows.
func (p *scanner) more() bool {
	p.blanks()
	return p.i < p.end && p.plain[p.i] != '['
}

// word reads up to the next blank. It returns "" at the end.
func (p *scanner) word() string {
	p.blanks()
	from := p.i
	for p.i < p.end && !isBlank(p.plain[p.i]) {
		p.i++
	}
	return p.plain[from:p.i]
}

// take reads the next word if it is one of those given.
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
