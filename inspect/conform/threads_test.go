package conform_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform/report"
)

// TestThreads judges tapes that were made from users' public threads, and some that look
// alike and are in order. What a default check says of each is a line of a golden file.
func TestThreads(t *testing.T) {
	const golden = "testdata/threads.txt"
	files, err := filepath.Glob("../../testdata/threads/*.jsonl")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	on, err := report.ParseFailOn("violation,hang")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, file := range files {
		var said []string
		fails := false
		for _, g := range groupsOf(t, file) {
			text := fmt.Sprintf("%s %s %s %s", report.Sign(g.Strength), g.Rule.ID, g.Rule.Name, g.Fault)
			for _, f := range g.Findings {
				fails = fails || on.Fails(f)
				if f.Hang {
					text += " hangs"
				}
			}
			said = append(said, text)
		}
		if said == nil {
			said = []string{"nothing"}
		}
		fmt.Fprintf(&got, "%s: %s", strings.TrimSuffix(filepath.Base(file), ".jsonl"), strings.Join(said, ", "))
		if fails {
			got.WriteString("; exit status 1")
		}
		got.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant what %s has", &got, golden)
	}
}
