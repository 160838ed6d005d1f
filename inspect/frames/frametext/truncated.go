package frametext

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// parse reads a frame's params or result. If the frame was cut off because it is too long
// to check, parse completes them, so that a summary can show what precedes the cut.
func parse(f *dialect.Frame, raw wire.JSON) wire.Value {
	if f.Kind == wire.Oversized {
		raw = Completed(raw)
	}
	return raw.Value()
}

// Body returns the params of a frame with its bytes or, if it has none, its result.
func Body(f *dialect.Frame) wire.Value {
	e := wire.Scan(f.Raw)
	if f.Kind == wire.Oversized {
		e = wire.ScanPrefix(f.Raw)
	}
	if e.Params != nil {
		return parse(f, e.Params)
	}
	return parse(f, e.Result)
}

// Completed returns truncated JSON with each open string, array and object closed.
func Completed(raw []byte) []byte {
	var ends []byte // closing brackets for what is open, innermost last
	open := false   // the last token is an unterminated string
	r := wire.Reader{Text: raw}
	for token, start := r.Next(); token != wire.NoToken; token, start = r.Next() {
		switch token {
		case '{', '[':
			ends = append(ends, byte(token)+2) // in ASCII each closing bracket is two code points after its opening one
		case '}', ']':
			ends = ends[:max(len(ends)-1, 0)]
		case wire.String:
			open = r.Pos == len(raw) && !closed(raw[start:])
		}
	}
	if open && backslashes(raw)%2 == 1 {
		raw = raw[:len(raw)-1]
	}
	whole := append(make([]byte, 0, len(raw)+1+len(ends)), raw...)
	if open {
		whole = append(whole, '"')
	}
	slices.Reverse(ends)
	return append(whole, ends...)
}

// closed reports whether a string has its closing quote.
func closed(s []byte) bool {
	return len(s) > 1 && s[len(s)-1] == '"' && backslashes(s[:len(s)-1])%2 == 0
}

// backslashes returns the number of backslashes at the end of text.
func backslashes(text []byte) int { return len(text) - len(bytes.TrimRight(text, `\`)) }
