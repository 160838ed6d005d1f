package acptest_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/acptest"
)

func TestModes(t *testing.T) {
	const one, two = `"text":"one"`, `"text":"two"`
	other := []string{ // a second session, which recorded files lack
		strings.NewReplacer(`"id":2`, `"id":4`, "notes", "plans").Replace(newSession),
		strings.NewReplacer(`"id":3`, `"id":5`, "s-notes", "s-plans").Replace(prompt),
	}
	further := strings.NewReplacer(`"id":3`, `"id":4`, "a greeting", "another").Replace(prompt)
	for _, tt := range []struct {
		name     string
		recorded bool // there is a file, in which the agent says one; now it says two
		mode     replay.Mode
		env      string
		requests []string
		said     string // by the agent; empty: nothing
		runs     int32  // of the agent
		file     string // contains that; empty: there is none
		err      string // of the test; empty: none
	}{
		{"once, without a file", false, replay.ModeOnce, "", greeting, two, 1, two, ""},
		{"once", true, replay.ModeOnce, "", greeting, one, 0, one, ""},
		{"none, without a file", false, replay.ModeNone, "", greeting, "", 0, "", "the mode none does not record it"},
		{"none", true, replay.ModeNone, "", greeting, one, 0, one, ""},
		{"none, with something new", true, replay.ModeNone, "", append(greeting, other...), one, 0, one, "miss: session/new "},
		{"new, with nothing new", true, replay.ModeNew, "", greeting, one, 0, one, ""},
		{"new", true, replay.ModeNew, "", append(greeting, other...), two, 1, two, ""},
		{"new, in a recorded session", true, replay.ModeNew, "", append(greeting, further), two, 1, two, ""},
		{"none, with something new in a recorded session", true, replay.ModeNone, "", append(greeting, further), one, 0, one, "to add what it lacks: ACPTAP_MODE=new go test "},
		{"all", true, replay.ModeAll, "", greeting, two, 1, two, ""},
		{"none on a build server", false, replay.ModeOnce, "none", greeting, "", 0, "", "the mode none does not record it"},
		{"none in place of all", true, replay.ModeAll, "none", greeting, one, 0, one, ""},
		{"all by the environment", true, replay.ModeOnce, "all", greeting, two, 1, two, ""},
		{"a mode that is none", true, replay.ModeOnce, "some", greeting, "", 0, one, `ACPTAP_MODE: unknown mode "some"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "testdata", "x.jsonl")
			play := func(g *greeter, mode replay.Mode, requests []string) (said string, f *fakeT) {
				agent := acptest.Command(t, g.serve)
				f = try(t, func(t *fakeT) {
					stdin, stdout := acptest.Agent(t, path, acptest.Live(agent...), func(c *replay.Cassette) { c.Mode = mode })
					said = ask(stdin, stdout, requests...)
				})
				return said, f
			}
			t.Setenv(replay.ModeVariable, "")
			if tt.recorded {
				_, f := play(&greeter{word: "one"}, replay.ModeAll, greeting)
				f.check(t, "")
			}
			t.Setenv(replay.ModeVariable, tt.env)
			agent := &greeter{word: "two"}
			said, f := play(agent, tt.mode, tt.requests)
			f.check(t, tt.err)
			if !strings.Contains(said, tt.said) {
				t.Errorf("the agent said %q, want %q", said, tt.said)
			}
			if n := agent.runs.Load(); n != tt.runs {
				t.Errorf("the agent was run %d times, want %d", n, tt.runs)
			}
			if got := strings.Contains(f.logged.String(), "recorded from"); got != (tt.runs > 0) {
				t.Errorf("the agent was run %d times, and the test is told %q", tt.runs, f.logged.String())
			}
			file, err := os.ReadFile(path)
			if got := err == nil; got != (tt.file != "") || !strings.Contains(string(file), tt.file) {
				t.Errorf("the file is %q, %v; want %q", file, err, tt.file)
			}
			if tt.err != "" {
				return
			}
			t.Setenv(replay.ModeVariable, "none") // whatever has happened is on it
			again, f := play(agent, tt.mode, tt.requests)
			f.check(t, "")
			if again != said {
				t.Errorf("replayed, the agent said %q, want %q", again, said)
			}
		})
	}
}

func TestAgent(t *testing.T) {
	t.Setenv(replay.ModeVariable, "all") // which is none where there is no agent
	partial := func(c *replay.Cassette) { c.Agent.Partial = true }
	wrong := strings.Replace(prompt, "greeting", "farewell", 1)
	for _, tt := range []struct {
		name     string
		set      []func(*replay.Cassette)
		requests []string
		err      string
	}{
		{"as recorded", nil, greeting, ""},
		{"nothing", nil, nil, "never came: initialize, frame 1\n"},
		{"nothing at all need come", []func(*replay.Cassette){partial}, nil, ""},
		{"less", nil, greeting[:2], "never came: session/prompt, frame 6\n"},
		{"another prompt", nil, []string{initialize, newSession, wrong}, `
    prompt[0].text
  - "Write a greeting"
  + "Write a farewell"
`},
		{"another prompt is partial too", []func(*replay.Cassette){partial}, []string{initialize, newSession, wrong}, "session/prompt is not the recorded one"},
		{"any prompt", []func(*replay.Cassette){func(c *replay.Cassette) { c.Agent.Matching = replay.MatchMethod }}, []string{initialize, newSession, wrong}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := try(t, func(t *fakeT) {
				stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl", tt.set...)
				ask(stdin, stdout, tt.requests...)
			})
			f.check(t, tt.err)
			if len(tt.requests) > 0 && !strings.Contains(f.logged.String(), "greeter: ready\n") {
				t.Errorf("the stderr of the tape is not in the output of the test: %q", f.logged.String())
			}
		})
	}
}

func TestAgentWithoutTape(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(broken, []byte("{\"acptap\":1}\n{\"dir\":\"c2a\",\"fr\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"testdata/nothing.jsonl": "there is no agent to record it from",
		broken:                   "broken.jsonl:2: ",
	} {
		f := try(t, func(f *fakeT) {
			acptest.Agent(f, path)
			t.Errorf("%s: the test goes on, to complain about its client", path)
		})
		f.check(t, want)
	}
}

func TestLiveAgentThatIsMissing(t *testing.T) {
	t.Setenv(replay.ModeVariable, "")
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f := try(t, func(t *fakeT) {
		stdin, stdout := acptest.Agent(t, path, acptest.Live("/nonexistent/agent"))
		ask(stdin, stdout, greeting...)
	})
	f.check(t, `starting agent "/nonexistent/agent": `)
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}

// A failure says how to record the file, where that is possible.
func TestRemedy(t *testing.T) {
	t.Setenv(replay.ModeVariable, "none")
	live := acptest.Live("/nonexistent/agent")
	const tape = "testdata/greeting.jsonl"
	t.Run("a.b", func(t *testing.T) {
		for path, want := range map[string]string{
			tape:            "to record it anew: ACPTAP_MODE=all go test -run '^TestRemedy$/^a\\.b$'\n",
			"missing.jsonl": "to record it: ACPTAP_MODE=once go test -run '^TestRemedy$/^a\\.b$'\n",
		} {
			f := try(t, func(f *fakeT) { acptest.Agent(f, path, live) })
			f.check(t, want)
		}
	})
	f := try(t, func(f *fakeT) { acptest.Agent(f, tape) })
	if got := f.said.String(); got == "" || strings.Contains(got, "record it") {
		t.Errorf("without an agent, got the errors %q", got)
	}
}

// Nothing is left when a test has ended, whatever the client has done.
func TestAgentLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client func(stdin io.WriteCloser, stdout io.ReadCloser)
	}{
		{"orderly", func(stdin io.WriteCloser, stdout io.ReadCloser) {
			ask(stdin, stdout, greeting...)
			stdin.Close()
			io.Copy(io.Discard, stdout)
		}},
		{"in a turn", func(stdin io.WriteCloser, _ io.ReadCloser) {
			for _, r := range greeting {
				io.WriteString(stdin, r+"\n")
			}
		}},
		{"closing stdout", func(stdin io.WriteCloser, stdout io.ReadCloser) {
			stdout.Close()
			io.WriteString(stdin, initialize+"\n")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			try(t, func(t *fakeT) { tt.client(acptest.Agent(t, "testdata/greeting.jsonl")) })
			settle(t, before)
		})
	}
}

// settle waits for goroutines to end that are about to.
func settle(t testing.TB, want int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Fatalf("got %d goroutines, want %d:\n%s", runtime.NumGoroutine(), want, buf[:runtime.Stack(buf, true)])
		}
	}
}
