package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	shortestEncoded = 20 // length of the decoded text; fewer characters cannot have a name and its secret
	shortestLine    = 60 // length of base64 that continues on the next line
)

// encoded looks for base64 of text that has secrets.
func (s *search) encoded() {
	t := s.text
	for i := 0; i+shortestEncoded <= len(t); {
		from := i
		i += shortestEncoded
		begin := i
		for begin > from && base64Bytes[t[begin-1]] {
			begin--
		}
		if begin > from {
			i = begin
			continue
		}
		code, to := encodedRun(t, from)
		if text := decoded(code); text != nil && !bytes.Equal(redactDecoded(text), text) {
			s.add(from, to)
		}
		i = to
	}
}

// encodedRun returns the base64 that begins at t[i], without line ends, and where it ends.
func encodedRun(t []byte, i int) (code []byte, end int) {
	from := i
	for i < len(t) && base64Bytes[t[i]] {
		i++
	}
	code = slices.Clip(t[from:i])
	for line := i - from; line >= shortestLine; {
		next := i + len(t[i:]) - len(bytes.TrimLeft(t[i:min(len(t), i+2)], "\r\n")) - len(t[min(len(t), i+2):])
		from = next
		for next < len(t) && base64Bytes[t[next]] {
			next++
		}
		if line = next - from; from == i || line == 0 {
			break
		}
		code, i = append(code, t[from:next]...), next
	}
	for n := 0; n < 2 && i < len(t) && t[i] == '='; n++ {
		i++
	}
	return code, i
}

// decoded returns the text encoded in base64 in either alphabet of RFC 4648, without
// padding, or nil if that is not text. It looks at the beginning first: images are long.
func decoded(code []byte) []byte {
	const some = 32
	if len(code) > some {
		if b, err := encodingOf(code[:some]).AppendDecode(nil, code[:some]); err != nil || !isText(b[:len(b)-utf8.UTFMax], false) {
			return nil
		}
	}
	b, err := encodingOf(code).AppendDecode(nil, code)
	if err != nil || !isText(b, true) {
		return nil
	}
	return b
}

func encodingOf(code []byte) *base64.Encoding {
	if bytes.ContainsAny(code, "-_") {
		return base64.RawURLEncoding
	}
	return base64.RawStdEncoding
}

// isText reports whether bytes are text without control characters. The beginning of one may
// end within a character.
func isText(b []byte, whole bool) bool {
	for _, c := range b {
		if c < ' ' && strings.IndexByte("\t\r\n\x1b", c) < 0 || c == 0x7f {
			return false
		}
	}
	return !whole || utf8.Valid(b)
}

// recoded returns the text of a member that is always base64, in MCP and ACP, with its
// decoded text redacted; ok is false if that is not text, or has no secret.
func recoded(name string, text []byte) (now []byte, ok bool) {
	code := bytes.TrimRight(text, "=")
	if name != "blob" && name != "data" || len(code) < shortestEncoded || bytes.ContainsFunc(code[:shortestEncoded], func(c rune) bool { return c >= 0x80 || !base64Bytes[byte(c)] }) {
		return nil, false
	}
	was := decoded(code)
	if was == nil {
		return nil, false
	}
	plain := redactDecoded(was)
	if bytes.Equal(plain, was) {
		return nil, false
	}
	encoding := encodingOf(code)
	if len(text)%4 == 0 {
		encoding = encoding.WithPadding(base64.StdPadding)
	}
	return encoding.AppendEncode(nil, plain), true
}

// redactDecoded redacts a decoded text. It may contain base64 again, each time a quarter
// shorter.
func redactDecoded(text []byte) []byte { return new(redactor).nested(text) }
