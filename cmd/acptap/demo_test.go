package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/cmd/acptap/internal/demo"
	"github.com/acptap/acptap/cmd/acptap/internal/settings"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// scriptLines returns what one side says in the script.
func scriptLines(script []demo.Step, by wire.Direction) []string {
	var all []string
	for _, step := range script {
		if step.By == by {
			all = append(all, step.Line)
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
	script := demo.Script()
	for dir := range wire.Directions {
		if d := cmp.Diff(scriptLines(script, dir), got[dir]); d != "" {
			t.Errorf("%v: script (-) and tape (+) differ:\n%s", dir, d)
		}
	}
	script = slices.DeleteFunc(script, func(s demo.Step) bool { return s.By == wire.AgentStderr })
	var want []string
	for _, step := range script {
		want = append(want, step.Line)
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

// Whatever the shell, the demo's line names the store to it.
func TestExportLine(t *testing.T) {
	for _, tt := range []struct{ shell, dir, want string }{
		{"bash", "/tmp/acptap-demo-1", "export ACPTAP_STORE=/tmp/acptap-demo-1"},
		{"", "/tmp/it's", `export ACPTAP_STORE='/tmp/it'\''s'`},
		{"fish", "/tmp/my tapes", "set -x ACPTAP_STORE '/tmp/my tapes'"},
		{"powershell", `C:\it's`, `$env:ACPTAP_STORE = 'C:\it''s'`},
	} {
		if got := exportLine(tt.shell, tt.dir); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.shell, got, tt.want)
		}
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
		{"a\nb\x1b[31m'\\", `$'a\012b\033[31m\'\\'`},
		{"\u009b2J", `$'\302\2332J'`},
		{"a\u202eb", `$'a\342\200\256b'`},
		{"日本", "日本"},
	} {
		if got := settings.ShellWords(tt.in); got != tt.want {
			t.Errorf("ShellWords(%q): got %s, want %s", tt.in, got, tt.want)
		}
	}
}
