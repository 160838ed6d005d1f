package report_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/report"
)

// What the user was asked is called what it is, and has failed if it has.
func TestAskedLanes(t *testing.T) {
	turn := []string{
		`{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}`,
		`{"at":1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"who?"}}}`,
		`{"at":2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no"}}}`,
		`{"at":3,"dir":"a2c","frame":{"jsonrpc":"2.0","id":"b","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Allow","kind":"allow_once"}]}}}`,
		`{"at":5,"dir":"c2a","frame":{"jsonrpc":"2.0","id":"b","result":{"outcome":{"outcome":"selected","optionId":"y"}}}}`,
		`{"at":6,"dir":"a2c","frame":{"jsonrpc":"2.0","id":"c","method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"x"}}}`,
		`{"at":7,"dir":"c2a","frame":{"jsonrpc":"2.0","id":"c","error":{"code":-32603,"message":"no"}}}`,
		`{"at":8,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}`,
	}
	page := string(write(t, report.Input{Tapes: []report.Tape{portable(t, turn...)}}))
	_, rows, _ := strings.Cut(page, `<div class="lanes"`)
	rows, _, _ = strings.Cut(rows, `<section id="frames"`)
	for _, want := range []string{
		"asks you ✗ failed 1.00 s who?", "t asked: Allow pending, not ended –", "asked ✓ Allow waited 2.00 s", "client terminal/wait_for_exit ✗ failed 1.00 s",
	} {
		if !strings.Contains(said(rows), want) {
			t.Errorf("got %s\nwant %s in it", said(rows), want)
		}
	}
	for _, want := range []string{`class="waits bad"`, `class="waits"`, `class="tool bad"`} {
		if !strings.Contains(rows, want) {
			t.Errorf("there is no bar with %s", want)
		}
	}
}
