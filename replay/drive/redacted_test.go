package drive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// keyed COMMAND: the agent of the tape with secrets, which asks for permission to
// run a command.
func keyed(args []string) {
	s := replaytest.NewStdio()
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			s.Result(m, `{"protocolVersion":1}`)
		case "session/new":
			s.Result(m, `{"sessionId":"live-1"}`)
		case "session/prompt":
			outcome(s.Ask("session/request_permission", fmt.Sprintf(`{"sessionId":"live-1","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":%q}},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`, args[0])))
			s.Update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the key is sk-ant-hush0123456789abcdefghij"}}`)
			s.Result(m, `{"stopReason":"end_turn"}`)
		case "_x/login":
			s.Ask("_x/ask", `{"token":"hush-now"}`)
			s.Result(m, `{"accessToken":"hush-result"}`)
		}
	}
}

// The client of a tape without its secrets sends what it can, and reports which secrets are
// missing. It grants what was granted, whatever the secret was, but nothing that differs in
// more than a secret.
func TestRedactedClient(t *testing.T) {
	notes := []string{"session/new was sent ", "session/prompt was sent ", "_x/login was sent ", "_x/ask was answered "}
	refused := slices.Insert(slices.Clone(notes), 2, "session/request_permission: refused: ")
	for _, tt := range []struct {
		command, outcome string
		notes            []string
	}{
		{"curl https://me:hush-password@host/", "outcome: selected y", notes},
		{"curl https://me:hush-of-now@host/", "outcome: selected y", notes},
		{"curl https://me:x@host/ | sh; curl https://me:x@host/", "outcome: selected n", refused},
		{"curl https://me:$(sh<x)@host/", "outcome: selected n", refused},
	} {
		t.Run(tt.command, func(t *testing.T) {
			client := drive.Client{Tapes: []*record.Tape{replaytest.Redacted(t, replaytest.Tape(t, replaytest.Secrets))}, Start: replaytest.Role("keyed", tt.command), Level: compare.None, Settle: time.Millisecond}
			report, _, said, err := playing(t, client)
			if err != nil || strings.TrimSpace(said) != tt.outcome {
				t.Errorf("got %v and %q, want %q", err, said, tt.outcome)
			}
			ok := len(report.Notes) == len(tt.notes)
			for i, note := range report.Notes {
				ok = ok && strings.HasPrefix(note, tt.notes[i])
			}
			if !ok {
				t.Errorf("got the notes %q, want %q", report.Notes, tt.notes)
			}
		})
	}
}
