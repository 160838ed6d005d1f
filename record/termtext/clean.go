// Package termtext makes text fit for a terminal: it removes from the text of the wire
// anything that could control the terminal, cuts and wraps it to columns, and colours it.
// It writes nothing itself.
//
// Clean text is text of the wire without control sequences (ECMA-48). Any other control
// character is replaced by its Unicode picture. U+FFFD replaces those without a picture,
// characters that change the direction of writing, and bytes that are not UTF-8.
package termtext

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns clean text with line feeds as the only line breaks, and blanks for tabs.
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

// tabWidth is the distance of tab stops in columns.
const tabWidth = 4

// Line returns one line of clean text. It keeps blanks, and has a sign for each line break.
func Line(s string) string {
	if isClean(s, ' ') {
		return s
	}
	return strings.ReplaceAll(Text(s), "\n", "↵")
}

// Brief returns one line of about limit characters, or the whole text if limit is 0. It
// joins blanks, and has a sign with blanks around it for each line break.
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

// isClean reports whether s is printable ASCII, as most text is. It also allows one other
// character.
func isClean(s string, also byte) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != also {
			return false
		}
	}
	return true
}

// isBrief reports whether s is clean and has no extra blanks.
func isBrief(s string) bool {
	blank := true // at the beginning, or after a blank
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return !blank || s == ""
}

// dropped represents a control sequence.
const dropped rune = -1

// next splits off the first character or control sequence of s.
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

// Visible returns a picture of, or replacement for, a character that Controls. It returns
// other characters unchanged.
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

// longestSequence is the length in bytes from which a control sequence counts as
// unfinished.
const longestSequence = 1 << 10

// sequence returns the length of the ECMA-48 control sequence or control string at the
// start of s, or 0 if there is none or it is unterminated.
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
	case ']', 'P', 'X', '^', '_': // a string up to ST or, as in xterm, BEL
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
