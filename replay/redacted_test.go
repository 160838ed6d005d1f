package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// A conversation with secrets in what both sides say.
const secrets = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[{"name":"m","command":"m","args":[],"env":[{"name":"M_KEY","value":"hush-env"}]}]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"log in with sk-ant-hush0123456789abcdefghij at /w/rec"}]}}
a {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":"curl https://me:hush-password@host/"}},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}
c {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the key is sk-ant-hush0123456789abcdefghij"}}}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
c {"jsonrpc":"2.0","id":3,"method":"_x/login","params":{"password":"hush-login","user":{"apiKey":"hush-key"}}}
a {"jsonrpc":"2.0","id":1,"method":"_x/ask","params":{"token":"hush-token"}}
c {"jsonrpc":"2.0","id":1,"result":{"password":"hush-answer","ok":true}}
a {"jsonrpc":"2.0","id":3,"result":{"accessToken":"hush-result"}}
`

// redacted is a tape as an export has it.
func redacted(t testing.TB, tape *record.Tape) *record.Tape {
	t.Helper()
	var b bytes.Buffer
	if err := tape.Export(&b, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hush") {
		t.Fatalf("a secret is left: %s", &b)
	}
	tape, err := record.ReadPortable(&b, "redacted")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// A tape whose secrets were taken out is replayed to a client that has them.
func TestRedactedAgent(t *testing.T) {
	check := func(t *testing.T, tape *record.Tape) {
		info, err := tape.Info()
		if err != nil {
			t.Fatal(err)
		}
		without := redacted(t, tape)
		for _, match := range []replay.Matching{replay.MatchContent, replay.MatchExact} {
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{without}, Matching: match, Cwd: info.Start.Cwd}
			report, err := a.Run(t.Context(), bytes.NewReader(said(t, tape, wire.ClientToAgent)), &out, io.Discard)
			if err != nil || len(report.Notes) > 0 {
				t.Errorf("%v: %v\n%s", match, err, &report)
			}
			if want := said(t, without, wire.AgentToClient); !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%v: got %s\nwant %s", match, &out, want)
			}
		}
	}
	t.Run("secrets", func(t *testing.T) { check(t, tapeOf(t, secrets)) })
	for _, path := range tapes(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { check(t, openTape(t, path)) })
	}
}

// keyed COMMAND: the agent of the tape with secrets, which asks for permission to
// run a command.
func keyed(args []string) {
	s := newStdio()
	for {
		m := s.next()
		switch m.Get("method").Str {
		case "initialize":
			s.result(m, `{"protocolVersion":1}`)
		case "session/new":
			s.result(m, `{"sessionId":"live-1"}`)
		case "session/prompt":
			outcome(s.ask("session/request_permission", fmt.Sprintf(`{"sessionId":"live-1","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":%q}},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`, args[0])))
			s.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the key is sk-ant-hush0123456789abcdefghij"}}`)
			s.result(m, `{"stopReason":"end_turn"}`)
		case "_x/login":
			s.ask("_x/ask", `{"token":"hush-now"}`)
			s.result(m, `{"accessToken":"hush-result"}`)
		}
	}
}

// The client of a tape whose secrets were taken out says what it can, and that it
// lacks them. It permits what it permitted, whatever the secret was, and nothing
// that has more than a secret in its place.
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
			client := replay.Client{Tapes: []*record.Tape{redacted(t, tapeOf(t, secrets))}, Start: part("keyed", tt.command), Level: replay.None, Settle: time.Millisecond}
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

// What stands around a secret counts, and no miss tells of one.
func TestMissHidesSecrets(t *testing.T) {
	for _, tt := range []struct{ name, now, was, want string }{
		{"beside a secret", "log on with sk-ant-hush", "log in with sk-ant-hush", `"path":"prompt[0].text"`},
		{"another secret", "sk-ant-hush0123456789xxxxxxxxxx", "sk-ant-hush0123456789abcdefghij", `"path":"prompt[0].text"`},
		{"a secret by its name", `"apiKey":"hush-other"`, `"apiKey":"hush-key"`, `"path":"user.apiKey"`},
		{"a secret by a name with a dot", `"api.token":"hush-other"`, `"apiKey":"hush-key"`, `user["api.token"] is "[redacted]"`},
		{"of an answer", "hush-other", "hush-answer", `password is "[redacted]"`},
		{"no message", `{"password":"hush-junk"}`, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `a line came that is no message: {"password":"[redacted]"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tape := tapeOf(t, secrets)
			says := strings.Replace(string(said(t, tape, wire.ClientToAgent)), tt.was, tt.now, 1)
			var out bytes.Buffer
			a := replay.Agent{Tapes: []*record.Tape{tape}, Partial: true, Cwd: "/w/rec"}
			report, _ := a.Run(t.Context(), strings.NewReader(says), &out, io.Discard)
			said := report.String()
			for line := range strings.Lines(out.String()) {
				if strings.Contains(line, `"error"`) {
					said += line
				}
			}
			if strings.Contains(said, "hush") || !strings.Contains(said, tt.want) {
				t.Errorf("got %s\nwant %s", said, tt.want)
			}
		})
	}
	without := redacted(t, tapeOf(t, secrets))
	says := strings.Replace(string(said(t, tapeOf(t, secrets), wire.ClientToAgent)), "log in", "log on", 1)
	a := replay.Agent{Tapes: []*record.Tape{without}, Partial: true, Cwd: "/w/rec"}
	if report, err := a.Run(t.Context(), strings.NewReader(says), io.Discard, io.Discard); err == nil || len(report.Misses) != 2 { // and the answer to what was not asked then
		t.Errorf("another text around a secret: got %v\n%s", err, &report)
	}
}

// Two conversations of which one has its secrets are the same.
func TestCompareRedacted(t *testing.T) {
	whole := tapeOf(t, secrets)
	without := redacted(t, whole)
	other := tapeOf(t, strings.ReplaceAll(secrets, "the key is", "the keys are"))
	for _, level := range []replay.Level{replay.Shape, replay.Content, replay.Exact} {
		for _, pair := range [][2]*record.Tape{{whole, without}, {without, whole}} {
			d, err := replay.Compare(replay.Side{Tapes: []*record.Tape{pair[0]}}, replay.Side{Tapes: []*record.Tape{pair[1]}}, level)
			var text strings.Builder
			d.WriteUnified(&text, "a", "b")
			if err != nil || !d.Same() {
				t.Errorf("%v: got %v, %s", level, err, &text)
			}
		}
		d, err := replay.Compare(replay.Side{Tapes: []*record.Tape{without}}, replay.Side{Tapes: []*record.Tape{other}}, level)
		if err != nil || d.Same() != (level == replay.Shape) {
			t.Errorf("%v: another text is the same: %v, %v", level, d.Same(), err)
		}
	}
}
