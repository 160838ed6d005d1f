package framepane

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// largest is about the size of the largest frame that is read whole.
const largest = wire.MaxChecked - 64

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
func lookAt(raw string, form Form) (found bool) {
	f := dialect.Frame{Frame: wire.Frame{Kind: wire.Notification, Raw: []byte(raw), Size: int64(len(raw))}}
	p := Pane{Form: form}
	p.Show(f)
	p.Window(80, 40)
	p.Look(page.Phrase("b"))
	p.Window(80, 40)
	at, _ := p.Match()
	return at > 0
}

func TestLargeFrames(t *testing.T) {
	size := largest
	if testing.Short() {
		size /= 16
	}
	for _, tt := range shapes(size) {
		for _, form := range []Form{asTree, asRaw} {
			if !lookAt(tt.raw, form) {
				t.Errorf("%s, %s: did not find b", tt.name, form)
			}
		}
	}
}

func BenchmarkLargeFrames(b *testing.B) {
	for _, tt := range shapes(largest) {
		for _, form := range []Form{asTree, asRaw} {
			b.Run(tt.name+"/"+form.String(), func(b *testing.B) {
				for b.Loop() {
					lookAt(tt.raw, form)
				}
			})
		}
	}
}
