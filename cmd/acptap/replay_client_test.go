package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/record"
)

// shellAgent is the agent of turnLines, for a shell.
const shellAgent = `
read m; echo '{"id":0,"result":{"protocolVersion":VERSION}}'
read m; echo '{"id":1,"result":{"sessionId":"now"}}'
case $m in *"$PWD"*) ;; *) exit 9 ;; esac
read m; echo '{"method":"session/update","params":{"sessionId":"now","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ANSWER"}}}}'
echo '{"id":2,"result":{"stopReason":"end_turn"}}'
echo done >&2
cat >/dev/null
`

func TestReplayClient(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "turn.jsonl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(turnLines, "ANSWER", "yes")), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := func(version, answer string) []string {
		return []string{"--", "sh", "-c", strings.NewReplacer("VERSION", version, "ANSWER", answer).Replace(shellAgent)}
	}
	loads := filepath.Join(dir, "loads.jsonl")
	anew := strings.NewReplacer("ANSWER", "yes", `"session/new","params":{`, `"session/load","params":{"sessionId":"s",`).Replace(turnLines)
	if err := os.WriteFile(loads, []byte(anew), 0o600); err != nil {
		t.Fatal(err)
	}
	same, other, newer := agent("1", "yes"), agent("1", "no"), agent("2", "yes")
	tests := []struct {
		name   string
		args   []string
		agent  []string
		stdout string
		stderr string
		code   int
	}{
		{"same", []string{"--compare", "content", file}, same, "", "done\n", 0},
		{"same shape", []string{file}, other, "", "done\n", 0},
		{"differs", []string{"--compare", "content", file}, other, "--- " + file + `
+++ now
@@ -8,5 +8,5 @@
     user
       | hi
     agent
-      | yes
+      | no
   turn 1: done
`, "done\n", 1},
		{"in a directory", []string{"--cwd", dir, "--compare", "content", file}, same, "", "done\n", 0},
		{"a session that is only loaded", []string{loads}, same, "", "", 2},
		{"made anew", []string{"--as-new", loads}, same, "", "done\n", 0},
		{"another dialect", []string{file}, newer, "", "", 2},
		{"no agent", []string{file}, nil, "", "", 2},
		{"no such agent", []string{file}, []string{"--", "./no-such-agent"}, "", "", 127},
		{"no such level", []string{"--compare", "all", file}, same, "", "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, err := replayClientOf(t, "", append(tt.args, tt.agent...)...)
			if stdout != tt.stdout || stderr != tt.stderr || cli.ExitCode(err) != tt.code {
				t.Errorf("got %q, %q, %v\nwant %q, %q, %d", stdout, stderr, err, tt.stdout, tt.stderr, tt.code)
			}
		})
	}
	t.Run("saved", func(t *testing.T) {
		store := t.TempDir()
		_, stderr, err := replayClientOf(t, store, append([]string{"--save", "--name", "bot", file}, same...)...)
		if err != nil {
			t.Fatal(err)
		}
		l, err := record.OpenStore(store).List()
		if err != nil || len(l.Tapes) != 1 || l.Tapes[0].Start.Name != "bot" || l.Tapes[0].Turns != 1 {
			t.Fatalf("got %+v, %v", l, err)
		}
		if want := "done\nacptap: tape: " + l.Tapes[0].Tape + "\n"; stderr != want {
			t.Errorf("got %q, want %q", stderr, want)
		}
	})
}

func replayClientOf(t *testing.T, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Chdir(t.TempDir()) // it may go to another directory itself
	var out, errOut bytes.Buffer
	cmd := newReplayClientCmd(&dir)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	err = cmd.Execute()
	return out.String(), errOut.String(), err
}
