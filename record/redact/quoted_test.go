package redact_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

const aFrame = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"m","env":[{"name":"A","value":"open\"sesame"},{"name":"PIN","value":"7"}]}],"apiKey":"tr0ub4dor"}}`

// A quotation from a frame is as secret as the original.
func TestQuoted(t *testing.T) {
	frame := redact.Bytes{Kind: wire.Request, Raw: []byte(aFrame)}
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"asked with cwd /w, 7 ms later", "asked with cwd /w, 7 ms later"},
		{`"tr0ub4dor"`, "[redacted]"},
		{"7", "[redacted]"},
		{`"7"`, "[redacted]"},
		{"said tr0ub4dor twice: tr0ub4dor", "said [redacted] twice: [redacted]"},
		{`{"value":"open\"sesame"}`, `{"value":"[redacted]"}`},
		{`the value is open"sesame`, "the value is [redacted]"},
		{`"tr0ub…`, `"[redacted]…`},
		{`{"a":"open\"ses…" and more`, `{"a":"[redacted]…" and more`},
		{"tro…", "tro…"},
		{"Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [redacted]"},
	} {
		if got := redact.Quoted(tt.text, frame); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := redact.Quoted("said tr0ub4dor"); got != "said tr0ub4dor" {
		t.Errorf("of no frame: got %q", got)
	}
}

// Who quotes a whole frame says nothing that is removed from it, whatever its bytes are.
func FuzzQuoted(f *testing.F) {
	f.Add([]byte(aFrame))
	f.Add([]byte("PASSWORD=hunter2abc curl -H 'Authorization: Bearer abcdefgh12345678'"))
	f.Add([]byte(`[{"method":"authenticate","params":{"a":12345,"b":["x\u0000yz1"]}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame := redact.Bytes{Kind: wire.Scan(raw).Kind, Raw: raw}
		now := string(redact.Frame(frame.Kind, raw))
		quoted := redact.Quoted("it said "+string(raw), frame)
		for _, word := range strings.FieldsFunc(string(raw), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }) {
			if len(word) >= 4 && !strings.Contains(now, word) && strings.Contains(quoted, word) {
				t.Errorf("of %q: got %q, want nothing of %q", raw, quoted, word)
			}
		}
	})
}

// TestQuotedHead: most of an HTTP head is exported, but not the id of a session, with which
// anyone could continue it, nor credentials.
func TestQuotedHead(t *testing.T) {
	head := wire.Marked{HTTP: &wire.HTTP{Stream: 1, Method: "POST", Target: "/mcp?key=k-1234567", Headers: []wire.Header{
		{Name: "Accept", Value: "application/json"},
		{Name: "Authorization", Value: "Bearer abcdefgh"},
		{Name: "Mcp-Session-Id", Value: "7c1e9a7f"},
	}}}.JSON()
	got := redact.Quoted("Accept application/json, Bearer abcdefgh, 7c1e9a7f", redact.Bytes{Kind: wire.Mark, Raw: head})
	if want := "Accept application/json, [redacted], [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
