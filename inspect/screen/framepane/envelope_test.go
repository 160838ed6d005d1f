package framepane

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// shownFrame returns a pane with a frame, drawn once.
func shownFrame(raw, update string) *Pane {
	e := wire.Scan([]byte(raw))
	f := dialect.Frame{Frame: wire.Frame{Seq: 1, Kind: e.Kind, Raw: []byte(raw), Size: int64(len(raw))}}
	f.Update = update
	p := &Pane{}
	p.Show(f)
	p.Window(80, 40)
	return p
}

// shownText returns the drawn text.
func shownText(p *Pane) string {
	var b strings.Builder
	for _, row := range p.Window(80, 40).Rows {
		b.WriteString(termtext.SpansText(row.Spans, false) + "\n")
	}
	return b.String()
}

func TestEnvelope(t *testing.T) {
	for _, tt := range []struct{ name, raw, update, want string }{
		{"update", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","kind":"read","locations":[{"path":"/a"}]},"_meta":{"a":1}}}`, "tool_call", `
▸ jsonrpc "2.0" · method "session/update" · sessionId "s" · sessionUpdate "tool_call"
kind: "read"
locations: [
  0: {
    path: "/a"
  }
]
params._meta: {
  a: 1
}
`},
		{"request", `{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"},"more":true}`, "", `
▸ jsonrpc "2.0" · id 7 · method "fs/read_text_file" · sessionId "s"
path: "/a"
more: true
`},
		{"response, the id behind", `{"result":{"stopReason":"end_turn"},"id":"7"}`, "", `
▸ id "7"
stopReason: "end_turn"
`},
		{"error", `{"jsonrpc":"2.0","id":7,"error":{"code":-1}}`, "", `
▸ jsonrpc "2.0" · id 7
error: {
  code: -1
}
`},
		{"only a session", `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, "", `
▸ jsonrpc "2.0" · method "session/cancel"
sessionId: "s"
`},
		{"an empty result", `{"jsonrpc":"2.0","id":7,"result":{}}`, "", `
▸ jsonrpc "2.0" · id 7
result: {}
`},
		{"nothing in it", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "", `
{
  jsonrpc: "2.0"
  id: 7
  method: "ping"
}
`},
		{"an object as id", `{"id":{"a":1},"method":"x","params":[1]}`, "", `
▸ method "x"
id: {
  a: 1
}
params: [
  0: 1
]
`},
		{"a batch", `[{"id":1,"method":"x"}]`, "", `
[
  0: {
    id: 1
    method: "x"
  }
]
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := "\n" + shownText(shownFrame(tt.raw, tt.update)); got != tt.want {
				t.Errorf("got%s\nwant%s", got, tt.want)
			}
		})
	}
}

// TestEnvelopeUnfolds: one key shows the whole frame, it stays unfolded for the next frame,
// and paths are those of the whole frame.
func TestEnvelopeUnfolds(t *testing.T) {
	const raw = `{"jsonrpc":"2.0","id":7,"method":"x","params":{"sessionId":"s","a":{"b":1}}}`
	p := shownFrame(raw, "")
	if v, _ := p.Value(); v.Path != "params.a" {
		t.Errorf("the cursor begins on %s, want params.a", v.Path)
	}
	p.Move(1)
	if v, _ := p.Value(); v.Path != "params.a.b" || v.Text != "1" {
		t.Errorf("got %s, want params.a.b", v.Path)
	}
	p.Move(-5)
	if v, _ := p.Value(); v.Path != "@this" {
		t.Errorf("the envelope has the path %s, want @this", v.Path)
	}
	p.Open()
	p.Window(80, 40)
	const whole = `▾ {
  jsonrpc: "2.0"
  id: 7
  method: "x"
  params: {
    sessionId: "s"
    a: {
      b: 1
    }
  }
}
`
	if got := shownText(p); got != whole {
		t.Errorf("got\n%s\nwant\n%s", got, whole)
	}
	p.Show(p.Frame)
	if got := shownText(p); got != whole {
		t.Errorf("the next frame: got\n%s\nwant\n%s", got, whole)
	}
	p.Open()
	if got := shownText(p); !strings.HasPrefix(got, "▸") {
		t.Errorf("folded again: got\n%s", got)
	}
}

// TestEnvelopeIsSearched: words in the envelope are found, and shown.
func TestEnvelopeIsSearched(t *testing.T) {
	p := shownFrame(`{"jsonrpc":"2.0","id":7,"method":"x","params":{"sessionId":"s","a":1}}`, "")
	p.Look(page.Phrase("sessionid"))
	w := p.Window(80, 40)
	if marks := w.Rows[0].Marks; w.Cursor != 0 || len(marks) != 1 || !marks[0].Current {
		t.Errorf("the cursor is on line %d, and the marks are %v, want one in the envelope", w.Cursor, marks)
	}
	p.Window(40, 40) // where the line has no room
	p.NextMatch(true)
	if v, _ := p.Value(); v.Path != "params.sessionId" {
		t.Errorf("got %s, want params.sessionId", v.Path)
	}
}

// TestKeysBeforeDrawing: keys may come before a frame is drawn.
func TestKeysBeforeDrawing(t *testing.T) {
	p := shownFrame(`{"jsonrpc":"2.0","method":"x","params":{"list":[1,2]}}`, "")
	want := shownText(p)
	p.Switch()
	for range 2 { // back to the tree
		p.Switch()
	}
	p.Open()
	p.Close()
	if got := shownText(p); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
