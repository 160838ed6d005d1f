package framepane

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
)

// FuzzTree shows values of any shape, whole or cut off.
func FuzzTree(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],"text":"x\ny","data":"QUJD"}`, `[`, `{"a"`, `{"a":`, `"`, `"\`, `}`, `{"a":{"b":"c`, `[[[[]]]]`, `{1:2}`, `nul`,
		`{"type":"diff","oldText":"a\nb","newText":"a\nc"}`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := newPane(dialect.Frame{}, asTree)
		p.tree = newTree(frametext.Completed(raw))
		if len(p.tree.nodes) == 0 {
			return
		}
		p.Frame.Raw, p.Frame.Size = raw, int64(len(raw))
		for _, width := range []int{1, 20, 80} {
			from, to := p.Window(width, 30)
			for k := from; k < to; k++ {
				for _, s := range p.Spans(k) {
					if strings.ContainsAny(s.Text, "\x1b\n\r\t\x00\x7f") {
						t.Fatalf("line %d of %q has control characters: %q", k, raw, s.Text)
					}
				}
			}
			p.Move(3)
			p.Open()
			p.Find("b", true)
		}
		for i := range p.tree.nodes {
			p.tree.path(int32(i))
			if i > 100 {
				break
			}
		}
	})
}
