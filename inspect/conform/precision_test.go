package conform_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// TestPrecision judges recordings of real peers, and tapes that were written by hand
// from the specifications. All that is found is in a golden file, in which each finding
// has a reason why it is right: whoever rewrites the file reads them.
func TestPrecision(t *testing.T) {
	const file = "testdata/precision.txt"
	reasons := readReasons(t, file)
	var lines strings.Builder
	for _, path := range tapeFiles(t) {
		tape := tapeName(path)
		for _, g := range groupsOf(t, path) {
			head := fmt.Sprintf("%s %s %v %v", tape, g.Rule.ID, g.Strength, g.Fault)
			reason := reasons[head]
			if reason == "" {
				reason = "?"
				t.Errorf("%s has no reason in %s", head, file)
			}
			fmt.Fprintf(&lines, "%s\n    frames %s\n    because %s\n", head, strings.Join(texts(g), "\n    frames "), reason)
		}
	}
	got := lines.String()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("found\n%swant what %s has", got, file)
	}
}

// tapeDirs have the tapes that all tests share, and those for this package.
var tapeDirs = []string{"../../testdata/tapes/", "../../testdata/tapes/dialects/", "testdata/tapes/"}

// tapeFiles returns the tapes.
func tapeFiles(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range tapeDirs {
		files, err := filepath.Glob(dir + "*.jsonl")
		if err != nil || len(files) == 0 {
			t.Fatalf("no tapes in %s: %v", dir, err)
		}
		all = append(all, files...)
	}
	return all
}

// tapeName returns the name of a tape: that of its file, below tapes.
func tapeName(path string) string {
	_, name, _ := strings.Cut(filepath.ToSlash(path), "tapes/")
	return strings.TrimSuffix(name, ".jsonl")
}

// groupsOf judges a tape as acptap check does where it was recorded.
func groupsOf(t *testing.T, path string) []report.Group {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := reading.Agents(tape)
	if err != nil {
		t.Fatal(err)
	}
	options := tapecheck.Options(parts...)
	options.Beginning = true // an imported tape may be a part of one; these are whole
	c := conform.NewChecker(options)
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(&f)
	}
	c.End()
	findings := make([]*conform.Finding, len(c.Findings()))
	for i := range findings {
		findings[i] = &c.Findings()[i]
	}
	return report.Groups(findings)
}

// texts returns what the findings of a group say, with their frames: once what several
// say alike.
func texts(g report.Group) []string {
	var all []string
	frames := map[string]string{}
	for _, f := range g.Findings {
		text := f.Text
		if f.Path != "" {
			text += "; " + f.Path
		}
		if f.Got != "" {
			text += " = " + f.Got
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
		frames[text] += fmt.Sprintf("%d ", f.Seq)
	}
	for i, text := range all {
		all[i] = strings.TrimSpace(frames[text]) + ": " + text
	}
	return all
}

// readReasons returns the reasons of the golden file by the lines they are about.
func readReasons(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reasons := map[string]string{}
	head := ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, " ") {
			head = line
		} else if reason, ok := strings.CutPrefix(line, "    because "); ok && reason != "?" {
			reasons[head] = reason
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return reasons
}
