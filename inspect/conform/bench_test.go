package conform_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// BenchmarkCheck: what one core judges of a long tape. The tape is a real one whose
// turn comes again and again, with tool calls of its own each time.
func BenchmarkCheck(b *testing.B) {
	isShape := func(r *conform.Rule) bool {
		return strings.HasPrefix(r.ID, "ACP00") || strings.HasPrefix(r.ID, "MCP00")
	}
	frames, size := longTape(b, 1000)
	for _, bench := range []struct {
		name  string
		rules []*conform.Rule
	}{
		{"all", conform.Rules()},
		{"without shapes", slices.DeleteFunc(conform.Rules(), isShape)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				c := conform.NewChecker(conform.Options{Beginning: true, Rules: bench.rules})
				for i := range frames {
					c.Add(&frames[i])
				}
				c.End()
			}
			b.ReportMetric(float64(len(frames)*b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

var callID = regexp.MustCompile(`"toolCallId":"[^"]*`)

// longTape returns the frames of a tape on which a client prompts again and again,
// and how many bytes they have.
func longTape(tb testing.TB, turns int) (frames []dialect.Frame, size int64) {
	tb.Helper()
	file, err := os.Open("../../testdata/tapes/acpx-exec.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	tape, err := record.ReadPortable(file, file.Name())
	if err != nil {
		tb.Fatal(err)
	}
	var before, turn []dialect.Frame
	for f, err := range tape.Frames(1) {
		if err != nil {
			tb.Fatal(err)
		}
		f.Raw = slices.Clone(f.Raw)
		switch {
		case f.Method == "session/prompt" || len(turn) > 0 && !turn[len(turn)-1].Events.Has(dialect.TurnEnded):
			turn = append(turn, f)
		case len(turn) == 0:
			before = append(before, f)
		}
	}
	frames = before
	for n := range turns {
		for _, f := range turn {
			f.Raw = callID.ReplaceAll(f.Raw, fmt.Appendf(nil, "$0-%d", n))
			f.Seq = uint64(len(frames) + 1)
			frames = append(frames, f)
			size += int64(len(f.Raw))
		}
	}
	return frames, size
}
