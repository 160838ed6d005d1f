package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

var update = flag.Bool("update", false, "rewrite golden files")

// rules of our own, so that what they say does not change.
var (
	relative = rule("ACP9405", "relative-path", conform.Violation, "MUST")
	unnamed  = rule("ACP9108", "no-agent-info", conform.Warning, "SHOULD")
	long     = rule("RPC9020", "long-line", conform.Note, "")
	idle     = rule("ACP9441", "cancelled-prompt", conform.Violation, "MUST")
	blind    = rule("ACP9202", "session-id-again", conform.Violation, "MUST")
)

func rule(id, name string, s conform.Strength, word string) *conform.Rule {
	return &conform.Rule{
		ID: id, Name: name, Fault: conform.Agent,
		Clauses: []conform.Clause{{Strength: s, Word: word, Source: conform.Source{Title: "ACP v1, Page, Section of " + id, URL: "https://example.org/" + id + "#section"}}},
		Text: conform.Text{
			Asks: "What the text asks for, with `code` of " + id + ".", Finds: "What `" + id + "` finds.", Do: "do what " + id + " says",
		},
	}
}

// found returns a finding on a frame, with the text of the evidence. raw has the frame's
// bytes.
func found(r *conform.Rule, tape int, seq uint64, e conform.Evidence, raw string) report.Finding {
	e.Seq, e.Entry = seq, -1
	f := report.Finding{Line: int(seq) + 1, Key: "key-" + r.ID, Finding: conform.Finding{
		Rule: r, Clause: &r.Clauses[0], Strength: r.Clauses[0].Strength, Fault: conform.Agent, Tape: tape,
		Evidence: e, Session: "s1", At: time.Duration(seq) * time.Second / 4, Method: "session/update", Update: "tool_call",
	}}
	for _, seq := range e.Because {
		f.BecauseLines = append(f.BecauseLines, int(seq)+1)
	}
	f.Public = report.Publish(&f.Finding, redact.Bytes{Kind: wire.Scan([]byte(raw)).Kind, Raw: []byte(raw)})
	return f
}

const (
	secret  = "tr0ub4dor"
	hostile = "a\x1b[31m\x00]]>\r\n::error::b%0A,c: \xff " + secret
	frame   = `{"jsonrpc":"2.0","method":"session/update","params":{"apiKey":"` + secret + `"}}`
)

// sections are two tapes of a session, a file, a tape that also has the findings of the first
// two, and the tape of a failed run.
func sections() []*report.Section {
	verdicts := func() []conform.Verdict {
		return []conform.Verdict{
			{Rule: relative, Tried: true, Found: 1500, Lost: 500}, {Rule: unnamed, Tried: true, Found: 1}, {Rule: long, Tried: true},
			{Rule: idle}, {Rule: blind, Open: "28 bytes are missing at frame 77"},
		}
	}
	session := &report.Section{
		Weaker: report.Tally{0, 3, 0, 0},
		Tapes: []*report.Tape{
			{ID: "20260102T150405000-aaaaa1", Name: "aaaaa1", File: "20260102T150405000-aaaaa1.jsonl", Frames: 143, Verdicts: verdicts(),
				Start:      time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC),
				Connection: dialect.Connection{Protocol: dialect.ACP, Dialect: dialect.ACPv1, Agent: "demo-agent", AgentVersion: "1.2", Client: "editor", ClientVersion: "3"}},
			{ID: "20260102T160000000-aaaaa2", Name: "aaaaa2", File: "20260102T160000000-aaaaa2.jsonl", Frames: 1, Verdicts: verdicts()},
		},
	}
	for i, path := range []string{"src/a.go", hostile, "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
		session.Findings = append(session.Findings, found(relative, i%2, uint64(60+i), conform.Evidence{
			Text: "named a relative path", Path: "locations[0].path", Want: "an absolute path", Got: `"` + path + `"`, Because: []uint64{58},
		}, frame))
	}
	session.Findings = append(session.Findings, found(unnamed, 0, 2, conform.Evidence{Text: "did not say its name: " + hostile}, frame))
	client := found(relative, 1, 70, conform.Evidence{Text: "named a relative path"}, frame)
	client.Fault = conform.Client
	session.Findings = append(session.Findings, client)
	file := &report.Section{
		Baseline: true,
		Tapes:    []*report.Tape{{Name: "a b%.jsonl", File: "../dir/a b%.jsonl", Frames: 9, Verdicts: verdicts()}},
	}
	old := found(relative, 0, 3, conform.Evidence{Text: "named a relative path, as was known"}, frame)
	old.Known = true
	nowhere := report.Finding{Finding: conform.Finding{Rule: report.Expect, Clause: &report.Expect.Clauses[0], Strength: conform.Violation}, Key: "k"}
	nowhere.Text, nowhere.Entry = "no frame fits method:x", -1
	nowhere.Public = report.Publish(&nowhere.Finding)
	file.Tapes[0].Verdicts = append(file.Tapes[0].Verdicts, conform.Verdict{Rule: report.Expect, Tried: true})
	batch := found(long, 0, 4, conform.Evidence{Text: "sent a line of 70 kB", Got: strings.Repeat("x", 400)}, frame)
	batch.Entry = 1
	file.Findings = []report.Finding{old, batch, nowhere}
	again := &report.Section{Tapes: []*report.Tape{{ID: "20260102T170000000-aaaaa3", Name: "aaaaa3", File: "20260102T170000000-aaaaa3.jsonl", Frames: 9, Verdicts: verdicts()}}}
	for seq := range uint64(9) {
		f := found(relative, 0, seq+1, conform.Evidence{Text: "named a relative path"}, frame)
		f.Fault = conform.Client
		again.Findings = append(again.Findings, f)
	}
	failed := &report.Section{Tapes: []*report.Tape{{
		ID: "20260102T180000000-aaaaa4", Name: "aaaaa4", File: "20260102T180000000-aaaaa4.jsonl", Frames: 9,
		Outcome: dialect.Outcome{How: dialect.Errored, Text: "Overloaded (-32603)"},
	}}}
	return []*report.Section{session, file, again, failed}
}

// A form writes sections.
type form interface {
	Section(s *report.Section) error
}

// forms returns all forms of a report.
func forms(w *bytes.Buffer) map[string]form {
	return map[string]form{
		"text":   &report.Text{W: w, Severity: conform.Warning},
		"colour": &report.Text{W: w, Severity: conform.Warning, Color: true},
		"narrow": &report.Text{W: w, Severity: conform.Warning, Width: 50, Untried: true},
		"json":   report.JSON{W: w},
		"junit":  &report.JUnit{W: w, FailOn: report.FailOn{Least: conform.Warning}},
		"sarif":  &report.SARIF{W: w, Version: "v1.2.3", Rules: []*conform.Rule{relative, unnamed, long, idle, blind, report.Expect}},
		"github": &report.GitHub{W: w}, "summary": &report.JobSummary{W: w, FailOn: report.FailOn{Least: conform.Violation}},
	}
}

// write returns a report in a form.
func write(t testing.TB, name string, sections []*report.Section) string {
	t.Helper()
	var b bytes.Buffer
	f := forms(&b)[name]
	for _, s := range sections {
		if err := f.Section(s); err != nil {
			t.Fatal(err)
		}
	}
	if c, ok := f.(interface{ Close() error }); ok {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestForms: each form looks like its golden file.
func TestForms(t *testing.T) {
	for name := range forms(nil) {
		t.Run(name, func(t *testing.T) {
			got := write(t, name, sections())
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestNothing: a report of nothing is one too.
func TestNothing(t *testing.T) {
	for name := range forms(nil) {
		got := write(t, name, nil)
		if name == "junit" || name == "sarif" || name == "github" || name == "summary" {
			if got == "" {
				t.Errorf("%s: got nothing", name)
			}
		} else if got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestSecrets: what leaves this machine has no secret of a tape, and nothing that could
// control who reads it.
func TestSecrets(t *testing.T) {
	for name := range forms(nil) {
		got := write(t, name, sections())
		public := name == "junit" || name == "sarif" || name == "github" || name == "summary"
		if has := strings.Contains(got, secret); has == public {
			t.Errorf("%s: has the secret: %v", name, has)
		}
		if strings.ContainsAny(got, "\x00\r") || strings.Contains(got, "\x1b") != (name == "colour") || strings.Contains(got, "\x1b[31ma") {
			t.Errorf("%s: has control bytes: %q", name, got)
		}
	}
}
