package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

var update = flag.Bool("update", false, "rewrite testdata with what is reported")

// A message is the params or the result of a real frame, with the shape that it must have.
type message struct {
	where   string // file and line
	dialect dialect.Dialect
	version string
	method  string
	kind    string // request, notification or result
	task    bool   // the request had a member task
	value   []byte
}

func (m message) String() string {
	return fmt.Sprintf("%s: %s %s %s %s", m.where, m.dialect, m.version, m.method, m.kind)
}

// shape returns nil if there is none.
func (m message) shape() *schema.Shape {
	set := schema.Of(m.dialect, m.version)
	switch {
	case set == nil:
		return nil
	case m.kind != "result":
		return set.Params(m.method, m.kind == "request")
	case m.task:
		return set.TaskResult(m.method)
	}
	return set.Result(m.method)
}

// messages returns the messages of all tapes, and of the conversations that the
// tests of dialect play.
func messages(t testing.TB) []message {
	t.Helper()
	return append(recorded(t), read(t, "proxy/dialect/testdata/*.txt")...)
}

// recorded returns the messages of all tapes.
func recorded(t testing.TB) []message {
	t.Helper()
	return read(t, "testdata/tapes/*.jsonl", "testdata/tapes/dialects/*.jsonl")
}

func read(t testing.TB, patterns ...string) (all []message) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			all = append(all, played(t, file)...)
		}
	}
	return all
}

// played returns the messages of one file for the protocol that the connection speaks at its
// end.
func played(t testing.TB, file string) (all []message) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	task := map[uint64]bool{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		f, ok := frame(line)
		if !ok {
			continue
		}
		f.Seq = uint64(n)
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		a, _ := tracker.Observe(&f, e)
		m := message{where: fmt.Sprintf("%s:%d", filepath.Base(file), n), method: a.Method}
		switch e.Kind {
		case wire.Request:
			m.kind, m.value = "request", e.Params
			task[f.Seq] = len(wire.Get(e.Params, "task")) > 0
		case wire.Notification:
			m.kind, m.value = "notification", e.Params
		case wire.Response:
			m.kind, m.value, m.task = "result", e.Result, task[a.Request]
		}
		if m.value != nil {
			all = append(all, m)
		}
	}
	for i := range all {
		c := tracker.Connection()
		all[i].dialect, all[i].version = c.Dialect, c.Version
	}
	return all
}

// frame reads a line of a tape, or one such as `> {…}`.
func frame(line []byte) (f wire.Frame, ok bool) {
	line = bytes.TrimSpace(line)
	var onTape struct {
		Dir   wire.Direction
		Frame json.RawMessage
	}
	switch {
	case bytes.HasPrefix(line, []byte("> {")):
		f.Raw = line[2:]
	case bytes.HasPrefix(line, []byte("< {")):
		f.Dir, f.Raw = wire.AgentToClient, line[2:]
	case json.Unmarshal(line, &onTape) == nil && onTape.Frame != nil:
		f.Dir, f.Raw = onTape.Dir, onTape.Frame
	default:
		return f, false
	}
	return f, true
}

// problems returns the problems that a check reports, one per line.
func problems(s *schema.Shape, value []byte) (lines []string) {
	s.Check(value, func(p schema.Problem) { lines = append(lines, line(p)) })
	return lines
}

func line(p schema.Problem) string {
	words := []string{p.Kind.String(), p.Path}
	for _, mark := range []struct {
		name string
		set  bool
	}{{"lenient", p.Lenient}, {"unstable", p.Unstable}, {"removed", p.Removed}, {"other", p.Other}} {
		if mark.set {
			words = append(words, mark.name)
		}
	}
	s := strings.Join(words, " ")
	if p.Type != "" {
		s += " of " + p.Type
	}
	if p.Kind == schema.UnknownKey {
		return s
	}
	return s + ": " + p.Got + ", not " + p.Want
}

// TestRealFrames compares what is reported of tapes with a golden file, in which each
// line can be explained. Those of real peers come first: an agent answers a prompt of
// version 2 with a member that no schema has. The others are made up and shortened, or
// of an older state of a draft.
func TestRealFrames(t *testing.T) {
	var got strings.Builder
	for _, m := range recorded(t) {
		if s := m.shape(); s != nil {
			for _, p := range problems(s, m.value) {
				fmt.Fprintf(&got, "%v: %s\n", m, p)
			}
		}
	}
	golden := filepath.Join("testdata", "real-frames.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got, -update rewrites):\n%s", diff)
	}
}
