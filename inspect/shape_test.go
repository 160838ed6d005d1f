package inspect

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// shapes are frames of about that many bytes, in the shapes that make the most
// lines.
func shapes(size int) []struct{ name, raw string } {
	return []struct{ name, raw string }{
		{"numbers", "[" + strings.Repeat("0,", size/2) + `"b"]`},
		{"members", "{" + strings.Repeat(`"a":0,`, size/6) + `"b":1}`},
		{"blobs", "{" + strings.Repeat(`"data":"`+strings.Repeat("QUJD", 40)+`",`, size/180) + `"b":1}`},
		{"diffs", `{"oldText":"a",` + strings.Repeat(`"newText":"b\n",`, size/16) + `"b":1}`},
		{"one text", `"` + strings.Repeat("word ", size/5) + `b"`},
		{"one line", `"` + strings.Repeat("x", size) + `b"`},
		{"wide line", `"` + strings.Repeat("é", size/2) + `b"`},
		{"lines", `"` + strings.Repeat(`a\n`, size/3) + `b"`},
		{"deep", strings.Repeat(`{"a":`, 10_000) + `"b"` + strings.Repeat("}", 10_000)},
	}
}

// lookAt draws the first window of a frame, and searches to its end.
func lookAt(raw string, form paneForm) (found bool) {
	p := pane{form: form, tree: newTree([]byte(raw)), fold: map[int32]bool{}, whole: map[int32]bool{}}
	p.frame.Raw, p.frame.Size = []byte(raw), int64(len(raw))
	from, to := p.window(80, 40)
	for k := from; k < to; k++ {
		p.spans(k)
	}
	return p.find("b", true)
}

func TestLargeFrames(t *testing.T) {
	size := wire.MaxChecked // as large as is read
	if testing.Short() {
		size /= 16
	}
	for _, tt := range shapes(size) {
		for _, form := range []paneForm{asTree, asRaw} {
			if !lookAt(tt.raw, form) {
				t.Errorf("%s, %s: did not find b", tt.name, paneNames[form])
			}
		}
	}
}

func BenchmarkLargeFrames(b *testing.B) {
	for _, tt := range shapes(wire.MaxChecked) {
		for _, form := range []paneForm{asTree, asRaw} {
			b.Run(tt.name+"/"+paneNames[form], func(b *testing.B) {
				for b.Loop() {
					lookAt(tt.raw, form)
				}
			})
		}
	}
}
