package inspect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes one line of text from the wire, about limit characters of it.
// Blanks become one, line breaks a sign. Sequences that control a terminal
// (ECMA-48) are dropped; of other control characters the picture is shown that
// Unicode has for them, and U+FFFD for what changes the direction of writing and
// for bytes that are no UTF-8.
func clean(s string, limit int) string {
	if len(s) <= limit && isClean(s) {
		return s
	}
	var b strings.Builder
	n, gap := 0, ""
	for len(s) > 0 && n < limit {
		if k := sequence(s); k > 0 {
			s = s[k:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
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
			b.WriteRune(visible(r))
			n += utf8.RuneCountInString(gap) + 1
			gap = ""
		}
	}
	switch {
	case len(s) > 0:
		b.WriteString("…")
	case n == 0:
		b.WriteString(strings.TrimSpace(gap))
	default:
		b.WriteString(strings.TrimRight(gap, " "))
	}
	return b.String()
}

// isClean reports whether nothing in s needs a look: most text is ASCII.
func isClean(s string) bool {
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

func breaksLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

func visible(r rune) rune {
	switch {
	case r < ' ':
		return '␀' + r
	case r == 0x7f:
		return '␡'
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return utf8.RuneError
	}
	return r
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
