package wire

import (
	"encoding/json"
	"slices"
	"strconv"
)

// JSON returns the bytes for Raw. It writes the marks of HTTP exchanges without
// reflection, byte for byte as encoding/json would, because a relay waits for them
// (BenchmarkExchange in package record).
func (m Marked) JSON() []byte {
	switch {
	case m.HTTP != nil:
		return append(m.HTTP.appendJSON([]byte(`{"http":`)), '}')
	case m.End != nil:
		return append(m.End.appendJSON([]byte(`{"ended":`)), '}')
	}
	return marshal(m)
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("wire: mark: " + err.Error()) // numbers, text and booleans only
	}
	return b
}

func (h *HTTP) appendJSON(b []byte) []byte {
	b = slices.Grow(b, 1<<10)
	b = strconv.AppendUint(append(b, `{"stream":`...), h.Stream, 10)
	if h.Origin != Wire {
		b = appendText(append(b, `,"origin":`...), h.Origin.String())
	}
	b = appendMember(b, "method", h.Method)
	b = appendMember(b, "target", h.Target)
	b = appendMember(b, "protocol", h.Protocol)
	if h.Guessed {
		b = append(b, `,"guessed":true`...)
	}
	b = appendNumber(b, "status", h.Status)
	b = appendHeaders(b, "headers", h.Headers)
	if r := h.Rewritten; r != nil {
		b = append(b, `,"rewritten":{`...)
		inside := len(b)
		b = appendMember(b, "target", r.Target)
		b = appendNumber(b, "status", r.Status)
		b = appendHeaders(b, "headers", r.Headers)
		if len(r.Removed) > 0 {
			b = append(append(b, `,"removed":`...), marshal(r.Removed)...)
		}
		if len(b) > inside { // the first member has no preceding comma
			b = slices.Delete(b, inside, inside+1)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func (e *StreamEnd) appendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"stream":`...), e.Stream, 10)
	if e.Bytes != 0 {
		b = strconv.AppendInt(append(b, `,"bytes":`...), e.Bytes, 10)
	}
	b = appendText(append(b, `,"by":`...), string(e.By))
	b = appendMember(b, "error", e.Error)
	return append(appendHeaders(b, "trailers", e.Trailers), '}')
}

// appendHeaders appends a comma and a member with headers, if there are any.
func appendHeaders(b []byte, name string, all []Header) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i, h := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), h.Name)
		b = appendMember(b, "value", h.Value)
		b = appendNumber(b, "length", h.Length)
		b = appendMember(b, "scheme", h.Scheme)
		if len(h.Cookies) > 0 {
			b = append(append(b, `,"cookies":`...), marshal(h.Cookies)...)
		}
		b = append(appendMember(b, "fingerprint", h.Fingerprint), '}')
	}
	return append(b, ']')
}

// appendMember appends a comma and a text member, unless the text is empty.
func appendMember(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendText(b, text)
}

// appendNumber is appendMember for a number, omitted if 0.
func appendNumber(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, int64(n), 10)
}

// appendText appends a text as JSON.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, marshal(text)...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
