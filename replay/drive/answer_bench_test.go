package drive

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/replay/internal/remap"
)

// BenchmarkFiles is the time of one read of many files in another directory than
// that of the tape.
func BenchmarkFiles(b *testing.B) {
	for _, n := range []int{100, 5_000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			var dirs remap.PathMap
			dirs.Learn("/w/rec", "/another/place")
			read := func(dir string, i int) []byte { return fmt.Appendf(nil, `{"sessionId":"s","path":"%s/%d.go"}`, dir, i) }
			for b.Loop() {
				var a answers
				for i := range n {
					a.add(&recordedRequest{method: "fs/read_text_file", params: read("/w/rec", i), answer: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":"x"}}`)})
				}
				for i := range n {
					q := question{id: []byte("1"), method: "fs/read_text_file", params: read("/another/place", n-1-i), paths: &dirs}
					if r := a.to(&q); r.note != "" {
						b.Fatal(r.note)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/read")
		})
	}
}
