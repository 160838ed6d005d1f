package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// scriptLines returns what one side says in the script.
func scriptLines(script []demoStep, by wire.Direction) []string {
	var all []string
	for _, step := range script {
		if step.by == by {
			all = append(all, step.lines...)
		}
	}
	return all
}

// The demo runs as a process: it starts the program that it is a part of, which
// for a test is the test.
func TestDemoTape(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	if out, err := exec.Command("acptap", "demo", "--store", store.Dir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := store.List()
	if err != nil || len(l.Tapes) != 2 {
		t.Fatalf("got %d tapes, error %v; want two", len(l.Tapes), err)
	}
	for _, i := range l.Tapes {
		if i.Exit == nil || i.Exit.Code != 0 {
			t.Errorf("the agent's end is %+v, want status 0", i.Exit)
		}
	}
	if len(l.Sessions) != 1 || len(l.Sessions[0].Runs) != 2 {
		t.Errorf("got the sessions %+v, want one on both tapes", l.Sessions)
	}
	tape, err := store.Open(l.Tapes[0].Tape)
	if err != nil {
		t.Fatal(err)
	}
	var got [wire.Directions][]string
	var messages []string // of both sides, in order
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Mark {
			continue
		}
		got[f.Dir] = append(got[f.Dir], string(f.Raw))
		if f.Dir != wire.AgentStderr {
			messages = append(messages, string(f.Raw))
		}
	}
	script := demoScript()
	for dir := range wire.Directions {
		if d := cmp.Diff(scriptLines(script, dir), got[dir]); d != "" {
			t.Errorf("%v: script (-) and tape (+) differ:\n%s", dir, d)
		}
	}
	script = slices.DeleteFunc(script, func(s demoStep) bool { return s.by == wire.AgentStderr })
	var want []string
	for _, step := range script {
		want = append(want, step.lines...)
	}
	if d := cmp.Diff(want, messages); d != "" {
		t.Errorf("order of the script (-) and of the tape (+):\n%s", d)
	}
}

func TestDemoInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("acptap", "demo", "--store", store.Dir())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		l, err := store.List()
		if err == nil && len(l.Tapes) == 1 && l.Tapes[0].Turns > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no turn is recorded: %+v, %v", l, err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("got %v, want exit status 2", err)
	}
	if got, want := stderr.String(), "acptap: demo: interrupt signal received"; !strings.HasPrefix(got, want) {
		t.Errorf("stderr is %q, want %q", got, want)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout is %q, want nothing", stdout.String())
	}
	// The proxy notes the agent's end once it is waited for, and leaves the
	// tape when it ends itself.
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	if i := l.Tapes[0]; i.Exit == nil || i.Live {
		t.Errorf("proxy running: %v, agent's end: %+v; want both ended", i.Live, i.Exit)
	}
}

func TestDemoAgent(t *testing.T) {
	script := demoScript()
	client, agent := scriptLines(script, wire.ClientToAgent), scriptLines(script, wire.AgentToClient)
	own := strings.NewReplacer( // another client: ids, names and words of its own
		`"id":0,"method":"initialize"`, `"id":"a","method":"initialize"`, `demo-editor`, `other`,
		`"id":1,"method":"session/new"`, `"id":1.0,"method":"session/new"`, `TestMean fails`, `Help`,
		`"result":{"content"`, `"result":{"_meta":{},"content"`)
	toOwn := strings.NewReplacer(
		`"id":0,"result":{"protocolVersion"`, `"id":"a","result":{"protocolVersion"`,
		`"id":1,"result":{"sessionId"`, `"id":1.0,"result":{"sessionId"`)
	all := strings.Join(client, "\n") + "\n"
	want := strings.Join(agent, "\n") + "\n"
	for _, tt := range []struct {
		name, in string
		out      string // empty: not looked at
		err      string // empty: exit status 0
	}{
		{"as in the script", all, want, ""},
		{"another client", own.Replace(all), toOwn.Replace(want), ""},
		{"line ends", strings.ReplaceAll(all, "\n", "\r\n"), want, ""},
		{"another order", client[1] + "\n", "", "where the script has"},
		{"another session", strings.ReplaceAll(all, demoSession, "other"), "", "where the script has"},
		{"permission refused", strings.Replace(all, `"optionId":"allow"`, `"optionId":"reject"`, 1), "", "where the script has"},
		{"an error", strings.Replace(all, `"id":0,"result":{"content":`, `"id":0,"error":{"code":-1,"data":`, 1), "", "where the script has"},
		{"an answer to another request", strings.Replace(all, `"id":1,"result"`, `"id":2,"result"`, 1), "", "where the script has"},
		{"no JSON", "hello\n", "", "the client said hello where"},
		{"nothing", "", "", "the client has ended, before "},
		{"more than the script", all + "{}\n", "", "3 bytes more than the script has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(context.Background(), []string{"demo-agent", "--fast"}, strings.NewReader(tt.in), &stdout, &stderr)
			if tt.out != "" && stdout.String() != tt.out {
				t.Errorf("stdout differs:\n%s", cmp.Diff(strings.Split(tt.out, "\n"), strings.Split(stdout.String(), "\n")))
			}
			if got, want := status != 0, tt.err != ""; got != want || !strings.Contains(stderr.String(), tt.err) {
				t.Errorf("got status %d and stderr %s\nwant %q", status, stderr.String(), tt.err)
			}
		})
	}
}

func TestDemoProgress(t *testing.T) {
	var b bytes.Buffer
	p := newDemoProgress(&b)
	for _, m := range []struct {
		by      wire.Direction
		message string
	}{
		{wire.ClientToAgent, `{"id":0,"method":"session/prompt","params":{}}`},
		{wire.AgentToClient, `{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`},
		{wire.AgentToClient, `{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`},
		{wire.AgentToClient, `{"id":0,"method":"fs/read_text_file","params":{}}`},
		{wire.ClientToAgent, `{"id":0,"result":{}}`},
		{wire.AgentToClient, `{"id":0,"result":{}}`},
	} {
		p.show(m.by, []byte(m.message))
	}
	const want = `client → session/prompt
agent  → session/update plan
agent  → fs/read_text_file
client → answers fs/read_text_file
agent  → answers session/prompt
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("want (-) and got (+) differ:\n%s", d)
	}
}

func TestShellWord(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"/tmp/acptap-demo-1", "/tmp/acptap-demo-1"},
		{"/tmp/my tapes", "'/tmp/my tapes'"},
		{"/tmp/it's", `'/tmp/it'\''s'`},
		{"/tmp/$HOME", "'/tmp/$HOME'"},
		{"~", "'~'"},
		{"", "''"},
	} {
		if got := shellWord(tt.in); got != tt.want {
			t.Errorf("shellWord(%q): got %s, want %s", tt.in, got, tt.want)
		}
	}
}
