package summary

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// TestLogText: a line of stderr is told without control sequences, time and level.
func TestLogText(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"", ""},
		{"\x1b[33m2026-11-28T09:00:01.123Z WARN\x1b[0m 429 Too Many Requests, retrying", "429 Too Many Requests, retrying"},
		{"[2026-11-28 09:00:01,123] [error] disk full", "disk full"},
		{"09:00:01 ERROR: disk full", "disk full"},
		{"Error: disk full", "Error: disk full"},
		{`{"level":"error","msg":"disk full"}`, "disk full"},
		{`{"level":"error"`, `{"level":"error"`},
		{`time=2026-11-28T09:00:01Z level=ERROR msg="disk \"a\" full" n=1`, `disk "a" full`},
		{"    at main (index.js:3:4)", ""},
		{"goroutine 1 [running]:", ""},
		{"main.main()", ""},
		{"--- ----", ""},
		{strings.Repeat("word ", 50), strings.TrimSpace(strings.Repeat("word ", 24)) + "…"},
	} {
		if got := logText([]byte(tt.line)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestStderrBefore: of the lines before a failure, the first of a panic or the like counts,
// else the last one that says something; not one long before, or before the turn.
func TestStderrBefore(t *testing.T) {
	const turn, says = "> turn", "< says"
	for _, tt := range []struct {
		name  string
		lines []string
		later time.Duration // from the last line to the failure
		want  string
	}{
		{"nothing", nil, 0, ""},
		{"the last", []string{"one", "two", "", "  at x"}, 0, "two"},
		{"long before", []string{"one"}, 2 * time.Minute, ""},
		{"before the turn", []string{"one", turn}, 0, ""},
		{"a panic", []string{"listening", "panic: no", "goroutine 1 [running]:", "more"}, 0, "panic: no"},
		{"the first of several", []string{"TypeError: x", "Error: y"}, 0, "TypeError: x"},
		{"the last that was said apart", []string{"TypeError: x", says, "Error: y"}, 0, "Error: y"},
		{"Rust", []string{"thread 'main' panicked at src/main.rs:5:10:", "no such key", "note: run with `RUST_BACKTRACE=1`"}, 0, "panicked at main.rs:5: no such key"},
		{"Python", []string{"Traceback (most recent call last):", `  File "a.py", line 1`, "KeyError: 'x'"}, 0, "KeyError: 'x'"},
		{"killed", []string{"/bin/sh: line 1: 12 Killed  node agent.js", "bye"}, 0, "/bin/sh: line 1: 12 Killed node agent.js"},
	} {
		var s stderrLog
		f := dialect.Frame{}
		for i, line := range tt.lines {
			f = dialect.Frame{Frame: wire.Frame{Seq: uint64(i + 1), At: time.Duration(i), Kind: wire.Stderr, Dir: wire.AgentStderr, Raw: []byte(line)}}
			switch line {
			case turn:
				f.Kind, f.Dir, f.Events = wire.Request, wire.ClientToAgent, dialect.TurnBegan
			case says:
				f.Kind, f.Dir = wire.Notification, wire.AgentToClient
			}
			s.take(&f, 0)
		}
		got := ""
		f.At += tt.later
		if q := s.before(&f); q != nil {
			got = q.Line
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOneLine: several lines become one.
func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{"Done.", "Done."},
		{"Here is what I found:\n\nit divides by zero\nno test", "Here is what I found: it divides by zero · no test"},
		{"Fixed\nAll tests pass.\nBye", "Fixed · All tests pass. Bye"},
	} {
		if got := OneLine(tt.answer); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.answer, got, tt.want)
		}
	}
}

// TestFromWord: a line about a busy model begins with what says so.
func TestFromWord(t *testing.T) {
	for line, want := range map[string]string{
		"429, retrying in 2 s": "429, retrying in 2 s",
		"+279ms service=session.processor providerID=anthropic statusCode=429 error": "…statusCode=429 error",
		"+279ms service=session.processor providerID=anthropic statusCode=500 error": "+279ms service=session.processor providerID=anthropic statusCode=500 error",
	} {
		if got := fromWord(line, retryLine()); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// TestRetryLine: only a line about a busy model tells of retries.
func TestRetryLine(t *testing.T) {
	for line, want := range map[string]bool{
		"2026-11-23 10:00:00.429 INFO session saved": false,
		"took 429 ms":       false,
		"main.go:529: done": false,
		"retryable=false":   false,
		"2026-11-23 10:00:00.123 WARN HTTP 429, retry later": true,
		"statusCode=529":  true,
		"Retrying in 4 s": true,
		"API Error: Repeated 529 Overloaded errors": true,
	} {
		var s stderrLog
		f := dialect.Frame{Frame: wire.Frame{Kind: wire.Stderr, Raw: []byte(line)}}
		if s.take(&f, 0); (s.retries.Count > 0) != want {
			t.Errorf("%q: got %t, want %t", line, !want, want)
		}
	}
}
