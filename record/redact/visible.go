package redact

import (
	"bytes"
	"unicode/utf8"
)

// visible returns what a reader sees of a text: without escape sequences of terminals and
// characters without width, which may be anywhere in a secret or its name. at tells for each
// byte where it is in the text; it is nil if nothing was left out.
func visible(text []byte) (seen []byte, at []int) {
	if !hidesSome(text) {
		return text, nil
	}
	for i := 0; i < len(text); {
		if n := hidden(text[i:]); n > 0 {
			i += n
			continue
		}
		seen, at = append(seen, text[i]), append(at, i)
		i++
	}
	return seen, at
}

// hidesSome reports whether visible leaves out something.
func hidesSome(text []byte) bool {
	for _, begin := range hiddenBegins {
		for i := 0; ; i++ {
			n := bytes.Index(text[i:], begin)
			if n < 0 {
				break
			}
			if i += n; hidden(text[i:]) > 0 {
				return true
			}
		}
	}
	return false
}

// hiddenBegins are the bytes that begin what hidden measures.
var hiddenBegins = [...][]byte{[]byte("\x1b"), []byte("\xe2\x80"), []byte("\xe2\x81"), []byte("\ufeff"), []byte("\u00ad"), []byte(`\u001b[`), []byte(`\x1b[`), []byte(`\033[`)}

// hidden returns the length of the invisible text at the beginning of s.
func hidden(s []byte) int {
	switch s[0] {
	case '\x1b':
		return 1 + sequence(s[1:])
	case '\\': // as source code and JSON within text have it
		for _, escape := range escapes[1:] {
			if rest, ok := bytes.CutPrefix(s, []byte(escape)); ok && len(rest) > 0 && rest[0] == '[' {
				return len(escape) + sequence(rest)
			}
		}
	case 0xc2, 0xe2, 0xef:
		switch c, n := utf8.DecodeRune(s); {
		case c == '\u00ad', c == '\ufeff', '\u200b' <= c && c <= '\u200f', '\u202a' <= c && c <= '\u202e', '\u2060' <= c && c <= '\u2069':
			return n
		}
	}
	return 0
}

// escapes are the escape character and how source code and JSON within text write it.
var escapes = [...]string{"\x1b", `\u001b`, `\x1b`, `\033`}

// withoutEscape returns s without escape characters at its end: with the [ of a placeholder
// they would begin a sequence.
func withoutEscape(s []byte) []byte {
	for before := len(s) + 1; len(s) < before; {
		before = len(s)
		for _, escape := range escapes {
			s = bytes.TrimSuffix(s, []byte(escape))
		}
	}
	return s
}

// sequence returns the length of the rest of an escape sequence, as ECMA-48 has them: a
// control sequence, or a command of the system such as a link.
func sequence(s []byte) int {
	const longest = 2 << 10
	s = s[:min(len(s), longest)]
	switch {
	case len(s) == 0:
	case s[0] == '[':
		for i, c := range s[1:] {
			if c >= 0x40 {
				return i + 2
			}
			if c < 0x20 {
				break
			}
		}
	case s[0] == ']':
		for i, c := range s {
			if c == '\a' {
				return i + 1
			}
			if c == '\\' && s[i-1] == '\x1b' {
				return i + 1
			}
		}
	}
	return 0
}
