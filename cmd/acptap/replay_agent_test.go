package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/acptap/acptap/replay"
)

// The messages of the client of turnLines, and the agent's answers.
const (
	turnInitialize = `{"id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"
	turnNew        = `{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n"
	turnPrompt     = `{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}` + "\n"

	turnInitialized = `{"id":0,"result":{"protocolVersion":1}}` + "\n"
	turnMade        = `{"id":1,"result":{"sessionId":"s"}}` + "\n"
	turnAnswer      = `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ANSWER"}}}}` + "\n" +
		`{"id":2,"result":{"stopReason":"end_turn"}}` + "\n"

	turnClient = turnInitialize + turnNew + turnPrompt
	turnAgent  = turnInitialized + turnMade + turnAnswer
)

// twoSessions is turnLines and a second session on the same connection.
var twoSessions = turnLines + `{"dir":"c2a","frame":{"id":3,"method":"session/new","params":{"cwd":"/v","mcpServers":[]}}}
{"dir":"a2c","frame":{"id":3,"result":{"sessionId":"t-1"}}}
{"dir":"c2a","frame":{"id":4,"method":"session/prompt","params":{"sessionId":"t-1","prompt":[{"type":"text","text":"ho"}]}}}
{"dir":"a2c","frame":{"id":4,"result":{"stopReason":"refusal"}}}
`

func TestReplayAgent(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	turn := file("turn.jsonl", turnLines)
	two := file("two.jsonl", twoSessions)
	connections := file("connections.jsonl", turnLines+strings.ReplaceAll(turnLines, "ANSWER", "second"))
	stderr := file("stderr.jsonl", `{"dir":"err","text":"ready"}`+"\n"+turnLines+`{"dir":"c2a","eof":true}`+"\n"+`{"dir":"a2c","exit":{"code":7}}`+"\n")
	lines := strings.SplitAfter(turnLines, "\n")
	wrong := strings.Replace(turnPrompt, "hi", "ho", 1)
	second := strings.NewReplacer(`"id":1`, `"id":3`, `"id":2`, `"id":4`, `"/w"`, `"/v"`, `"s"`, `"t-1"`, `"hi"`, `"ho"`).Replace(turnNew + turnPrompt)
	secondSaid := `{"id":3,"result":{"sessionId":"t-1"}}` + "\n" + `{"id":4,"result":{"stopReason":"refusal"}}` + "\n"

	for _, tt := range []struct {
		name   string
		args   []string
		client string
		stdout string
		stderr string // a part of it; empty: nothing
		code   int
	}{
		{"as recorded", []string{turn}, turnClient, turnAgent, "", 0},
		{"in another directory", []string{turn}, strings.ReplaceAll(turnClient, `"/w"`, `"/srv"`), turnAgent, "", 0},
		{"stderr and exit status", []string{stderr}, turnClient, turnAgent, "ready\n", 7},
		{"a miss wins", []string{stderr}, turnInitialize, turnInitialized, "ready\nacptap: never came: session/new, frame 4\nacptap: never came: session/prompt, frame 6\n", 1},
		{"another prompt by its method", []string{"--match", "method", turn}, turnInitialize + turnNew + wrong, turnAgent, "", 0},
		{"exactly", []string{"--match", "exact", turn}, strings.Replace(turnClient, `"protocolVersion":1`, `"protocolVersion":1,"x":2`, 1), "", "miss: initialize is not the recorded one; the tape has initialize in frame 1: x is 2, not missing", 1},
		{"less than recorded", []string{turn}, turnInitialize, turnInitialized, "acptap: never came: session/prompt, frame 5\n", 1},
		{"less, as it may be", []string{"--partial", turn}, turnInitialize, turnInitialized, "", 0},

		{"all sessions", []string{two}, turnClient + second, turnAgent + secondSaid, "", 0},
		{"one session", []string{"--session", "t-1", two}, turnInitialize + second, turnInitialized + secondSaid, "", 0},
		{"one session by its beginning", []string{"--session", "t", two}, turnInitialize + second, turnInitialized + secondSaid, "", 0},
		{"the other session", []string{"--session", "s", two}, turnClient, turnAgent, "", 0},
		{"no such session", []string{"--session", "z", two}, "", "", `acptap: session "z" is not on the tape, which has ["s" "t-1"]`, 2},
		{"no session at all", []string{"--session", "z", file("sessionless.jsonl", strings.Join(lines[:2], ""))}, "", "", `acptap: session "z" is not on the tape, which has none`, 2},
		{"some session", []string{"--session", "", two}, turnClient + second, turnAgent + secondSaid, "", 0},

		{"the first connection", []string{connections}, turnClient, turnAgent, "", 0},
		{"the second connection", []string{connections + "#2"}, turnClient, strings.ReplaceAll(turnAgent, "ANSWER", "second"), "", 0},
		{"no such connection", []string{connections + "#3"}, "", "", "acptap: there is no connection 3; the tape has 2", 2},
		{"no number", []string{connections + "#b"}, "", "", `acptap: "b" is not the number of a connection`, 2},

		{"an empty file", []string{file("empty.jsonl", `{"acptap":1}`)}, turnClient, "", "acptap: there is nothing on the tape that could be replayed", 2},
		{"no file", []string{filepath.Join(dir, "none.jsonl")}, turnClient, "", "none.jsonl: ", 2},
		{"no JSON", []string{file("cut.jsonl", turnLines[:len(turnLines)-9])}, turnClient, "", "cut.jsonl:7: no JSON", 2},
		{"a line too short", []string{file("bare.jsonl", strings.Join(lines[:2], "")+"{}\n")}, turnClient, "", "bare.jsonl:3: ", 2},
		{"an unknown direction", []string{file("dir.jsonl", lines[0]+strings.Replace(lines[1], "a2c", "a2b", 1))}, turnClient, "", `dir.jsonl:2: unknown direction "a2b"`, 2},
		{"an unknown version", []string{file("version.jsonl", `{"acptap":99}`+"\n"+turnLines)}, turnClient, "", "version.jsonl:1: portable form of version 99", 2},
		{"unknown fields", []string{file("fields.jsonl", `{"acptap":1,"sky":"blue"}`+"\n"+strings.ReplaceAll(turnLines, `{"dir"`, `{"moon":1,"dir"`))}, turnClient, turnAgent, "", 0},
		{"no initialize", []string{file("late.jsonl", strings.Join(lines[2:], ""))}, turnNew + turnPrompt, turnMade + turnAnswer, "", 0},
		{"a turn without its end", []string{file("open.jsonl", strings.Join(lines[:6], ""))}, turnClient, turnAgent[:strings.LastIndex(turnAgent, `{"id":2`)], "", 0},
		{"stdin", []string{"-"}, turnClient, "", "acptap: the tape cannot come from stdin, which is the client's", 2},

		{"two tapes", []string{turn, two}, "", "", "acptap: want one REF, got 2", 2},
		{"a pace that is none", []string{"--pace", "slow", turn}, "", "", `acptap: --pace: "slow" is no pace`, 2},
		{"a match that is none", []string{"--match", "all", turn}, "", "", `acptap: --match: unknown matching "all"`, 2},
		{"a patience that is none", []string{"--patience", "-1s", turn}, "", "", "acptap: --patience is negative", 2},
		{"live without an agent", []string{"--on-miss", "live", turn}, "", "", "acptap: --on-miss live needs an agent after --", 2},
		{"a mode without a file", []string{"--mode", "none", turn}, "", "", "acptap: --mode needs --file", 2},
		{"a file and a tape", []string{"--file", turn, two}, "", "", "acptap: --file and REF ", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), append([]string{"replay", "agent"}, tt.args...), strings.NewReader(tt.client), &out, &errOut)
			if got := out.String(); got != tt.stdout && tt.stdout != "" || tt.code == 2 && got != "" {
				t.Errorf("got %s\nwant %s", got, tt.stdout)
			}
			if got := errOut.String(); !strings.Contains(got, tt.stderr) || tt.stderr == "" && got != "" {
				t.Errorf("stderr: got %s\nwant %s", got, tt.stderr)
			}
			if code != tt.code {
				t.Errorf("got status %d, want %d", code, tt.code)
			}
		})
	}
}

// The modes of a file, with a shell for the agent.
func TestReplayFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell")
	}
	t.Setenv(replay.ModeVariable, "")
	path := filepath.Join(t.TempDir(), "turn.jsonl")
	agent := func(answer string) []string {
		script := "cat >/dev/null & " // takes what comes, and says its part
		for line := range strings.Lines(strings.ReplaceAll(turnAgent, "ANSWER", answer)) {
			script += "echo '" + strings.TrimSpace(line) + "';"
		}
		return []string{"--", "sh", "-c", "read a; read b; read c; " + script}
	}
	for _, tt := range []struct {
		name   string
		env    string
		args   []string
		agent  []string
		answer string // empty: nothing at all
		stderr string
		code   int
	}{
		{"none without a file", "", []string{"--mode", "none"}, agent("one"), "", "the mode none does not record it", 2},
		{"once without an agent", "", nil, nil, "", "there is no agent to record it from", 2},
		{"once without such an agent", "", nil, []string{"--", "/no/such/agent"}, "", "", 127},
		{"once", "", nil, agent("one"), "one", "", 0},
		{"once again", "", nil, agent("two"), "one", "", 0},
		{"none", "", []string{"--mode", "none"}, agent("two"), "one", "", 0},
		{"new", "", []string{"--mode", "new"}, agent("two"), "one", "", 0},
		{"all", "", []string{"--mode", "all"}, agent("two"), "two", "", 0},
		{"all, but on a build server", "none", []string{"--mode", "all"}, agent("three"), "two", "", 0},
		{"once, but by the environment", "all", nil, agent("three"), "three", "", 0},
		{"all without an agent", "", []string{"--mode", "all"}, nil, "", "acptap: mode all needs an agent after --", 2},
		{"a mode that is none", "", []string{"--mode", "some"}, nil, "", `acptap: --mode: unknown mode "some"`, 2},
		{"one of the environment", "some", nil, nil, "", `acptap: ACPTAP_MODE: unknown mode "some"`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(replay.ModeVariable, tt.env)
			args := append(append([]string{"replay", "agent", "--file", path}, tt.args...), tt.agent...)
			var out, errOut bytes.Buffer
			code := run(t.Context(), args, strings.NewReader(turnClient), &out, &errOut)
			want := ""
			if tt.answer != "" {
				want = strings.ReplaceAll(turnAgent, "ANSWER", tt.answer)
			}
			if out.String() != want || !strings.Contains(errOut.String(), tt.stderr) || code != tt.code {
				t.Errorf("got status %d, %q and %s\nwant status %d, %q and %s", code, &errOut, &out, tt.code, tt.stderr, want)
			}
		})
	}
	var errOut bytes.Buffer
	code := run(t.Context(), append([]string{"replay", "agent", "--file", path}, agent("four")...), strings.NewReader(""), io.Discard, &errOut)
	if want := "acptap: to record " + path + " again, use --mode all\n"; code != 1 || !strings.HasSuffix(errOut.String(), want) {
		t.Errorf("a client that says nothing got status %d and %swant status 1 and %s", code, &errOut, want)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the file there is %v, %v", left, err)
	}
}

// A replay ends as the agent did, also by a signal; told to end by one, it ends
// at once, and says what never came.
func TestReplayAgentSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	path := filepath.Join(t.TempDir(), "killed.jsonl")
	killed := turnLines[:strings.Index(turnLines, `{"dir":"a2c","frame":{"method"`)] + `{"dir":"a2c","exit":{"code":137,"signal":"killed"}}` + "\n"
	if err := os.WriteFile(path, []byte(killed), 0o600); err != nil {
		t.Fatal(err)
	}
	replayed := func(act func(cmd *exec.Cmd, in io.Writer, out io.Reader)) (os.ProcessState, string) {
		cmd := exec.Command("acptap", "replay", "agent", path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		act(cmd, in, out)
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) {
			t.Fatalf("got %v, %s", err, &errOut)
		}
		return *cmd.ProcessState, errOut.String()
	}
	state, said := replayed(func(_ *exec.Cmd, in io.Writer, out io.Reader) {
		io.WriteString(in, turnClient)
		io.Copy(io.Discard, out)
	})
	if status := state.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL || said != "" {
		t.Errorf("killed on the tape: got %v, %q", &state, said)
	}
	const wrong = `{"id":1,"method":"session/list"}` + "\n"
	interrupted := turnLines + `{"dir":"c2a","signal":"interrupt"}` + "\n" + `{"dir":"a2c","exit":{"code":7}}` + "\n"
	reloaded := strings.Replace(turnLines, `{"dir":"c2a","frame":{"id":2`, `{"dir":"c2a","signal":"interrupt"}`+"\n"+`{"dir":"c2a","frame":{"id":2`, 1) + `{"dir":"c2a","eof":true}` + "\n" + `{"dir":"a2c","exit":{"code":7}}` + "\n"
	for _, tt := range []struct {
		name   string
		tape   string
		client string
		signal syscall.Signal
		code   int
		report string // its beginning
	}{
		{"in the midst, by SIGTERM", turnLines, turnInitialize, syscall.SIGTERM, 143, "acptap: never came: session/new, frame 3\n"},
		{"in the midst, by SIGINT", turnLines, turnInitialize, syscall.SIGINT, 130, "acptap: never came: session/new, frame 3\n"},
		{"in the midst, by SIGHUP", turnLines, turnInitialize, syscall.SIGHUP, 129, "acptap: never came: session/new, frame 3\n"},
		{"when all was said", turnLines, turnClient, syscall.SIGINT, 130, ""},
		{"when all was said, as on the tape", interrupted, turnClient, syscall.SIGINT, 7, ""},
		{"when all was said, otherwise than on the tape", interrupted, turnClient, syscall.SIGTERM, 143, ""},
		{"by a signal that the agent of the tape outlived", reloaded, turnClient, syscall.SIGINT, 130, ""},
		{"after a miss", interrupted, turnInitialize + wrong, syscall.SIGINT, 1, "acptap: miss: session/list "},
	} {
		if err := os.WriteFile(path, []byte(tt.tape), 0o600); err != nil {
			t.Fatal(err)
		}
		state, said := replayed(func(cmd *exec.Cmd, in io.Writer, out io.Reader) {
			io.WriteString(in, tt.client)
			answers := bufio.NewReader(out)
			for range strings.Count(tt.client, "\n") + strings.Count(tt.client, turnPrompt) { // a turn has two lines
				answers.ReadString('\n') // it is at work
			}
			cmd.Process.Signal(tt.signal)
			io.Copy(io.Discard, answers)
		})
		if state.ExitCode() != tt.code || !strings.HasPrefix(said, tt.report) || tt.report == "" && said != "" {
			t.Errorf("ended %s: got %v, %q", tt.name, &state, said)
		}
	}
	long := strings.Replace(turnLines, "ANSWER", strings.Repeat("long ", 1<<20), 1) + `{"dir":"c2a","frame":{"id":3,"method":"session/list"}}` + "\n"
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	state, said = replayed(func(cmd *exec.Cmd, in io.Writer, out io.Reader) {
		io.WriteString(in, turnClient)
		io.ReadFull(out, make([]byte, len(turnInitialized+turnMade)+1<<20)) // and no more: it is blocked
		cmd.Process.Signal(syscall.SIGTERM)
	})
	if want := "acptap: never came: session/list"; state.ExitCode() != 143 || !strings.HasPrefix(said, want) {
		t.Errorf("with a client that does not read: got %v, %q", &state, said)
	}
}
