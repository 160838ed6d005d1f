// Package termtext makes text fit for a terminal: what came over the wire without
// anything that could control it, cut and wrapped to columns, in its colours.
// It writes nothing itself.
//
// Of text from the wire, sequences that control a terminal (ECMA-48) are dropped.
// In place of any other control character stands the picture that Unicode has
// for it, and U+FFFD for what has none, for what changes the direction of writing
// and for bytes that are no UTF-8. Clean text is such text.
package termtext

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes clean text with a line feed between lines, whatever broke them.
// Tabs become blanks.
func Text(s string) string {
	if isClean(s, '\n') {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	column := 0
	for s != "" {
		r, rest := next(s)
		s = rest
		switch {
		case r == dropped:
		case breaksLine(r):
			if r == '\r' {
				s = strings.TrimPrefix(s, "\n")
			}
			b.WriteByte('\n')
			column = 0
		case r == '\t':
			blanks := tabWidth - column%tabWidth
			b.WriteString("    "[:blanks])
			column += blanks
		default:
			b.WriteRune(Visible(r))
			column++
		}
	}
	return b.String()
}

// tabWidth is how many columns a tab takes at most.
const tabWidth = 4

// Line makes clean text of one line. It keeps its blanks, and has a sign where a
// line was broken.
func Line(s string) string {
	if isClean(s, ' ') {
		return s
	}
	return strings.ReplaceAll(Text(s), "\n", "↵")
}

// Brief makes one line of about limit characters, or of all that there is if
// limit is 0. Blanks become one, line breaks a sign with blanks around it.
func Brief(s string, limit int) string {
	if limit <= 0 {
		limit = math.MaxInt
	}
	if len(s) <= limit && isBrief(s) {
		return s
	}
	var b strings.Builder
	n, gap := 0, ""
	for s != "" && n < limit {
		r, rest := next(s)
		s = rest
		switch {
		case r == dropped:
		case breaksLine(r):
			gap = " ↵ "
		case unicode.IsSpace(r):
			if gap == "" {
				gap = " "
			}
		default:
			if n == 0 {
				gap = strings.TrimLeft(gap, " ")
			}
			b.WriteString(gap)
			b.WriteRune(Visible(r))
			n += utf8.RuneCountInString(gap) + 1
			gap = ""
		}
	}
	switch {
	case s != "":
		b.WriteString("…")
	case n == 0:
		b.WriteString(strings.TrimSpace(gap))
	default:
		b.WriteString(strings.TrimRight(gap, " "))
	}
	return b.String()
}

// isClean reports whether nothing in s needs a look: most text is ASCII. One
// more character may be in it.
func isClean(s string, also byte) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != also {
			return false
		}
	}
	return true
}

// isBrief reports whether s is clean and has no blanks to spare.
func isBrief(s string) bool {
	blank := true // at the beginning, or behind a blank
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return !blank || s == ""
}

// dropped stands for a control sequence.
const dropped rune = -1

// next takes a character from the front of s, or a control sequence.
func next(s string) (r rune, rest string) {
	if n := sequence(s); n > 0 {
		return dropped, s[n:]
	}
	r, n := utf8.DecodeRuneInString(s)
	return r, s[n:]
}

func breaksLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// Visible returns what is shown for a character that Controls: a picture of it, or
// a replacement. Others it returns as they are.
func Visible(r rune) rune {
	switch {
	case r < ' ':
		return '␀' + r
	case r == 0x7f:
		return '␡'
	case Controls(r):
		return utf8.RuneError
	}
	return r
}

// Controls reports whether a character could control a terminal, change the
// direction of writing, or break a line.
func Controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// longestSequence is where a control sequence counts as unfinished, in bytes.
const longestSequence = 1 << 10

// sequence returns the length of the control sequence or control string of
// ECMA-48 that s begins with, 0 if it begins with anything else or with one that
// has no end.
func sequence(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	s = s[:min(len(s), longestSequence)]
	switch s[1] {
	case '[':
		params := strings.TrimLeft(s[2:], "0123456789:;<=>?")
		final := strings.TrimLeft(params, " !\"#$%&'()*+,-./")
		if final != "" && '@' <= final[0] && final[0] <= '~' {
			return len(s) - len(final) + 1
		}
	case ']', 'P', 'X', '^', '_': // a string up to ST, or as xterm has it to BEL
		n := 2 + strings.IndexAny(s[2:], "\a\x1b\n")
		switch {
		case strings.HasPrefix(s[n:], "\x1b\\"):
			return n + 2
		case s[n] == '\a':
			return n + 1
		}
	}
	return 0
}
