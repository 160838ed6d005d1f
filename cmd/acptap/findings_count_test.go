package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/record"
)

// acptap check, its page and the inspector count the findings on a tape alike, and in the
// same words.
func TestFindingsAreCountedOnce(t *testing.T) {
	tapes, err := filepath.Glob("../../testdata/tapes/*.jsonl")
	if err != nil || len(tapes) == 0 {
		t.Fatal(err)
	}
	silent := filepath.Join(t.TempDir(), "silent.jsonl")
	if err := os.WriteFile(silent, []byte(silentTape), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range append(tapes, silent) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want report.Tally
			_, lines, _ := runCheck(t, "--json", "--severity", "note", file)
			for line := range strings.Lines(lines) {
				var f struct {
					Kind     string
					Strength conform.Strength
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				if f.Kind == "finding" {
					want[f.Strength]++
				}
			}
			if want == (report.Tally{conform.Note: want[conform.Note]}) {
				_, text, _ := runCheck(t, file)
				line := want.String()
				if want.Total() > 0 {
					line += " (--severity note)"
				}
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("check says\n%s, want the line %s", text, line)
				}
			}
			if got := onPage(t, file); got != want {
				t.Errorf("the page says %s, check has %s", &got, &want)
			}
			if got := inInspector(t, file); got != want {
				t.Errorf("the inspector counts %s, check has %s", &got, &want)
			}
		})
	}
}

// silentTape is one on which something hung.
const silentTape = `{"acptap":1,"protocol":"acp"}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"editor","version":"1"}}}}
{"at":0.1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"agent","version":"1"}}}}
{"at":0.2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"at":0.3,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}}
{"at":900,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`

var figure = regexp.MustCompile(`<dt>protocol findings</dt><dd>(?:<a[^>]*>)?([0-9,]+)(?:</a>)?(?: <small class="bad">(?:<a[^>]*>)?([0-9,]+) violations?[^/]*(?:</a>)?</small>)?(?: <small>and ([0-9,]+) notes?</small>)?`)

// onPage returns what the page of a tape says about its findings. Its number counts
// violations and warnings.
func onPage(t *testing.T, file string) (n report.Tally) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	if status := run(t.Context(), []string{"report", "-o", page, file}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("report: status %d", status)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if m := figure.FindSubmatch(html); m != nil {
		number := func(i int) int {
			n, _ := strconv.Atoi(strings.ReplaceAll(string(m[i]), ",", ""))
			return n
		}
		n[conform.Violation], n[conform.Note] = number(2), number(3)
		n[conform.Warning] = number(1) - number(2)
	}
	return n
}

// inInspector returns how many findings the inspector counts on a tape.
func inInspector(t *testing.T, file string) report.Tally {
	t.Helper()
	timeline, err := frameindex.OpenTimeline("tape", func() ([]*record.Tape, error) {
		tape, err := record.OpenFile(file)
		return []*record.Tape{tape}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	index := frameindex.NewIndex(func() {})
	go index.Read(ctx, timeline)
	r := findingpage.NewReader(timeline.Label, "", func() {})
	timeline.Feed(ctx, index, nil, r)
	return r.Tally()
}
