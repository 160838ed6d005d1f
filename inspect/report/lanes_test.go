package report_test

import (
	"fmt"
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

// Changes of the mode and of options are rows, each once and by their names.
func TestChangeLanes(t *testing.T) {
	const update = `{"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%s}}}}`
	page := string(write(t, report.Input{Tapes: []report.Tape{portable(t,
		`{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}`,
		`{"at":0,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s","modes":{"currentModeId":"p","availableModes":[{"id":"p","name":"Plan first"},{"id":"c","name":"Code"}]},"configOptions":[{"id":"m","name":"Model","type":"select","currentValue":"o","options":[{"value":"o","name":"Opus"},{"value":"h","name":"Haiku"}]}]}}}`,
		`{"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}`,
		fmt.Sprintf(update, 2, `"sessionUpdate":"current_mode_update","currentModeId":"c"`),
		fmt.Sprintf(update, 3, `"sessionUpdate":"config_option_update","configOptions":[{"id":"m","name":"Model","type":"select","currentValue":"h","options":[{"value":"o","name":"Opus"},{"value":"h","name":"Haiku"}]}]`),
		`{"at":8,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}`,
	)}}))
	_, rows, _ := strings.Cut(page, `id="s1-turn-1"`)
	rows, _, _ = strings.Cut(rows, `<section id="frames"`)
	for _, want := range []string{"change mode: Plan first → Code 1.00 s", "change Model: Opus → Haiku 2.00 s"} {
		if n := strings.Count(said(rows), want); n != 1 {
			t.Errorf("got %s\nwant %s once, not %d times", said(rows), want, n)
		}
	}
}
