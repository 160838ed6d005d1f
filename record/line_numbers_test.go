package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// A frame is found again in the file that it was read from.
func TestLine(t *testing.T) {
	const line = `"dir":"c2a","text":"x"}`
	for _, tt := range []struct {
		name, file string
		want       []int // by frame
	}{
		{"with a header", `{"acptap":1}` + "\n{" + line + "\n{" + line, []int{2, 3}},
		{"without", "{" + line + "\n{" + line, []int{1, 2}},
		{"blank lines", "\n{" + line + "\n\n\n{" + line + "\n{" + line, []int{2, 5, 6}},
		{"numbers that jump", `{"seq":3,` + line + "\n" + `{"seq":7,` + line, []int{0, 0, 1, 2, 3, 4, 2}},
		{"a line with two frames", `{"dir":"c2a","text":"x\ny"}` + "\n{" + line, []int{1, 1, 2}},
		{"no lines", `{"version":1,"session":{"startedAt":1e12},"messages":[{"timestamp":1e12,"direction":"editor-to-agent","raw":"{}"}]}`, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tape, err := record.ReadPortable(strings.NewReader(tt.file), "file")
			if err != nil {
				t.Fatal(err)
			}
			there := map[uint64]bool{}
			for f, err := range tape.Frames(1) {
				if err != nil {
					t.Fatal(err)
				}
				there[f.Seq] = true
			}
			for i, want := range tt.want {
				if got := tape.Line(uint64(i + 1)); there[uint64(i+1)] && got != want {
					t.Errorf("frame %d: got line %d, want %d", i+1, got, want)
				}
			}
			if len(there) == 0 || slices.Max(tt.want) > 0 && tape.Line(1) > 2 {
				t.Errorf("%d frames, the first in line %d", len(there), tape.Line(1))
			}
		})
	}
}

// The line of a frame in the store is the one that it is exported to.
func TestLineInTheStore(t *testing.T) {
	s := record.OpenStore(t.TempDir())
	id, err := s.Import(strings.NewReader(`{"dir":"c2a","text":"first"}`+"\n\n"+`{"dir":"a2c","text":"second"}`), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tape.Export(&b, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if n := tape.Line(2); n > len(lines) || !strings.Contains(lines[n-1], "second") {
		t.Errorf("got line %d of\n%s", n, b.String())
	}
}
