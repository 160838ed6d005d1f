package replay_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// recalling is an agent that says what it knows of a session when it is prompted: how it
// was opened, how often it was prompted since, its mode, and whether the prompt has the
// record of what was said before. Its argument is what it can: forget, load, resume, or
// deny, which is to offer session/load and to know no session.
func recalling(args []string) {
	s := replaytest.NewStdio()
	opened, mode, turns, made := map[string]string{}, map[string]string{}, map[string]int{}, 0
	for {
		m := s.Next()
		p := m.Get("params")
		id := p.Get("sessionId").Text()
		switch m.Get("method").Text() {
		case "initialize":
			offers := map[string]string{"load": `"loadSession":true`, "deny": `"loadSession":true`, "resume": `"sessionCapabilities":{"resume":{}}`}[args[0]]
			s.Result(m, `{"protocolVersion":1,"agentCapabilities":{`+offers+`}}`)
		case "session/new":
			made++
			id = fmt.Sprint("s", made)
			opened[id] = "new"
			s.Result(m, `{"sessionId":"`+id+`"}`)
		case "session/load":
			if args[0] == "deny" {
				s.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such session"}}`, m.Get("id").Raw())
				continue
			}
			opened[id] = "load"
			s.Say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"one"}}}}`, id)
			s.Result(m, `{}`)
		case "session/resume":
			opened[id] = "resume"
			s.Result(m, `{}`)
		case "session/set_mode":
			mode[id] = p.Get("modeId").Text()
			s.Result(m, `{}`)
		case "session/prompt":
			turns[id]++
			if strings.Contains(p.Get("prompt").Raw(), "ask me") {
				s.Ask("session/request_permission", `{"sessionId":"`+id+`","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}`)
			}
			knows := ""
			for _, said := range []string{"one", "two", "three"} {
				if strings.Contains(p.Get("prompt").Raw(), "User: "+said) {
					knows += " " + said
				}
			}
			text := fmt.Sprintf("opened by %s, turn %d, mode %q, told%s.", opened[id], turns[id], mode[id], knows)
			s.Say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, id, text)
			s.Result(m, `{"stopReason":"end_turn"}`)
		}
	}
}

// talk runs a cassette with a client that waits for each answer, and grants all permissions.
// It returns the agent's messages.
func talk(t *testing.T, run func(in io.Reader, out io.Writer) (replay.Report, error), says ...string) (string, replay.Report, error) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var got bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		out := bufio.NewReader(outR)
		for _, text := range says {
			io.WriteString(inW, text+"\n")
			for {
				line, err := out.ReadString('\n')
				got.WriteString(line)
				m := wire.ValueOf(line)
				if m.Get("method").Text() == "session/request_permission" {
					fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`+"\n", m.Get("id").Raw())
				}
				if err != nil || !m.Get("method").Exists() && m.Get("id").Raw() == wire.ValueAt(text, "id").Raw() {
					break
				}
			}
		}
		inW.Close()
		io.Copy(&got, out)
	}()
	report, err := run(inR, outW)
	outW.Close()
	<-done
	return got.String(), report, err
}

func prompt(id int, session, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, session, text)
}

const setMode = `{"jsonrpc":"2.0","id":15,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"code"}}`

// A new prompt in a recorded session goes to the live agent, which gets the session by the
// best method that it has. The turn is added to the tape.
func TestNewPrompt(t *testing.T) {
	for _, tt := range []struct{ agent, two, three string }{
		{"forget", `opened by new, turn 1, mode \"code\", told one.`, `opened by new, turn 1, mode \"code\", told one two.`},
		{"deny", `opened by new, turn 1, mode \"code\", told one.`, `opened by new, turn 1, mode \"code\", told one two.`},
		{"load", `opened by load, turn 1, mode \"code\", told.`, `opened by load, turn 1, mode \"code\", told.`},
		{"resume", `opened by resume, turn 1, mode \"code\", told.`, `opened by resume, turn 1, mode \"code\", told.`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("recalling", tt.agent).Command}
			run := func(in io.Reader, out io.Writer) (replay.Report, error) {
				return c.Run(t.Context(), in, out, io.Discard)
			}
			says := []string{hello, makeNew, setMode, prompt(20, "s1", "one, ask me")}
			before, _, err := talk(t, run, says...)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{tt.two, tt.three} {
				c.Mode = replay.ModeNew
				says = append(says, prompt(21+i, "s1", []string{"two, ask me", "three"}[i]))
				got, report, err := talk(t, run, says...)
				if err != nil || report.Live != 1 || !strings.HasPrefix(got, before) || !strings.Contains(got[len(before):], want) {
					t.Fatalf("prompt %d: got %v and %+v\n%s\nwant %s, after\n%s", i+2, err, report, got, want, before)
				}
				c.Mode = replay.ModeNone
				again, report, err := talk(t, run, says...)
				if err != nil || again != got {
					t.Fatalf("prompt %d again: got %v\n%s\nwant\n%s\n%s", i+2, err, again, got, &report)
				}
				before = got
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "acptap-live-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if file := readFile(t, c.Path); strings.Contains(file, "record of the earlier conversation") || strings.Contains(file, "acptap-own") {
				t.Errorf("the file has what the client has not seen:\n%s", file)
			}
		})
	}
}

// A new session of an agent that counts its sessions from one again is not confused with the
// recorded one, and both continue.
func TestNewSessionBesideOld(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("recalling", "forget").Command}
	run := func(in io.Reader, out io.Writer) (replay.Report, error) {
		return c.Run(t.Context(), in, out, io.Discard)
	}
	says := []string{hello, makeNew, prompt(20, "s1", "one")}
	if _, _, err := talk(t, run, says...); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	another := strings.Replace(makeNew, `"id":11`, `"id":30`, 1)
	got, _, err := talk(t, run, append(says, another, prompt(31, "s1", "two"))...)
	id := ""
	for line := range strings.Lines(got) {
		if wire.ValueAt(line, "id").Raw() == "30" {
			id = wire.ValueAt(line, "result.sessionId").Text()
		}
	}
	if err != nil || id == "" || id == "s1" || !strings.Contains(got, "told one.") {
		t.Fatalf("got %v, the session %q, and\n%s", err, id, got)
	}
	c.Mode = replay.ModeNone
	again, report, err := talk(t, run, append(says, another, prompt(31, "s1", "two"))...)
	if err != nil || again != got {
		t.Errorf("again: got %v\n%s\nwant\n%s\n%s", err, again, got, &report)
	}
}

// Turns that a later run could not find are not recorded: a prompt that differs from the
// recorded one is a miss, and leaves the file unchanged. If nothing is recorded, the live
// agent continues from there.
func TestOtherPrompt(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("recalling", "forget").Command}
	run := func(in io.Reader, out io.Writer) (replay.Report, error) {
		return c.Run(t.Context(), in, out, io.Discard)
	}
	says := []string{hello, makeNew, prompt(20, "s1", "one"), prompt(21, "s1", "two"), prompt(22, "s1", "three, ask me"), setMode, prompt(23, "s1", "four")}
	if _, _, err := talk(t, run, says...); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, c.Path)
	says = says[:4]
	says[3] = prompt(21, "s1", "three")
	c.Mode = replay.ModeNew
	got, report, err := talk(t, run, says...)
	if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(got, `"id":21,"error"`) || readFile(t, c.Path) != before {
		t.Errorf("got %v\n%s\n%s", err, got, &report)
	}
	tape, err := record.OpenFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	a := replay.Agent{Tapes: []*record.Tape{tape}, Live: c.Command}
	got, report, err = talk(t, func(in io.Reader, out io.Writer) (replay.Report, error) {
		return a.Run(t.Context(), in, out, io.Discard)
	}, append(says, setMode, prompt(22, "s1", "four"))...)
	if err != nil || !strings.Contains(got, "turn 1, mode \\\"\\\", told one.") || !strings.Contains(got, "turn 2, mode \\\"code\\\", told.") {
		t.Errorf("where nothing is recorded: got %v\n%s\n%s", err, got, &report)
	}
}

// A client that loads a session, where the tape has only how it was made, gets it from
// the live agent.
func TestReopened(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("recalling", "forget").Command}
	run := func(in io.Reader, out io.Writer) (replay.Report, error) {
		return c.Run(t.Context(), in, out, io.Discard)
	}
	if _, _, err := talk(t, run, hello, makeNew, prompt(20, "s1", "one"), prompt(21, "s1", "two")); err != nil {
		t.Fatal(err)
	}
	says := []string{hello, `{"jsonrpc":"2.0","id":12,"method":"session/load","params":{"sessionId":"s1","cwd":"/w/rec","mcpServers":[]}}`, prompt(30, "s1", "three")}
	tape, err := record.OpenFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	a := replay.Agent{Tapes: []*record.Tape{tape}, Live: c.Command}
	got, report, err := talk(t, func(in io.Reader, out io.Writer) (replay.Report, error) {
		return a.Run(t.Context(), in, out, io.Discard)
	}, says...)
	if err != nil || !strings.Contains(got, `"sessionUpdate":"user_message_chunk"`) || !strings.Contains(got, "told one two.") {
		t.Errorf("got %v\n%s\n%s", err, got, &report)
	}
	c.Mode = replay.ModeNew
	got, report, err = talk(t, run, says...)
	if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(got, `"id":12,"error"`) {
		t.Errorf("where it would be recorded: got %v\n%s\n%s", err, got, &report)
	}
}

// A client that has said all and closes its end still gets the live agent's answer.
func TestNewPromptAtTheEnd(t *testing.T) {
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("recalling", "forget").Command}
	if _, _, err := talk(t, func(in io.Reader, out io.Writer) (replay.Report, error) {
		return c.Run(t.Context(), in, out, io.Discard)
	}, hello, makeNew, prompt(20, "s1", "one")); err != nil {
		t.Fatal(err)
	}
	all := strings.Join([]string{hello, makeNew, prompt(20, "s1", "one"), prompt(21, "s1", "two"), ""}, "\n")
	for _, tt := range []struct {
		command []string
		want    string
		err     error
	}{
		{[]string{"/nonexistent/agent"}, `"id":21,"error":{"code":-32603,"message":"acptap replay: the live agent ended: starting agent`, replay.ErrDiverged},
		{c.Command, "told one.", nil},
	} {
		c.Mode, c.Command = replay.ModeNew, tt.command
		var out bytes.Buffer
		if report, err := c.Run(t.Context(), strings.NewReader(all), &out, io.Discard); !errors.Is(err, tt.err) || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%q: got %v\n%s\n%s", tt.command, err, &out, &report)
		}
	}
}
