package replay_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// portableFile makes the portable form of lines such as `c {…}`, a frame of the client,
// `a {…}`, one of the agent, and `! …`, a line of the portable form.
func portableFile(t testing.TB, lines string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(lines) {
		kind, frame, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		switch kind {
		case "c":
			b.WriteString(`{"dir":"c2a","frame":` + frame + "}\n")
		case "a":
			b.WriteString(`{"dir":"a2c","frame":` + frame + "}\n")
		case "!":
			b.WriteString(frame + "\n")
		default:
			t.Fatalf("line %q", line)
		}
	}
	return b.String()
}

// tapeOf reads a tape from such lines.
func tapeOf(t testing.TB, lines string) *record.Tape {
	t.Helper()
	tape, err := record.ReadPortable(strings.NewReader(portableFile(t, lines)), "tape")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

func openTape(t testing.TB, path string) *record.Tape {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// said returns what one side has written.
func said(t testing.TB, tape *record.Tape, dir wire.Direction) []byte {
	t.Helper()
	var b bytes.Buffer
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Dir == dir && f.Kind != wire.Mark {
			b.Write(f.Raw)
			b.WriteString(f.End.Bytes())
		}
	}
	return b.Bytes()
}

// tapes returns the files of all recorded tapes.
func tapes(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"testdata", "../testdata/tapes"} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	return all
}
