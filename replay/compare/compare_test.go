package compare_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

func TestOutline(t *testing.T) {
	tests := []struct {
		name  string
		level compare.Level
		want  string
	}{
		{"shape", compare.Shape, `
connection acp v1
  initialize: ok
session 1
  session/new: ok
  turn 1
    user
    thought
    tool call, delete: completed
      permission: allow_once
    agent
  turn 1: done
  told: available_commands_update, usage_update
`},
		{"content", compare.Content, `
connection acp v1
  initialize: ok
    with protocolVersion 1
    gave protocolVersion 1
session 1
  session/new: ok
  turn 1
    user
      | clean up
    thought
      | Hm.
    tool call, delete: completed
      | rm $CWD/tmp
      rawInput.path "$CWD/tmp"
      permission: allow_once
      | gone
    agent
      | All clean.
  turn 1: done
  told: available_commands_update, usage_update
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, err := compare.Outline(compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}}, tt.level)
			if err != nil {
				t.Fatal(err)
			}
			if got := "\n" + strings.Join(lines, "\n") + "\n"; got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Each session of the tapes that were made by hand has an outline of its own.
func TestOutlineOfOneSession(t *testing.T) {
	for name, text := range replaytest.Dialects(t) {
		tape := replaytest.Read(t, text)
		sessions, err := tape.Sessions()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			lines, err := compare.Outline(compare.Side{Tapes: []*record.Tape{tape}, Session: s.ID}, compare.Content)
			if err != nil || len(lines) < 3 || lines[0] != "session 1" {
				t.Errorf("%s, %s: got %q, %v", name, s.ID, lines, err)
			}
		}
	}
}

// Each row changes the conversation; want are the levels on which that counts.
func TestCompare(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     string
	}{
		{"nothing", "", "", ""},
		{"session id", "s-1", "other", "exact"},
		{"request id", `"id":2`, `"id":"two"`, "exact"},
		{"tool call id", "t1", "call_8", "exact"},
		{"option id", `"y"`, `"allow"`, "exact"},
		{"working directory", "/home/ann/project", "/tmp/x/y", "exact"},
		{"tokens", "1200", "1300", "exact"},
		{"chunks", `All `, `All cl`, "content exact"},
		{"text", "clean.", "tidy.", "content exact"},
		{"prompt", "clean up", "tidy up", "content exact"},
		{"tool output", "gone", "moved", "content exact"},
		{"title", "rm /home", "del /home", "content exact"},
		{"command's path", "/project/tmp", "/project/out", "content exact"},
		{"answer", `"selected","optionId":"y"`, `"selected","optionId":"n"`, "shape content exact"},
		{"stop reason", "end_turn", "refusal", "shape content exact"},
		{"tool's kind", `"delete"`, `"execute"`, "shape content exact"},
		{"tool's status", "completed", "failed", "shape content exact"},
		{"kind of update", "agent_thought_chunk", "agent_message_chunk", "shape content exact"},
		{"kind of state", "usage_update", "session_info_update", "shape content exact"},
		{"failure", `"result":{"stopReason":"end_turn"}`, `"error":{"code":-32603,"message":"no"}`, "shape content exact"},
		{"agent's version", `"version":"1"`, `"version":"2"`, "exact"},
		{"dialect", `"protocolVersion":1,"agentInfo"`, `"protocolVersion":2,"info"`, "shape content exact"},
	}
	a := compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.ReplaceAll(replaytest.Cleaning, tt.old, tt.new)
			if changed == replaytest.Cleaning && tt.old != "" {
				t.Fatalf("%q is not in the conversation", tt.old)
			}
			b := compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, changed)}}
			var got []string
			for _, level := range []compare.Level{compare.Shape, compare.Content, compare.Exact, compare.None} {
				diff, err := compare.Tapes(a, b, level)
				if err != nil {
					t.Fatal(err)
				}
				if !diff.Same() {
					got = append(got, level.String())
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got a difference in %q, want in %q", got, tt.want)
			}
		})
	}
}

// Two tapes with the same concurrent calls in different order are the same conversation.
func TestCompareSessionsBesideEachOther(t *testing.T) {
	const setup = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}
c {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
a {"jsonrpc":"2.0","id":2,"result":{"sessionId":"b"}}
c {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"text","text":"one"}]}}
c {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"b","prompt":[{"type":"text","text":"two"}]}}
`
	a := `a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"1"}}}}` + "\n"
	b := strings.ReplaceAll(strings.ReplaceAll(a, `"a"`, `"b"`), `"1"`, `"2"`)
	diff, err := compare.Tapes(
		compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, setup+a+b+a)}},
		compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, setup+b+a+a)}}, compare.Content)
	if err != nil || !diff.Same() {
		t.Errorf("got %v, %v", diff, err)
	}
	for session, want := range map[string]string{"a": "11", "b": "2"} {
		lines, err := compare.Outline(compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, setup+a+b+a)}, Session: session}, compare.Content)
		if err != nil || !strings.Contains(strings.Join(lines, "\n"), "| "+want) || lines[0] != "session 1" {
			t.Errorf("session %s: got %q, %v", session, lines, err)
		}
	}
}

func TestCompareTools(t *testing.T) {
	const calls = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
c {"jsonrpc":"2.0","method":"notifications/initialized"}
c {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":7}}}
a {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}]}}
`
	tests := []struct {
		name     string
		old, new string
		want     string
	}{
		{"nothing", "", "", ""},
		{"token", "7", "8", ""},
		{"tool", `"add"`, `"sub"`, "shape content"},
		{"argument", `"a":1`, `"a":2`, "content"},
		{"answer", `"3"`, `"4"`, "content"},
		{"failure", `"result":{"content":[{"type":"text","text":"3"}]}`, `"error":{"code":-32602,"message":"no"}`, "shape content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, level := range []compare.Level{compare.Shape, compare.Content} {
				diff, err := compare.Tapes(
					compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, calls)}},
					compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, strings.ReplaceAll(calls, tt.old, tt.new))}}, level)
				if err != nil {
					t.Fatal(err)
				}
				if !diff.Same() {
					got = append(got, level.String())
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got a difference in %q, want in %q", got, tt.want)
			}
		})
	}
}

// Every recorded tape is the same as itself and as no other.
func TestCompareRecorded(t *testing.T) {
	paths := replaytest.Recorded(t)
	for i, a := range paths {
		for _, b := range []string{a, paths[(i+1)%len(paths)]} {
			diff, err := compare.Tapes(
				compare.Side{Tapes: []*record.Tape{replaytest.Open(t, a)}}, compare.Side{Tapes: []*record.Tape{replaytest.Open(t, b)}}, compare.Exact)
			if err != nil {
				t.Fatal(err)
			}
			if diff.Same() != (a == b) {
				t.Errorf("%s and %s: got same %v", a, b, diff.Same())
			}
		}
	}
}

// A value that is too long to be written in full still differs from others, and the working
// directory in it does not count.
func TestCompareLongValues(t *testing.T) {
	long := func(dir, end string) compare.Side {
		command := `"command":"` + strings.Repeat("cat "+dir+"/a; ", 40) + end + `"`
		lines := strings.ReplaceAll(replaytest.Cleaning, "/home/ann/project", dir)
		return compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, strings.Replace(lines, `"rawInput":{`, `"rawInput":{`+command+`,`, 1))}}
	}
	tests := []struct {
		name string
		b    compare.Side
		same bool
	}{
		{"same", long("/home/ann/project", "x"), true},
		{"other directory", long("/tmp/y", "x"), true},
		{"other end", long("/tmp/y", "z"), false},
	}
	for _, tt := range tests {
		diff, err := compare.Tapes(long("/home/ann/project", "x"), tt.b, compare.Content)
		if err != nil || diff.Same() != tt.same {
			t.Errorf("%s: got %v, %v", tt.name, diff, err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	source := compare.Side{Tapes: []*record.Tape{replaytest.Open(b, replaytest.TapeFile(b, "mcp-everything.jsonl"))}}
	info, err := source.Tapes[0].Info()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(2 * info.Bytes)
	b.ReportAllocs()
	for b.Loop() {
		if diff, err := compare.Tapes(source, source, compare.Content); err != nil || !diff.Same() {
			b.Fatal(diff, err)
		}
	}
}
