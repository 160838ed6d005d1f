package termtext

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// AppendQuoted appends text as a JSON string that cannot control a terminal. Bytes that are
// not UTF-8 become U+FFFD.
func AppendQuoted(b, text []byte) []byte {
	return append(AppendInQuotes(append(b, '"'), text), '"')
}

// AppendInQuotes is AppendQuoted without the quotes. It works piece by piece, so that a
// long text takes little more memory than its copy.
func AppendInQuotes(b, text []byte) []byte {
	const maxPiece = 32 << 10
	b = slices.Grow(b, len(text)+len(text)/8)
	for len(text) > maxPiece {
		end := maxPiece
		for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(text[end]) { // do not split a character
			end--
		}
		b, text = appendPiece(b, text[:end]), text[end:]
	}
	return appendPiece(b, text)
}

func appendPiece(b, text []byte) []byte {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic("termtext: " + err.Error()) // cannot happen with a string
	}
	return append(b, JSON(q[1:len(q)-1])...)
}

// JSON returns the same JSON value as one line that cannot control a terminal: line breaks
// between values become blanks, other control characters escapes. If nothing has to change
// it returns b itself.
func JSON(b []byte) []byte {
	var out []byte
	done := 0 // bytes of b that were copied to out or dropped
	for i := 0; i < len(b); {
		if c := b[i]; ' ' <= c && c <= '~' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		broken := r == utf8.RuneError && n == 1
		if Controls(r) || broken {
			out = append(out, b[done:i]...)
			if r == '\n' || r == '\r' { // only between values
				out = append(out, ' ')
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}
