package termtext

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// AppendQuoted appends text as a JSON string in which nothing can control a
// terminal. What is no UTF-8 becomes U+FFFD.
func AppendQuoted(b, text []byte) []byte {
	return append(AppendInQuotes(append(b, '"'), text), '"')
}

// AppendInQuotes is AppendQuoted without the quotes. It works piece by piece, so
// that a long text takes little more memory than its copy.
func AppendInQuotes(b, text []byte) []byte {
	const maxPiece = 32 << 10
	b = slices.Grow(b, len(text)+len(text)/8)
	for len(text) > maxPiece {
		end := maxPiece
		for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(text[end]) { // no piece ends within a character
			end--
		}
		b, text = appendPiece(b, text[:end]), text[end:]
	}
	return appendPiece(b, text)
}

func appendPiece(b, text []byte) []byte {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic("termtext: " + err.Error()) // a string always can
	}
	return append(b, JSON(q[1:len(q)-1])...)
}

// JSON returns a value in JSON as one line in which nothing can control a
// terminal: a line break between values becomes a blank, all else an escape. It
// stays the same value. Where there is nothing to change it is b itself.
func JSON(b []byte) []byte {
	var out []byte
	done := 0 // bytes of b that are in out, or were left out
	for i := 0; i < len(b); {
		if c := b[i]; ' ' <= c && c <= '~' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		broken := r == utf8.RuneError && n == 1
		if Controls(r) || broken {
			out = append(out, b[done:i]...)
			if r == '\n' || r == '\r' { // these stand between values only
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
