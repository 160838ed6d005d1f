package stall_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A tape makes frames of lines: the time at which one comes, who says it, and what. >
// is the client, < the agent, ! a mark, and no sign ends the tape.
type tape struct {
	tracker *dialect.Tracker
	seq     uint64
}

func newTape() *tape { return &tape{tracker: dialect.NewTracker(dialect.AnyProtocol)} }

func (t *tape) frame(at time.Duration, sign, raw string) dialect.Frame {
	t.seq++
	f := dialect.Frame{Frame: wire.Frame{Seq: t.seq, At: at, Raw: []byte(raw), Size: int64(len(raw))}}
	if sign == "<" {
		f.Dir = wire.AgentToClient
	}
	e := wire.Scan(f.Raw)
	if f.Kind = e.Kind; sign == "!" {
		f.Kind = wire.Mark
	}
	f.Annotation, _ = t.tracker.Observe(&f.Frame, e)
	return f
}

const (
	hello  = "0 > {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n0.1 < {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}\n"
	create = hello + "0.2 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n0.3 < {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s\"}}\n"
	prompt = create + "1 > {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[]}}\n"
	mcp    = "0 > {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\"}}}\n0.1 < {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}}\n"
	chunk  = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}`
	done   = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
	tool   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"go test","status":"in_progress"}}}`
	ask    = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"rm"},"options":[]}}`
	cancel = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	exit   = `{"exit":{"code":1}}`
)

var stalls = []struct {
	name, lines, want string
}{
	{"silent", prompt + "2 < " + chunk + "\n49.5 < " + chunk + "\n50 < " + done + "\n200",
		"32 silent s 1 6: silent for 30 s: turn 1, after agent_message_chunk (frame 6)\n" +
			"49.5 silent over: goes on: silent for 47 s, then agent_message_chunk (frame 7)\n"},
	{"silent twice", prompt + "40 < " + chunk + "\n100 < " + done + "\n200",
		"31 silent s 1 5: silent for 30 s: turn 1, after session/prompt (frame 5)\n" +
			"40 silent over: goes on: silent for 39 s, then agent_message_chunk (frame 6)\n" +
			"70 silent s 1 6: silent for 30 s: turn 1, after agent_message_chunk (frame 6)\n" +
			"100 silent over: goes on: silent for 1m0s, then the answer to session/prompt (frame 7)\n"},
	{"no silence", prompt + "30 < " + chunk + "\n59 < " + chunk + "\n80 < " + done + "\n500", ""},
	{"another session does not break it", prompt + "20 > {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/list\",\"params\":{}}\n21 < {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"sessions\":[]}}\n40 < " + done + "\n200",
		"31 silent s 1 5: silent for 30 s: turn 1, after session/prompt (frame 5)\n" +
			"40 silent over: goes on: silent for 39 s, then the answer to session/prompt (frame 8)\n"},
	{"silent at the end", prompt + "60",
		"31 silent s 1 5: silent for 30 s: turn 1, after session/prompt (frame 5)\n" +
			"60 silent over: over: silent for 59 s, then the tape ended\n"},
	{"tool", prompt + "2 < " + tool + "\n400 < " + chunk + "\n401 < " + done + "\n900",
		"302 tool s 1 6: tool silent for 5m0s: turn 1, after tool_call \"go test\" (frame 6)\n" +
			"400 tool over: goes on: tool silent for 6m38s, then agent_message_chunk (frame 7)\n"},
	{"asked", prompt + "2 < " + ask + "\n130 > {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}\n131 < " + done + "\n900",
		"122 asked s 1 6: waits for you for 2m0s: turn 1, session/request_permission \"rm\" (frame 6)\n" +
			"130 asked over: goes on: waited for you for 2m8s, then the answer to session/request_permission (frame 7)\n"},
	{"a login waits for the user", hello + "2 > {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"authenticate\",\"params\":{\"methodId\":\"m\"}}\n130 < {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n900",
		"122 asked  0 3: waits for you for 2m0s: authenticate (frame 3)\n" +
			"130 asked over: goes on: waited for you for 2m8s, then the answer to authenticate (frame 4)\n"},
	{"client", prompt + "2 < {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"s\",\"path\":\"/w/a\"}}\n14 > {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":\"\"}}\n15 < " + done + "\n900",
		"12 client s 1 6: no answer by the client for 10 s: turn 1, fs/read_text_file (frame 6)\n" +
			"14 client over: goes on: no answer by the client for 12 s, then the answer to fs/read_text_file (frame 7)\n"},
	{"a command may take its time", prompt + "2 < {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"terminal/wait_for_exit\",\"params\":{\"sessionId\":\"s\",\"terminalId\":\"x\"}}\n290 > {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"exitCode\":0}}\n291 < " + done + "\n900", ""},
	{"setup", hello + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s\",\"cwd\":\"/w\",\"mcpServers\":[]}}\n20 < " + chunk + "\n60 < {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n900",
		"50 setup s 0 4: set-up silent for 30 s: session/load (frame 4)\n" +
			"60 setup over: goes on: set-up silent for 40 s, then the answer to session/load (frame 5)\n"},
	{"setup without end", "0 > {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n45",
		"30 setup  0 1: set-up silent for 30 s: initialize (frame 1)\n45 setup over: over: set-up silent for 45 s, then the tape ended\n"},
	{"hung", mcp + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"build\",\"_meta\":{\"progressToken\":\"p\"}}}\n50 < {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\",\"progress\":1}}\n120 < {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n900",
		"110 hung  0 4: no answer for 1m0s: tools/call \"build\" (frame 4)\n" +
			"120 hung over: goes on: no answer for 1m10s, then the answer to tools/call (frame 5)\n"},
	{"a server that asks is not late", mcp + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"build\"}}\n2 < {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{}}\n100 > {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}\n159 < {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n900", ""},
	{"MCP does not answer what is cancelled", mcp + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"build\"}}\n2 > {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n900", ""},
	{"what is asked for until the end", "0 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{}}\n900", ""},
	{"cancel", prompt + "2 < " + chunk + "\n3 > " + cancel + "\n5 < " + chunk + "\n20 < {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"cancelled\"}}\n900",
		"13 cancel s 1 7: cancel not confirmed for 10 s: turn 1, after agent_message_chunk (frame 7)\n" +
			"20 cancel over: goes on: cancel not confirmed for 17 s, then the answer to session/prompt (frame 9)\n"},
	{"works on after a cancel", prompt + "2 < " + chunk + "\n3 > " + cancel + "\n6 < " + tool + "\n20 < {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"cancelled\"}}\n900",
		"13 cancel s 1 7: cancel not confirmed for 10 s: turn 1, after tool_call \"go test\", began a tool call 3 s after the cancel (frame 7)\n" +
			"20 cancel over: goes on: cancel not confirmed for 17 s, then the answer to session/prompt (frame 9)\n"},
	{"a request that is cancelled", hello + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{}}\n2 > {\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n20 < {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32800,\"message\":\"\"}}\n900",
		"12 cancel  0 4: cancel not confirmed for 10 s: session/list (frame 4)\n" +
			"20 cancel over: goes on: cancel not confirmed for 18 s, then the answer to session/list (frame 5)\n"},
	{"gone in a turn", prompt + "2 < " + chunk + "\n3 ! " + exit + "\n3.2",
		"3 gone  0 7: gone: the agent ended in the middle of turn 1 (frame 7)\n" +
			"3.2 gone over: over: gone for 200 ms, then the tape ended\n"},
	{"gone in a request, silent before", hello + "1 > {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{}}\n40 ! " + exit + "\n41",
		"31 setup  0 3: set-up silent for 30 s: session/new (frame 3)\n" +
			"40 setup over: over: set-up silent for 39 s, then agent exited with status 1 (frame 4)\n" +
			"40 gone  0 4: gone: the agent ended in the middle of session/new (frame 4)\n" +
			"41 gone over: over: gone for 1 s, then the tape ended\n"},
	{"outlives its client", create + "1 ! {\"eof\":true}\n8 ! " + exit + "\n9",
		"6 gone  0 5: gone: the agent has not ended since its client left (frame 5)\n" +
			"8 gone over: over: gone for 7 s, then agent exited with status 1 (frame 6)\n"},
	{"works on for a client that has closed stdin", prompt + "2 ! {\"eof\":true}\n12 < " + done + "\n13 ! " + exit + "\n14", ""},
	{"a client may end its agent", prompt + "2 ! {\"signal\":\"terminated\"}\n3 ! " + exit + "\n14", ""},
	{"an end in order", create + "2 ! {\"eof\":true}\n3 ! {\"exit\":{\"code\":0}}\n14", ""},
	{"nobody knows what is missing", prompt + "2 ! {\"gap\":7}\n900", ""},
	{"an agent that asks a client that has left", create + "1 ! {\"eof\":true}\n2 < " + ask + "\n3 ! " + exit + "\n900", ""},
}

// Each kind begins and ends exactly once, with a clock that also advances between frames.
func TestWatch(t *testing.T) {
	for _, tt := range stalls {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(tt.want, live(t, tt.lines)); diff != "" {
					t.Errorf("want (-) and got (+) differ:\n%s", diff)
				}
			})
		})
	}
}

// live plays lines in the time that they take, and returns what hangs meanwhile.
func live(t *testing.T, lines string) string {
	start := time.Now()
	watched := stall.OpenTape(record.OpenStore(t.TempDir()), "none", 0, start)
	var got strings.Builder
	look := func() {
		for _, c := range watched.Take(&record.Change{Kind: record.StoreLooked, Began: time.Now()}, time.Now()) {
			got.WriteString(changeLine(c))
		}
	}
	look()
	frames := newTape()
	for line := range strings.Lines(lines) {
		at, sign, raw := cut(t, line)
		for time.Since(start) < at {
			time.Sleep(min(500*time.Millisecond, at-time.Since(start)))
			if time.Since(start) < at {
				look()
			}
		}
		c := record.Change{Kind: record.TapeEnded}
		if sign != "" {
			c = record.Change{Kind: record.FrameRecorded, Frame: frames.frame(at, sign, raw)}
		} else {
			look()
		}
		for _, c := range watched.Take(&c, time.Now()) {
			got.WriteString(changeLine(c))
		}
	}
	return got.String()
}

func cut(t testing.TB, line string) (at time.Duration, sign, raw string) {
	when, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	at, err := time.ParseDuration(when + "s")
	if err != nil {
		t.Fatal(err)
	}
	sign, raw, _ = strings.Cut(rest, " ")
	return at, sign, raw
}

func changeLine(c stall.Change) string {
	if c.Over {
		return fmt.Sprintf("%v %v over: %s\n", c.At.Seconds(), c.Kind, c.Text)
	}
	return fmt.Sprintf("%v %v %s %d %d: %s\n", c.At.Seconds(), c.Kind, c.Session, c.Turn, c.Frame, c.Text)
}

// Afterwards the same is found in the times of the frames alone.
func TestAfterwards(t *testing.T) {
	for _, tt := range stalls {
		var w stall.Watch
		var got strings.Builder
		frames := newTape()
		for line := range strings.Lines(tt.lines) {
			at, sign, raw := cut(t, line)
			var changes []stall.Change
			if sign != "" {
				f := frames.frame(at, sign, raw)
				changes = w.Add(&f)
			} else {
				for _, c := range w.Now(at) {
					got.WriteString(changeLine(c))
				}
				changes = w.End()
			}
			for _, c := range changes {
				got.WriteString(changeLine(c))
			}
		}
		if diff := cmp.Diff(tt.want, got.String()); diff != "" {
			t.Errorf("%s: want (-) and got (+) differ:\n%s", tt.name, diff)
		}
	}
}

// A stall that is over is described in full.
func TestWas(t *testing.T) {
	for _, tt := range []struct{ lines, want string }{
		{prompt + "2 < " + chunk + "\n49.5 < " + chunk, "silent for 47 s: turn 1, after agent_message_chunk; then agent_message_chunk (frame 7)"},
		{prompt + "2 < " + ask + "\n130 > {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}",
			"waited for you for 2m8s: turn 1, session/request_permission \"rm\"; then the answer to session/request_permission (frame 7)"},
		{prompt + "45", "silent for 44 s: turn 1, after session/prompt; then the tape ended"},
		{prompt + "3 ! " + exit + "\n3", "gone: the agent ended in the middle of turn 1; then the tape ended"},
	} {
		var w stall.Watch
		frames := newTape()
		var got []string
		note := func(changes []stall.Change) {
			for _, c := range changes {
				if c.Over {
					got = append(got, c.Was)
				} else if c.Was != "" {
					t.Errorf("told as past while it hangs: %q", c.Was)
				}
			}
		}
		for line := range strings.Lines(tt.lines) {
			at, sign, raw := cut(t, line)
			if sign == "" {
				w.Now(at)
				note(w.End())
				continue
			}
			f := frames.frame(at, sign, raw)
			note(w.Add(&f))
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// After is that of silence, and all others are in proportion.
func TestPatience(t *testing.T) {
	for after, want := range map[time.Duration]string{
		30 * time.Second: "30s 5m0s 2m0s 10s 30s 1m0s 10s 5s",
		3 * time.Second:  "3s 30s 12s 1s 3s 6s 1s 5s",
	} {
		var got []string
		for k := stall.Silent; k <= stall.Gone; k++ {
			got = append(got, stall.Patience(k, after).String())
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%v: got %s, want %s", after, got, want)
		}
	}
}

// A clock that was set after the tape had begun hides nothing that hangs, and lets nothing
// hang for less time than the tape itself shows.
func TestWatchClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watched := stall.NewTape(record.Info{Tape: "x", Start: record.Start{Time: time.Now().Add(2 * time.Hour)}}, 0)
		frames := newTape()
		for line := range strings.Lines(prompt) {
			at, sign, raw := cut(t, line)
			watched.Take(&record.Change{Kind: record.FrameRecorded, Frame: frames.frame(at, sign, raw)}, time.Now())
		}
		var got strings.Builder
		for range 32 {
			for _, c := range watched.Take(&record.Change{Kind: record.StoreLooked, Began: time.Now()}, time.Now()) {
				got.WriteString(changeLine(c))
			}
			time.Sleep(time.Second)
		}
		if want := "31 silent s 1 5: silent for 30 s: turn 1, after session/prompt (frame 5)\n"; got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}
