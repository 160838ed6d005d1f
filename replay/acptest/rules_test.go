package acptest_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/acptest"
)

const tape = "testdata/greeting.jsonl"

func partial(c *replay.Cassette) { c.Agent.Partial = true }

// TestRules: rules change what the client gets, and one that never hits is an error.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  []func(*replay.Cassette)
		said string // by the agent, among others
		err  string
	}{
		{"a change", []func(*replay.Cassette){acptest.Rules(`
			@word method:session/new kind:response => set result.sessionId "other"
			@never method:never => drop [may]
		`), partial}, `"sessionId":"other"`, ""},
		{"one that never hits", []func(*replay.Cassette){acptest.Rules("@never method:never => drop")}, `"end_turn"`, "testdata/greeting.jsonl: these rules never hit: never"},
		{"a fault", []func(*replay.Cassette){acptest.Fault("prompt-fails")}, `"error":{"code":-32603`, ""},
		{"a fault with a parameter", []func(*replay.Cassette){acptest.Fault("late-response,after=1ms")}, `"end_turn"`, ""},
		{"a fault that ends the agent", []func(*replay.Cassette){acptest.Fault("dies-mid-turn")}, "s-notes", ""},
		{"a fault that there is not", []func(*replay.Cassette){acptest.Fault("prompt-fail")}, "", "rules:1:5: \"prompt-fail\" is not a fault; did you mean prompt-fails? (acptap rules list)\nuse prompt-fail\n    ^\n"},
		{"a hold", []func(*replay.Cassette){acptest.Rules("@x kind:response => hold")}, "", "rules:1: the rule x holds frames, which only acptap proxy --ctl can release"},
		{"the same seed twice", []func(*replay.Cassette){acptest.Seed(1), acptest.Rules("@x kind:response => mark here [chance 50%]")}, `"end_turn"`, ""},
		{"another seed", []func(*replay.Cassette){acptest.Seed(1 << 40), acptest.Rules("@x method:initialize kind:response => mark here [chance 0.001%]")}, `"end_turn"`, "never hit: x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said string
			f := try(t, func(f *fakeT) {
				stdin, stdout := acptest.Agent(f, tape, tt.set...)
				said = ask(stdin, stdout, greeting...)
			})
			f.check(t, tt.err)
			if !strings.Contains(said, tt.said) {
				t.Errorf("the agent said %q, want %q", said, tt.said)
			}
		})
	}
}

// TestRulesRecordNothing: what rules made of a conversation does not get into a file.
func TestRulesRecordNothing(t *testing.T) {
	t.Setenv(replay.ModeVariable, "all")
	path := filepath.Join(t.TempDir(), "x.jsonl")
	try(t, func(f *fakeT) {
		acptest.Agent(f, path, acptest.Live("/nonexistent/agent"), acptest.Fault("bom"))
	}).check(t, "record it first without rules")
	try(t, func(f *fakeT) {
		stdin, stdout := acptest.Agent(f, tape, acptest.Live("/nonexistent/agent"), acptest.Fault("crlf"))
		ask(stdin, stdout, greeting...)
	}).check(t, "")
}

// TestRulesCommand: a process whose agent a rule ended exits as the rule says.
func TestRulesCommand(t *testing.T) {
	try(t, func(f *fakeT) {
		c := spawn(t, acptest.AgentCommand(f, tape, acptest.Fault("dies-mid-turn,status=7")))
		ask(c.stdin, c.stdout, greeting...)
		if code := c.end(); code != 7 {
			t.Errorf("it exits with %d", code)
		}
	}).check(t, "")
}

// lines sends requests and reads to the end, as a client without a timeout.
func lines(stdin io.WriteCloser, stdout io.Reader) {
	for _, r := range greeting {
		io.WriteString(stdin, r+"\n")
	}
	for in := bufio.NewScanner(stdout); in.Scan() && !strings.Contains(in.Text(), "stopReason"); {
	}
}

// TestFaults: a client that returns in time passes, whatever it receives; each fault that the
// tape triggers is a subtest.
func TestFaults(t *testing.T) {
	met := map[string]bool{}
	acptest.Faults(t, tape, func(t *testing.T, stdin io.WriteCloser, stdout io.ReadCloser) {
		met[t.Name()] = true
		for _, r := range greeting {
			io.WriteString(stdin, r+"\n")
		}
		stdin.Close()
	}, acptest.Within(time.Minute))
	for name, want := range map[string]bool{"bom": true, "silent-turn": true, "load-hangs": false, "call-never-answered": false} {
		if met["TestFaults/"+name] != want {
			t.Errorf("%s: run is %v, want %v", name, !want, want)
		}
	}
}

// TestBadClients: clients that wait forever or panic fail, without ending the others.
func TestBadClients(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("ACPTEST_BAD_CLIENT"))
	if err != nil {
		for _, tt := range []struct {
			limit, faults string
			want          []string
		}{
			{"1m", "bom|crlf|load-hangs", []string{
				"--- FAIL: TestBadClients/bom", "the client panics: boom", "--- PASS: TestBadClients/crlf",
				"--- SKIP: TestBadClients/load-hangs", "nothing on testdata/greeting.jsonl meets load-hangs",
			}},
			{"1ms", "never-initialized", []string{"--- FAIL: TestBadClients/never-initialized", "the client has not returned after 1ms"}},
		} {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestBadClients$/^("+tt.faults+")$", "-test.v")
			cmd.Env = append(os.Environ(), "ACPTEST_BAD_CLIENT="+tt.limit)
			out, err := cmd.CombinedOutput()
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%v: %q is not in\n%s", err, want, out)
				}
			}
		}
		return
	}
	acptest.Faults(t, tape, func(t *testing.T, stdin io.WriteCloser, stdout io.ReadCloser) {
		switch t.Name() {
		case "TestBadClients/bom":
			panic("boom")
		case "TestBadClients/never-initialized":
			lines(stdin, stdout)
		}
	}, acptest.Within(limit))
}
