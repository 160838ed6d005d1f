package acptest_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/acptap/acptap/replay/acptest"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
)

func content(c *drive.Client) { c.Level = compare.Content }

// quick is for agents that say nothing after their last answer.
func quick(c *drive.Client) { c.Settle = 10 * time.Millisecond }

func TestClient(t *testing.T) {
	tape := recorded(t, &greeter{word: "hello"})
	for _, tt := range []struct {
		name string
		word string
		set  func(*drive.Client)
		err  string
	}{
		{"the same", "hello", content, ""},
		{"other words", "hi", func(*drive.Client) {}, ""},
		{"other words that count", "hi", content, `
-      | hello
+      | hi
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			goroutines := runtime.NumGoroutine()
			agent := &greeter{word: tt.word}
			f := try(t, func(f *fakeT) {
				acptest.Client(f, tape, acptest.Command(f, agent.serve), quick, tt.set)
			})
			f.check(t, tt.err)
			if n := agent.runs.Load(); n != 1 {
				t.Errorf("the agent was run %d times, want 1", n)
			}
			settle(t, goroutines)
		})
	}
}

func TestClientCannotPlay(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		agent      []string
		err        string
	}{
		{"no tape", "testdata/nothing.jsonl", []string{"/nonexistent/agent"}, "testdata/nothing.jsonl: no such file or directory; acptap export -o testdata/nothing.jsonl makes it"},
		{"no agent", "testdata/greeting.jsonl", []string{"/nonexistent/agent"}, `starting agent "/nonexistent/agent": `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := try(t, func(f *fakeT) { acptest.Client(f, tt.path, tt.agent) })
			f.check(t, tt.err)
		})
	}
}

// The agent's requests are answered from the tape: here the agent itself is played from the
// same tape.
func TestClientAnswers(t *testing.T) {
	acptest.Client(t, "testdata/greeting.jsonl", acptest.AgentCommand(t, "testdata/greeting.jsonl"), quick, content)
}

func TestClientWhereTheAgentLeaves(t *testing.T) {
	f := try(t, func(f *fakeT) {
		acptest.Client(f, "testdata/greeting.jsonl", acptest.Command(f, func(io.Reader, io.Writer) {}), quick)
	})
	f.check(t, "stopped: ")
}
