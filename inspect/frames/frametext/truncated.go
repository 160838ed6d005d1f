package frametext

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// parse reads the params or the result of a frame. A frame that is too long to check was
// cut off, most likely in there: parse completes it, so that a summary can say what
// precedes the cut.
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

// Completed returns JSON that was cut off with an end to each string, array and
// object in it.
func Completed(raw []byte) []byte {
	var ends []byte // of what is open, the innermost last
	open := false   // the last token is a string without an end
	r := wire.Reader{Text: raw}
	for token, start := r.Next(); token != wire.NoToken; token, start = r.Next() {
		switch token {
		case '{', '[':
			ends = append(ends, byte(token)+2) // in ASCII each closing bracket is two after the opening one
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

// closed reports whether a string has its second quote.
func closed(s []byte) bool {
	return len(s) > 1 && s[len(s)-1] == '"' && backslashes(s[:len(s)-1])%2 == 0
}

// backslashes returns how many backslashes text ends with.
func backslashes(text []byte) int { return len(text) - len(bytes.TrimRight(text, `\`)) }
