package report_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// Of a run of 23.7 s, all but the time in which nobody was asked is drawn: the start-up, and
// what the model was waited for.
func TestStartUpAndWaitingDrawn(t *testing.T) {
	run := []string{
		`{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}`,
		`{"at":15.9,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}`,
		`{"at":15.9,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}`,
		`{"at":16.9,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}`,
		`{"at":16.9,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}`,
		`{"at":19.9,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"go test","kind":"execute","status":"in_progress"}}}}`,
		`{"at":21.7,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}}}}`,
		`{"at":23.7,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}`,
	}
	page := string(write(t, report.Input{Tapes: []report.Tape{portable(t, run...)}}))
	tables := strings.SplitAfter(page, `<div class="lanes"`)
	if len(tables) != 3 {
		t.Fatalf("got %d tables of what went on, want one of the start-up and one of the turn", len(tables)-1)
	}
	for i, want := range [][]string{
		{"start initialize 15.9 s", "start session/new 1.00 s"},
		{"waits waiting for the model 5.00 s", "run go test 1.80 s"},
	} {
		rows, _, _ := strings.Cut(tables[i+1], `<details class="turn"`)
		for _, want := range want {
			if !strings.Contains(said(rows), want) {
				t.Errorf("got %s\nwant %s in it", said(rows), want)
			}
		}
	}
	if n := strings.Count(tables[2], `class="model"`); n != 2 {
		t.Errorf("got %d bars of waiting for the model, want 2: before the tool call and after it", n)
	}
}

// The page draws all that package steps has of a tape, in its order.
func TestPhasesDrawn(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/tapes/acp*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "../screen/testdata/turns-idle.jsonl") {
		in := input(t, path)
		page, _, _ := strings.Cut(string(write(t, in)), `<section id="frames"`)
		var got []string
		for _, table := range strings.Split(page, `<div class="lanes"`)[1:] {
			rows, _, _ := strings.Cut(table, `<details class="turn`)
			rows = regexp.MustCompile(`data-frame="[0-9]+"(.{10,120}<span class="kind">error</span>)`).ReplaceAllString(rows, "$1") // with which the turn ended
			frames := regexp.MustCompile(`class="(step|word)[^"]*"[^>]* data-frame="([0-9]+)"`).FindAllStringSubmatch(rows, -1)
			line := ""
			for i, f := range frames {
				if i == 0 && strings.Contains(rows, "waiting for the model") {
					continue
				}
				line += " " + f[2]
			}
			if line != "" || strings.Contains(rows, "waiting for the model") {
				got = append(got, line)
			}
		}
		var want []string
		for _, p := range phases(t, in.Tapes[0].Frames) {
			line := ""
			for _, s := range p.Steps {
				line += fmt.Sprint(" ", s.Frame)
				for _, below := range s.Below {
					line += fmt.Sprint(" ", below.Frame)
				}
			}
			if quiet := slices.ContainsFunc(p.Waits, func(w trace.Wait) bool { return w.Quiet }); line != "" || quiet && p.Turn != nil {
				want = append(want, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the page has rows of the frames\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// phases returns those of the sessions on a tape.
func phases(t *testing.T, frames iter.Seq2[dialect.Frame, error]) (list []*steps.Phase) {
	t.Helper()
	var tr trace.Trace
	end := time.Duration(0)
	for f, err := range frames {
		if err != nil {
			t.Fatal(err)
		}
		tr.Add(&f)
		end = max(end, f.At)
	}
	source := steps.Source{Trace: &tr, Start: func(int) time.Time { return time.Time{} }, Until: func(int) time.Duration { return end }}
	for _, s := range tr.Sessions {
		list = append(list, source.Session(s).Phases()...)
	}
	return list
}
