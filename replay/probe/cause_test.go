package probe

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// TestSameCause: what several cases miss in the same way is told once, with their ids.
func TestSameCause(t *testing.T) {
	found := playAgent(t, "on session/load result {}\non session/close result {}\n", fstest.MapFS{
		"a.txt": {Data: []byte("It loads.\nfor: v1\n-- steps --\nhello\n> session/load {}\n< error\n")},
		"b.txt": {Data: []byte("It closes.\nfor: v1\n-- steps --\nhello\n> session/close {}\n< error\n")},
		"c.txt": {Data: []byte("It loads again.\nfor: v1\n-- steps --\nhello\n> @load session/load {}\n> session/close {}\n< error to load\n")},
		"d.txt": {Data: []byte("It loads once more.\nfor: v1\n-- steps --\nhello\n> session/close {}\n> session/load {}\n< error\n")},
	})
	var b strings.Builder
	if err := (&Text{W: &b}).Write(found); err != nil {
		t.Fatal(err)
	}
	want := "    the same in c, d\n✗ b "
	if got := b.String(); !strings.Contains(got, want) || strings.Count(got, "✗") != 2 {
		t.Errorf("got\n%s\nwant %q", got, want)
	}
}

// TestOwnedElsewhere: what a rule finds on the tape of a case is not told if another one that
// owns the rule is not ok, unless that is known.
func TestOwnedElsewhere(t *testing.T) {
	found := playAgent(t, "on session/load result {}\n>> _x/poke\n< {\"id\":\"nobody\",\"result\":{}}\n", fstest.MapFS{
		"a.txt": {Data: []byte("It loads.\nowns: RPC010\nfor: v1\n-- steps --\nhello\n> session/load {}\n< error\n")},
		"b.txt": {Data: []byte("It is poked.\nfor: v1\n-- steps --\nhello\n>> _x/poke\n< {\"id\":\"nobody\"}\n")},
	})
	if len(found.Findings) != 1 || found.Findings[0].Rule.ID != "RPC010" || len(found.Rest()) != 0 {
		t.Errorf("got %v, and %v", found.Findings, found.Rest())
	}
	found.Results[0].Fault.Known = true
	if len(found.Rest()) != 1 {
		t.Error("it is not told though the case is known")
	}
}

// playAgent plays cases to an agent that plays a script.
func playAgent(t *testing.T, text string, files fstest.MapFS) *Report {
	t.Helper()
	cases, err := ReadCases(files, Agent)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse("agent", text, dialect.ACPv1)
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Cases: cases, Dialects: []dialect.Dialect{dialect.ACPv1}, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Peer: func() *proxy.Peer { return script.NewAgent(s, dialect.ACPv1, nil, nil) }}
	found, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestTopic: the help topic probe explains all fields of a case.
func TestTopic(t *testing.T) {
	topic, err := os.ReadFile("../../cmd/acptap/help/probe.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		if !strings.Contains(string(topic), "\n| `"+field+"` |") {
			t.Errorf("the topic does not explain %s", field)
		}
	}
}
