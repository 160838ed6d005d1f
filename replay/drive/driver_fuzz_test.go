package drive

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// Whatever is on a tape, and whatever an agent sends, the client continues, and a tape equals
// itself.
func FuzzClient(f *testing.F) {
	for _, path := range replaytest.Recorded(f) {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 16<<10 { // longer ones take the fuzzer long
			f.Add(string(b), agentLines(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, file, agent string) {
		tape, err := record.ReadPortable(strings.NewReader(file), "fuzz")
		if err != nil {
			return
		}
		side := compare.Side{Tapes: []*record.Tape{tape}}
		for _, level := range []compare.Level{compare.Shape, compare.Content, compare.Exact} {
			if diff, err := compare.Tapes(side, side, level); err == nil && !diff.Same() {
				t.Errorf("%v: differs from itself: %v", level, diff)
			}
		}
		plans, err := readPlans(side.Tapes, "", true)
		if err != nil {
			return
		}
		known := remap.NewAgentMap("/somewhere/else")
		for _, p := range plans {
			a := &agentProcess{input: proxy.NewPipe()}
			d := newDriver(p, known, a, &Report{})
			d.advance()
			for line := range strings.Lines(agent) {
				d.receive([]byte(strings.TrimRight(line, "\n")))
				d.advance()
			}
			a.input.End()
			said, _ := io.ReadAll(a.input)
			for line := range bytes.Lines(said) {
				if !wire.IsJSON(line) {
					t.Errorf("sent %q", line)
				}
			}
		}
	})
}

// agentLines returns what the agent of a tape wrote.
func agentLines(f *testing.F, path string) string {
	tape, err := record.OpenFile(path)
	if err != nil {
		f.Fatal(err)
	}
	var b strings.Builder
	for frame, err := range tape.Frames(1) {
		if err != nil {
			f.Fatal(err)
		}
		if frame.Dir.String() == "a2c" {
			b.Write(frame.Raw)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
