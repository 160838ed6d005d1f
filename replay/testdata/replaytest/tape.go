// Package replaytest has what the tests of several packages of replay need: tapes,
// recorded and made up, and the means to write an agent in a few lines.
package replaytest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Portable makes the portable form of lines such as `c {…}`, a frame of the client,
// `a {…}`, one of the agent, and `! …`, a line of the portable form.
func Portable(t testing.TB, lines string) string {
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

// Tape reads a tape from such lines.
func Tape(t testing.TB, lines string) *record.Tape {
	t.Helper()
	tape, err := record.ReadPortable(strings.NewReader(Portable(t, lines)), "tape")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

func Open(t testing.TB, path string) *record.Tape {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// Said returns what one side has written.
func Said(t testing.TB, tape *record.Tape, dir wire.Direction) []byte {
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

// TapeFile returns the path of a recorded tape.
func TapeFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) { // tests run in the directory of their package
		path := filepath.Join(dir, "testdata", "tapes", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("there is no tape %s", name)
		}
	}
}

// Recorded returns the files of all tapes that were recorded from real agents.
func Recorded(t testing.TB) []string { return files(t, ".") }

func files(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(TapeFile(t, dir), "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got tapes %v, %v", paths, err)
	}
	return paths
}

// Dialects returns the tapes that were made by hand from the protocols'
// texts, one for each dialect and proposal, by name.
func Dialects(t testing.TB) map[string][]byte {
	t.Helper()
	tapes := make(map[string][]byte)
	for _, path := range files(t, "dialects") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tapes[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = text
	}
	return tapes
}

func Read(t testing.TB, text []byte) *record.Tape {
	t.Helper()
	tape, err := record.ReadPortable(bytes.NewReader(text), "tape")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}
