package summary_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// sessionsOf summarizes each session on tapes separately.
func sessionsOf(sources ...reading.Part) map[*trace.Session]summary.Summary {
	var tr trace.Trace
	var all summary.Sessions
	for _, source := range sources {
		tr.Next(source.Info.Connection)
		all.End(&tr)
		all.Begin(source.Info)
		for f, err := range source.Frames {
			if err != nil {
				all.Broken()
				continue
			}
			tr.Add(&f)
			all.Take(&f, &tr)
		}
	}
	tr.End()
	all.End(&tr)
	sums := map[*trace.Session]summary.Summary{}
	for _, session := range tr.Sessions {
		sums[session] = all.Summary(session)
	}
	return sums
}

// head is what is shown above the conversation.
func head(s summary.Summary) string {
	var b strings.Builder
	for _, spans := range s.Head(0, "")[1:] {
		for _, span := range spans {
			b.WriteString(span.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestSessions: the summary of a session has nothing of other sessions, but has what
// happened to the agent.
func TestSessions(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(`
> {"id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"id":0,"error":{"code":1,"message":"not yet"}}
> {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"id":1,"result":{"sessionId":"a"}}
> {"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"id":2,"result":{"sessionId":"b"}}
> {"id":3,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"text","text":"hi"}]}}
> {"id":4,"method":"session/prompt","params":{"sessionId":"b","prompt":[{"type":"text","text":"ho"}]}}
< {"method":"session/update","params":{"sessionId":"b","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"Fail","status":"in_progress"}}}
< {"method":"session/update","params":{"sessionId":"b","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}}}
< {"id":4,"result":{"stopReason":"refusal","usage":{"inputTokens":7}}}
< this is no message
< {"id":3,"result":{"stopReason":"end_turn"}}
> {"id":5,"method":"session/fork","params":{"sessionId":"a","cwd":"/w","mcpServers":[]}}
< {"id":5,"result":{"sessionId":"c"}}
> {"id":6,"method":"session/prompt","params":{"sessionId":"c","prompt":[{"type":"text","text":"go"}]}}`), "\n")
	want := map[string]string{
		"a": `failed    ✗ a line that is not JSON-RPC (frame 12)
did       1 turn: done
time      10 ms: the agent 6 ms
slowest   1 ms  session/new (frame 3)
`,
		"b": `failed    ✗ open           turn 1: refused by the agent (frame 11)
          ✗ open           Fail (frame 10)
          ✗ a line that is not JSON-RPC (frame 12)
did       1 turn: refused · 1 tool call (1 failed): Fail
time      7 ms: the agent 2 ms, tools 1 ms
slowest   1 ms  session/new (frame 5)
cost      no cost reported · tokens: 7 in
`,
		"c": `failed    ✗ turn 1: no answer (frame 16)
did       1 turn: recording cut off
slowest   1 ms  session/fork (frame 14)
`,
	}
	first := map[string]string{
		"a": "⚡ recording cut off · session 1 of 3 · 10 ms · 1 failed · hi",
		"b": "⚡ recording cut off · session 1 of 3 · 7 ms · 3 failed · ho",
		"c": "⚡ recording cut off · session 1 of 3 · 2 ms · 1 failed · go",
	}
	got := map[string]string{}
	for session, sum := range sessionsOf(reading.Part{Info: record.Info{Tape: "x"}, Frames: frames(slices.Values(lines))}) {
		got[session.ID] = head(sum)
		if line := termtext.SpansText(sum.Head(0, "session 1 of 3")[0], false); line != first[session.ID] {
			t.Errorf("session %s: got %q, want %q", session.ID, line, first[session.ID])
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSessionsAlone: the summary of a session is that of its frames, whatever else is on
// the tapes.
func TestSessionsAlone(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/tapes/acp*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v in %v", err, paths)
	}
	for _, path := range paths {
		tape, err := record.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := tape.Info()
		if err != nil {
			t.Fatal(err)
		}
		for session, got := range sessionsOf(reading.Part{Info: info, Frames: tape.Frames(1)}) {
			asked := map[uint64]bool{}
			for f := range tape.Frames(1) {
				if reply := f.Request; f.Session == session.ID && reply != 0 {
					asked[reply] = true
				}
			}
			want, _ := summary.Of(t.Context(), reading.New([]reading.Part{{Info: info, Frames: func(yield func(dialect.Frame, error) bool) {
				for f, err := range tape.Frames(1) {
					if (f.Session == session.ID || f.Kind == wire.Mark || asked[f.Seq]) && !yield(f, err) {
						return
					}
				}
			}}}))
			if head(got) != head(want) {
				t.Errorf("%s, session %s: got\n%swant\n%s", filepath.Base(path), session.ID, head(got), head(want))
			}
		}
	}
}
