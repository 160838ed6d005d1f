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
	cases, err := ReadCases(fstest.MapFS{
		"a.txt": {Data: []byte("It loads.\nfor: v1\n-- steps --\nhello\n> session/load {}\n< error\n")},
		"b.txt": {Data: []byte("It closes.\nfor: v1\n-- steps --\nhello\n> session/close {}\n< error\n")},
		"c.txt": {Data: []byte("It loads again.\nfor: v1\n-- steps --\nhello\n> @load session/load {}\n> session/close {}\n< error to load\n")},
		"d.txt": {Data: []byte("It loads once more.\nfor: v1\n-- steps --\nhello\n> session/close {}\n> session/load {}\n< error\n")},
	}, Agent)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse("agent", "on session/load result {}\non session/close result {}\n", dialect.ACPv1)
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Cases: cases, Dialects: []dialect.Dialect{dialect.ACPv1}, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Peer: func() *proxy.Peer { return script.NewAgent(s, dialect.ACPv1, nil, nil) }}
	found, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := (&Text{W: &b}).Write(found); err != nil {
		t.Fatal(err)
	}
	want := "    the same in c, d\n✗ b "
	if got := b.String(); !strings.Contains(got, want) || strings.Count(got, "✗") != 2 {
		t.Errorf("got\n%s\nwant %q", got, want)
	}
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
