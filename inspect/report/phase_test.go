package report_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/report"
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
	tables := strings.SplitAfter(page, `<table class="lanes">`)
	if len(tables) != 3 {
		t.Fatalf("got %d tables of what went on, want one of the start-up and one of the turn", len(tables)-1)
	}
	for i, want := range [][]string{
		{"start initialize 15.9 s", "start session/new 1.00 s"},
		{"waits for the model 5.00 s", "run go test 1.80 s"},
	} {
		rows, _, _ := strings.Cut(tables[i+1], "</table>")
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
