package compare_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// Two conversations are the same even if only one still has its secrets.
func TestCompareRedacted(t *testing.T) {
	whole := replaytest.Tape(t, replaytest.Secrets)
	without := replaytest.Redacted(t, whole)
	other := replaytest.Tape(t, strings.ReplaceAll(replaytest.Secrets, "the key is", "the keys are"))
	for _, level := range []compare.Level{compare.Shape, compare.Content, compare.Exact} {
		for _, pair := range [][2]*record.Tape{{whole, without}, {without, whole}} {
			d, err := compare.Tapes(compare.Side{Tapes: []*record.Tape{pair[0]}}, compare.Side{Tapes: []*record.Tape{pair[1]}}, level)
			var text strings.Builder
			d.WriteUnified(&text, "a", "b")
			if err != nil || !d.Same() {
				t.Errorf("%v: got %v, %s", level, err, &text)
			}
		}
		d, err := compare.Tapes(compare.Side{Tapes: []*record.Tape{without}}, compare.Side{Tapes: []*record.Tape{other}}, level)
		if err != nil || d.Same() != (level == compare.Shape) {
			t.Errorf("%v: another text is the same: %v, %v", level, d.Same(), err)
		}
	}
}
