package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/help"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
)

// runCheck runs acptap check, and returns its status and what it writes.
func runCheck(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	status = run(t.Context(), append([]string{"check"}, args...), nil, &out, &complaints)
	return status, out.String(), complaints.String()
}

// The example of a rule that breaks it is a tape on which it is found.
func TestCheckExample(t *testing.T) {
	_, examples, err := conform.Examples("ACP405")
	if err != nil {
		t.Fatal(err)
	}
	frames, err := conformtest.Frames(examples[0])
	if err != nil || !conformtest.Bad(examples[0]) {
		t.Fatalf("%s: %v", examples[0].Name, err)
	}
	lines := `{"acptap":1,"started":"2026-01-02T15:04:05Z"}` + "\n"
	for _, f := range frames {
		lines += fmt.Sprintf(`{"seq":%d,"at":%v,"dir":%q,"frame":%s}`+"\n", f.Seq, f.At.Seconds(), f.Dir, f.Raw)
	}
	file := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags  []string
		status int
	}{
		{nil, 1},
		{[]string{"--fail-on", "never"}, 0},
	} {
		status, out, complaints := runCheck(t, append(tt.flags, file)...)
		if status != tt.status || complaints != "" {
			t.Errorf("%q: status %d, want %d, with %q", tt.flags, status, tt.status, complaints)
		}
		if !strings.Contains(out, "\n\n✗ ACP405 relative-path   agent   frame 6\n") || !strings.Contains(out, "\n    https://agentclientprotocol.com/protocol/v1/overview#argument-requirements\n") || strings.Count(out, "✗") != 1 {
			t.Errorf("%q: got\n%s", tt.flags, out)
		}
	}
}

// The table has all rules, and each can be explained.
func TestCheckRules(t *testing.T) {
	_, out, _ := runCheck(t, "--rules", "--format", "json")
	rules := 0
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); rules++ {
		var l report.RuleLine
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.Name == "" || l.Strength == conform.None || !strings.HasSuffix(l.URL, "/inspect/conform/rules/"+l.Rule+"-"+l.Name+".txt") {
			t.Errorf("got %+v", l)
		}
		for _, word := range []string{l.Rule, l.Name} {
			if status, text, complaints := runCheck(t, "--explain", word); status != 0 || !strings.HasPrefix(text, l.Rule+" "+l.Name) || !strings.Contains(text, "\nbad") && conform.Lookup(l.Rule).Elsewhere == "" {
				t.Errorf("--explain %s: status %d, %s\n%s", word, status, complaints, text)
			}
		}
	}
	if rules != len(conform.Rules()) {
		t.Errorf("got %d rules, want %d", rules, len(conform.Rules()))
	}
}

// All that counts the rules comes to the same number, whether the user's queries and what
// hung are looked for, too, or not.
func TestCountsOfRules(t *testing.T) {
	all := len(conform.Rules())
	_, table, _ := runCheck(t, "--rules")
	if n := strings.Count(table, "\n"); n != all {
		t.Errorf("--rules has %d lines, want %d", n, all)
	}
	const tape = "../../testdata/tapes/acpx-exec.jsonl"
	for _, flags := range [][]string{nil, {"--severity", "note"}, {"--expect", "kind:request"}} {
		if _, out, _ := runCheck(t, append(flags, tape)...); !strings.Contains(out, fmt.Sprintf("\n%d rules: ", all)) {
			t.Errorf("%q: got\n%swant %d rules", flags, out, all)
		}
		if _, out, _ := runCheck(t, append(flags, "--json", tape)...); !strings.Contains(out, fmt.Sprintf(`"rules":%d,`, all)) {
			t.Errorf("%q: got\n%swant %d rules", flags, out, all)
		}
	}
	if topic, _ := help.Find("checking"); !strings.Contains(topic.Markdown, fmt.Sprintf("\n%d rules: ", all)) {
		t.Errorf("the topic about checking names another number of rules than %d", all)
	}
}

// Each result of code scanning names a file that is there, and the line of its frame.
func TestCheckSARIFLines(t *testing.T) {
	files, err := filepath.Glob("../../testdata/tapes/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d tapes, %v", len(files), err)
	}
	_, out, complaints := runCheck(t, append([]string{"--format", "sarif", "--severity", "note"}, files...)...)
	type location struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine int }
		}
		Message struct{ Text string }
	}
	var log struct {
		Runs []struct {
			Results []struct {
				Message          struct{ Text string }
				Locations        []location
				RelatedLocations []location
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil || len(log.Runs) != 1 || complaints != "" {
		t.Fatalf("%d runs, %v, %s", len(log.Runs), err, complaints)
	}
	checked := 0
	check := func(l location, text string) {
		t.Helper()
		m := regexp.MustCompile(`\bframe (\d+)`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no frame in %q", text)
		}
		data, err := os.ReadFile(filepath.FromSlash(l.PhysicalLocation.ArtifactLocation.URI))
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(data), "\n")[l.PhysicalLocation.Region.StartLine-1]
		if !strings.HasPrefix(line, `{"seq":`+m[1]+`,`) {
			t.Errorf("%s: on line %d stands %.80s", text, l.PhysicalLocation.Region.StartLine, line)
		}
		checked++
	}
	for _, r := range log.Runs[0].Results {
		for _, l := range r.Locations {
			check(l, r.Message.Text)
		}
		for _, l := range r.RelatedLocations {
			check(l, l.Message.Text)
		}
	}
	if checked < 20 {
		t.Errorf("only %d locations checked", checked)
	}
}

// A check that is interrupted says so, and reports nothing: half a report is none.
func TestCheckInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tape := filepath.Join("..", "..", "testdata", "tapes", "acp-go-sdk.jsonl")
	for _, format := range []string{"text", "json", "junit", "sarif"} {
		for _, more := range [][]string{{}, {"--forbid", "kind:request"}} {
			var stdout, stderr bytes.Buffer
			status := run(ctx, append([]string{"check", "--format", format, tape}, more...), nil, &stdout, &stderr)
			if status != 2 || stdout.Len() > 0 || stderr.String() != "acptap: interrupted\n" {
				t.Errorf("--format %s %q: status %d, stdout %q, stderr %q", format, more, status, &stdout, &stderr)
			}
		}
	}
}
