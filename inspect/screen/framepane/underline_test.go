package framepane

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// TestUnderline: a wrong value is underlined or, if it is missing, the value that should
// contain it.
func TestUnderline(t *testing.T) {
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","content":[{"type":"text"},{"type":"diff","a.b":1}],"method":"m"},"_meta":{"c":2}}}`
	const batch = `[{"jsonrpc":"2.0","id":1,"result":{"a":1}},{"jsonrpc":"2.0","id":2,"result":{"a":2}}]`
	const failed = `{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}`
	for _, tt := range []struct {
		name, raw string
		entry     int
		path      string
		want      []string
	}{
		{"a member", update, -1, "update.content[1].type", []string{`type: "diff"`}},
		{"a quoted name", update, -1, `update.content[1]["a.b"]`, []string{"a.b: 1"}},
		{"a name of the envelope below", update, -1, "update.method", []string{`method: "m"`}},
		{"beside the envelope", update, -1, "_meta.c", []string{"c: 2"}},
		{"in the envelope", update, -1, "method", []string{`method "session/update"`}},
		{"in the envelope, by its path", update, -1, "update.sessionUpdate", []string{`sessionUpdate "tool_call"`}},
		{"missing in an element", update, -1, "update.content[0].text", []string{"0: {"}},
		{"no such element", update, -1, "update.content[7].text", []string{"content: ["}},
		{"missing in what has no line", update, -1, "update.title", nil},
		{"missing in the message", failed, -1, "result", nil},
		{"all of it", update, -1, "", nil},
		{"of an error", failed, -1, "error.code", []string{"code: -1"}},
		{"of an entry", batch, 1, "a", []string{"a: 2"}},
		{"of no entry", batch, 2, "a", nil},
		{"no JSON", "log line", -1, "a", nil},
		{"odd paths", failed, -1, `error["`, []string{"error: {"}},
		{"odd names", failed, -1, `error[`, []string{"error: {"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := dialect.Frame{Frame: wire.Frame{Seq: 1, Raw: []byte(tt.raw), Size: int64(len(tt.raw))}}
			f.Kind, f.Update = wire.Notification, "tool_call"
			if tt.raw == "log line" {
				f.Kind = wire.Invalid
			}
			var p Pane
			p.Show(f)
			p.Underline([]Place{{tt.entry, tt.path}})
			if got := underlinedTexts(&p); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestUnderlineFolded: if a value is folded away, the folded value around it is underlined;
// it can be revealed on request.
func TestUnderlineFolded(t *testing.T) {
	raw := `{"jsonrpc":"2.0","method":"x","params":{"a":[` + strings.Repeat("0,", 100) + `{"b":1}]}}`
	var p Pane
	p.RevealUnderlined(7)
	p.Show(dialect.Frame{Frame: wire.Frame{Seq: 7, Kind: wire.Notification, Raw: []byte(raw), Size: int64(len(raw))}})
	p.Underline([]Place{{-1, "a[100].b"}})
	if got := underlinedTexts(&p); !slices.Equal(got, []string{"b: 1"}) {
		t.Errorf("got %q, want b in the window", got)
	}
	p.Close() // to the object
	p.Window(80, 20)
	p.Close()
	if got := underlinedTexts(&p); !slices.Equal(got, []string{"100: { … 1 }"}) {
		t.Errorf("folded: got %q, want the object", got)
	}
	p.Underline(nil)
	if got := underlinedTexts(&p); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

// underlinedTexts returns the underlined texts in a window.
func underlinedTexts(p *Pane) (texts []string) {
	for _, row := range p.Window(80, 20).Rows {
		text := termtext.SpansText(row.Spans, false)
		for _, m := range p.Underlines(row) {
			texts = append(texts, text[m.From:m.To])
		}
	}
	return texts
}
