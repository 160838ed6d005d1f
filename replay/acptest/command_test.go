package acptest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/acptest"
)

// A child is an agent that a client has started.
type child struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr bytes.Buffer
}

func spawn(t testing.TB, command []string) *child {
	c := &child{Cmd: exec.Command(command[0], command[1:]...)}
	var err error
	if c.stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.stdout, err = c.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	c.Stderr = &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// end closes the stdin, and returns the exit status, -1 if a signal ended it.
func (c *child) end() int {
	c.stdin.Close()
	io.Copy(io.Discard, c.stdout)
	c.Wait()
	return c.ProcessState.ExitCode()
}

// ending returns a tape that is testdata/greeting.jsonl with another line.
func ending(t testing.TB, line string) string {
	t.Helper()
	tape, err := os.ReadFile("testdata/greeting.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, append(tape, line+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAgentCommand(t *testing.T) {
	for _, tt := range []struct {
		name     string
		last     string // line of the tape
		requests []string
		status   int
		err      string
	}{
		{"as recorded", "", greeting, 0, ""},
		{"with an exit status", `{"dir":"a2c","exit":{"code":3}}`, greeting, 3, ""},
		{"killed", `{"dir":"a2c","exit":{"code":137,"signal":"killed"}}`, greeting, -1, ""},
		{"less", "", greeting[:1], 1, "never came: session/prompt, frame 6\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.status < 0 && runtime.GOOS == "windows" {
				t.Skip("there are no signals")
			}
			path := ending(t, tt.last)
			f := try(t, func(f *fakeT) {
				agent := spawn(t, acptest.AgentCommand(f, path))
				said := ask(agent.stdin, agent.stdout, tt.requests...)
				status := agent.end()
				if status != tt.status {
					t.Errorf("got the exit status %d, want %d", status, tt.status)
				}
				if got := strings.Count(said, `"result"`); got != len(tt.requests) {
					t.Errorf("got %d answers, want %d: %s", got, len(tt.requests), said)
				}
				if got, want := agent.stderr.String(), "greeter: ready\n"; got != want {
					t.Errorf("got the stderr %q, want %q", got, want)
				}
			})
			f.check(t, tt.err)
		})
	}
}

// However the client ends the process, the verdict is the same and nothing is
// left.
func TestAgentCommandEnds(t *testing.T) {
	const less = "never came: session/prompt, frame 6\n"
	closed := func(agent *child) { agent.end() }
	killed := func(agent *child) { agent.Process.Kill() }
	left := func(*child) {}
	unread := func(agent *child) { io.WriteString(agent.stdin, newSession+"\n") }
	for _, tt := range []struct {
		name     string
		requests []string
		end      func(agent *child)
		err      string
	}{
		{"closed", greeting, closed, ""},
		{"killed", greeting, killed, ""},
		{"left running", greeting, left, ""},
		{"closed early", greeting[:1], closed, less},
		{"killed early", greeting[:1], killed, less},
		{"left running early", greeting[:1], left, less},
		{"left running and not read", greeting[:1], unread, less},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sockets := filepath.Join(os.TempDir(), "acptest-*")
			before, _ := filepath.Glob(sockets)
			goroutines := runtime.NumGoroutine()
			var agent *child
			f := try(t, func(f *fakeT) {
				agent = spawn(t, acptest.AgentCommand(f, "testdata/greeting.jsonl"))
				ask(agent.stdin, agent.stdout, tt.requests...)
				tt.end(agent)
			})
			f.check(t, tt.err)
			agent.Wait() // returns only if the process has ended
			settle(t, goroutines)
			if after, _ := filepath.Glob(sockets); len(after) > len(before) {
				t.Errorf("got %d sockets, want %d", len(after), len(before))
			}
		})
	}
}

// A client that stops reading while its agent has more output than pipes hold blocks
// nothing: neither the end of the test nor its own wait for the agent to end.
func TestAgentCommandUnread(t *testing.T) {
	long := fmt.Sprintf(`{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"_x/long","params":%q}}`, strings.Repeat("x", 16<<20))
	path := ending(t, long)
	for _, tt := range []struct {
		name string
		end  func(agent *child)
	}{
		{"at the end of the test", func(*child) {}},
		{"at the end of the agent", func(agent *child) {
			agent.stdin.Close()
			agent.Process.Wait()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var agent *child
			f := try(t, func(f *fakeT) {
				agent = spawn(t, acptest.AgentCommand(f, path))
				ask(agent.stdin, agent.stdout, greeting...)
				tt.end(agent)
			})
			f.check(t, "")
			agent.Wait()
		})
	}
}

func TestAgentCommandStarts(t *testing.T) {
	f := try(t, func(f *fakeT) { acptest.AgentCommand(f, "testdata/greeting.jsonl") })
	f.check(t, "the agent was not started, or TestMain does not call acptest.Main")

	f = try(t, func(f *fakeT) {
		acptest.AgentCommand(f, "testdata/greeting.jsonl", func(c *replay.Cassette) { c.Agent.Partial = true })
	})
	f.check(t, "")

	f = try(t, func(f *fakeT) {
		command := acptest.AgentCommand(f, "testdata/greeting.jsonl")
		for range 2 {
			agent := spawn(t, command)
			ask(agent.stdin, agent.stdout, greeting...)
			agent.end()
		}
	})
	f.check(t, "the agent was started 2 times")

	var late *child
	try(t, func(f *fakeT) {
		command := acptest.AgentCommand(f, "testdata/greeting.jsonl")
		f.end()
		late = spawn(t, command)
	})
	if status := late.end(); status != 2 || !strings.HasPrefix(late.stderr.String(), "acptest: the test has ended: ") {
		t.Errorf("after the test: got status %d and %q", status, late.stderr.String())
	}
}

func TestAgentCommandRecords(t *testing.T) {
	t.Setenv(replay.ModeVariable, "")
	path := filepath.Join(t.TempDir(), "x.jsonl")
	real := &greeter{word: "hello"}
	live := acptest.Live(acptest.Command(t, real.serve)...)
	var said [2]string
	for i := range said {
		f := try(t, func(f *fakeT) {
			agent := spawn(t, acptest.AgentCommand(f, path, live))
			said[i] = ask(agent.stdin, agent.stdout, greeting...)
			agent.Process.Kill() // clients do that
			agent.Wait()
		})
		f.check(t, "")
		if got := strings.Contains(f.logged.String(), "x.jsonl was recorded from"); got != (i == 0) {
			t.Errorf("run %d logs %q", i+1, f.logged.String())
		}
	}
	if said[0] != said[1] || !strings.Contains(said[0], "hello") {
		t.Errorf("recorded %q, replayed %q", said[0], said[1])
	}
	if n := real.runs.Load(); n != 1 {
		t.Errorf("the agent was run %d times, want 1", n)
	}
}

// Without Main the test binary ends at once, and runs no tests.
func TestRelayFlagIsUnknown(t *testing.T) {
	out, err := exec.Command(os.Args[0], "-test.run=^$", "-acptest.relay=x").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "flag provided but not defined: -acptest.relay") {
		t.Errorf("got %v: %s", err, out)
	}
}
