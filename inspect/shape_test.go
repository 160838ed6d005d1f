package inspect

import (
	"strings"
	"testing"
	"time"
)

// TestLargeFrames shows frames of the largest size that is read, in the shapes
// that make the most lines.
func TestLargeFrames(t *testing.T) {
	const size = 1 << 20
	tests := []struct{ name, raw string }{
		{"numbers", "[" + strings.Repeat("0,", size/2) + `"b"]`},
		{"members", "{" + strings.Repeat(`"a":0,`, size/6) + `"b":1}`},
		{"blobs", "{" + strings.Repeat(`"data":"`+strings.Repeat("QUJD", 40)+`",`, size/180) + `"b":1}`},
		{"diffs", `{"oldText":"a",` + strings.Repeat(`"newText":"b\n",`, size/16) + `"b":1}`},
		{"one text", `"` + strings.Repeat("word ", size/5) + `b"`},
		{"one line", `"` + strings.Repeat("x", size) + `b"`},
		{"lines", `"` + strings.Repeat(`a\n`, size/3) + `b"`},
		{"deep", strings.Repeat(`{"a":`, 10_000) + `"b"` + strings.Repeat("}", 10_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			p := pane{tree: newTree([]byte(tt.raw)), fold: map[int32]bool{}, whole: map[int32]bool{}}
			p.frame.Raw, p.frame.Size = []byte(tt.raw), int64(len(tt.raw))
			from, to := p.window(80, 40)
			for k := from; k < to; k++ {
				p.spans(k)
			}
			if !p.find("b", true) {
				t.Error("did not find b")
			}
			if took := time.Since(began); took > 2*time.Second { // a tenth of that; the race detector is slow
				t.Errorf("took %v", took)
			}
		})
	}
}
