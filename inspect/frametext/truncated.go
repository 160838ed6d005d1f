package frametext

import (
	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// parse reads the params or the result of a frame. A frame that is too long to
// be checked was cut off, most likely in there: that is closed where it ends, so
// that what stands before the cut can be told.
func parse(f *dialect.Frame, raw []byte) gjson.Result {
	if f.Kind == wire.Oversized {
		raw = Completed(raw)
	}
	return gjson.ParseBytes(raw)
}

// Body returns the params of a frame with its bytes or, if it has none, its result.
func Body(f *dialect.Frame) gjson.Result {
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
	inString, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			inString, escaped = c != '"', c == '\\'
		case c == '"':
			inString = true
		case c == '{', c == '[':
			ends = append(ends, c+2) // in ASCII both ends stand two behind
		case (c == '}' || c == ']') && len(ends) > 0:
			ends = ends[:len(ends)-1]
		}
	}
	if escaped {
		raw = raw[:len(raw)-1]
	}
	whole := append(make([]byte, 0, len(raw)+1+len(ends)), raw...)
	if inString {
		whole = append(whole, '"')
	}
	for i := len(ends) - 1; i >= 0; i-- {
		whole = append(whole, ends[i])
	}
	return whole
}
