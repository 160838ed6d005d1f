package framepane

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// FuzzTree shows values of any shape, whole or cut off.
func FuzzTree(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],"text":"x\ny","data":"QUJD"}`, `[`, `{"a"`, `{"a":`, `"`, `"\`, `}`, `{"a":{"b":"c`, `[[[[]]]]`, `{1:2}`, `nul`,
		`{"jsonrpc":"b","method":"b","params":{"sessionId":"b","update":{"sessionUpdate":"b","a":"b"},"b":[]}}`, `{"type":"diff","oldText":"a\nb","newText":"a\nc"}`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame := dialect.Frame{Frame: wire.Frame{Kind: wire.Oversized, Raw: raw, Size: int64(len(raw))}}
		frame.Update = "b"
		var p Pane
		p.Show(frame)
		if p.tree == nil {
			return
		}
		for _, width := range []int{1, 20, 80} {
			for y, row := range p.Window(width, 30).Rows {
				if text := termtext.SpansText(row.Spans, false); strings.ContainsAny(text, "\x1b\n\r\t\x00\x7f") {
					t.Fatalf("row %d of %q has control characters: %q", y, raw, text)
				}
			}
			p.Underline([]Place{{-1, string(raw)}, {-1, "a[2].b"}, {0, "b"}, {-1, "method"}})
			checkUnderlines(t, &p, width)
			p.Move(3)
			p.Open()
			checkUnderlines(t, &p, width)
			for _, words := range []string{"b", "a b"} {
				p.Look(page.Phrase(words))
				checkMarks(t, &p, width)
				p.NextMatch(false)
				checkMarks(t, &p, width)
			}
		}
		for i := range p.tree.nodes {
			p.tree.path(int32(i))
			if i > 100 {
				break
			}
		}
	})
}

// checkMarks draws a window and checks that the marks are in its lines, and that the cursor
// is on the current match if there is one.
func checkMarks(t *testing.T, p *Pane, width int) {
	t.Helper()
	w := p.Window(width, 30)
	for y, row := range w.Rows {
		text, current := termtext.SpansText(row.Spans, false), false
		for _, m := range row.Marks {
			if m.From < 0 || m.From >= m.To || m.To > len(text) {
				t.Fatalf("row %d of %q has %q marked from %d to %d", y, p.Frame.Raw, text, m.From, m.To)
			}
			current = current || m.Current
		}
		if at, all := p.Match(); y == w.Cursor && (at > 0) != current || all > 0 && at == 0 {
			t.Fatalf("the cursor is on %q, match %d of %d of %s in %q", text, at, all, p.Words(), p.Frame.Raw)
		}
	}
}

// checkUnderlines draws a window and checks that the underlined parts are in its lines.
func checkUnderlines(t *testing.T, p *Pane, width int) {
	t.Helper()
	for y, row := range p.Window(width, 30).Rows {
		text := termtext.SpansText(row.Spans, false)
		for _, m := range p.Underlines(row) {
			if m.From < 0 || m.From > m.To || m.To > len(text) {
				t.Fatalf("row %d of %q has %q underlined from %d to %d", y, p.Frame.Raw, text, m.From, m.To)
			}
		}
	}
}
