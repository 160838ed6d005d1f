package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

const load = `
> {"id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
> {"id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
`

func TestSession(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"new, with a title of the agent", v1 + prompt("2", `first line\nsecond`) + update(`"sessionUpdate":"session_info_update","title":"T"`),
			`s session/new cwd=/w title="T" turns=1 frames=3 4-6 editor→coder v1`},
		{"title of the first prompt", v1 + prompt("2", `\n  first line \nsecond`) + reply("2", ended) + prompt("3", "other"),
			`s session/new cwd=/w title="first line" turns=2 frames=4 4-7 editor→coder v1`},
		{"title taken back", v1 + prompt("2", `a`) + update(`"sessionUpdate":"session_info_update","title":"T"`) + update(`"sessionUpdate":"session_info_update","title":null`),
			`s session/new cwd=/w title="a" turns=1 frames=4 4-7 editor→coder v1`},
		{"load", load + reply("1", "{}"), `s session/load cwd=/w title="" turns=0 frames=2 3-4 → v1`},
		{"failed load", load + `< {"id":1,"error":{"code":-32002,"message":"no"}}`, ``},
		{"closed and deleted", v1 + `
			> {"id":2,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":2,"result":{}}
			> {"id":3,"method":"session/delete","params":{"sessionId":"s"}}
			< {"id":3,"result":{}}`, `s session/new cwd=/w title="" turns=0 frames=5 4-8 editor→coder v1 closed deleted`},
		{"of the Model Context Protocol", `
			> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"host","version":"1"},"capabilities":{}}}
			< {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"sessions":{}},"serverInfo":{"name":"srv","version":"1"}}}
			> {"id":1,"sessionId":null,"method":"session/create","params":{"capabilities":{}}}
			< {"id":1,"result":{"sessionId":"m"}}
			> {"id":2,"sessionId":"m","method":"tools/call","params":{"name":"x"}}
			< {"id":2,"sessionId":"m","result":{}}`,
			`m session/create cwd= title="" turns=0 frames=3 4-6 host→srv legacy`},
		{"fork", v1 + `
			> {"id":2,"method":"session/fork","params":{"sessionId":"s","cwd":"/x"}}
			< {"id":2,"result":{"sessionId":"f"}}`,
			`s session/new cwd=/w title="" turns=0 frames=1 4-4 editor→coder v1
			f session/fork cwd=/x title="" turns=0 frames=1 6-6 editor→coder v1 parent=s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for _, s := range build(t, tt.lines).Sessions {
				fmt.Fprintf(&b, "%s %s cwd=%s title=%q turns=%d frames=%d %d-%d %s→%s %s", s.ID, s.Opened, s.Cwd, s.Title,
					len(s.Conversation.Turns), s.Frames, s.Spans[0].First, s.Spans[0].Last,
					s.Connection.Client, s.Connection.Agent, s.Connection.Dialect)
				if s.Closed {
					b.WriteString(" closed")
				}
				if s.Deleted {
					b.WriteString(" deleted")
				}
				if s.Parent != "" {
					b.WriteString(" parent=" + s.Parent)
				}
				b.WriteByte('\n')
			}
			check(t, b.String(), tt.want)
		})
	}
}

func TestState(t *testing.T) {
	const made = `
		> {"id":1,"method":"session/new","params":{"cwd":"/w"}}
		< {"id":1,"result":{"sessionId":"s","modes":{"currentModeId":"m"},"models":{"currentModelId":"o"},"configOptions":[1]}}
	`
	begun := v1[:strings.Index(v1, setup)] + made
	for _, tt := range []struct{ name, lines, want string }{
		{"made", begun, `mode m model o config [1] commands  usage none work `},
		{"mode asked for", begun + `> {"id":2,"method":"session/set_mode","params":{"sessionId":"s","modeId":"n"}}` + "\n" + reply("2", "{}"),
			`mode n model o config [1] commands  usage none work `},
		{"mode refused", begun + `> {"id":2,"method":"session/set_mode","params":{"sessionId":"s","modeId":"n"}}` + "\n" + `< {"id":2,"error":{"code":1}}`,
			`mode m model o config [1] commands  usage none work `},
		{"mode by the agent", begun + update(`"sessionUpdate":"current_mode_update","currentModeId":"n"`),
			`mode n model o config [1] commands  usage none work `},
		{"model and config", begun + `> {"id":2,"method":"session/set_model","params":{"sessionId":"s","modelId":"p"}}` + "\n" + reply("2", "{}") +
			`> {"id":3,"method":"session/set_config_option","params":{"sessionId":"s","configId":"c","value":"v"}}` + "\n" + reply("3", `{"configOptions":[2]}`),
			`mode m model p config [2] commands  usage none work `},
		{"reported", begun + update(`"sessionUpdate":"available_commands_update","availableCommands":[3]`) +
			update(`"sessionUpdate":"usage_update","used":5,"size":9`) + update(`"sessionUpdate":"config_option_update","configOptions":[]`) +
			update(`"sessionUpdate":"state_update","state":"running"`),
			`mode m model o config [] commands [3] usage 5 of 9 work running`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := session(t, build(t, tt.lines), "s").Conversation.State
			usage := "none"
			if s.Usage != nil {
				usage = fmt.Sprintf("%d of %d", s.Usage.Used, s.Usage.Size)
			}
			check(t, fmt.Sprintf("mode %s model %s config %s commands %s usage %s work %s",
				s.Mode, s.Model, string(s.Config), string(s.Commands), usage, s.Work), tt.want)
		})
	}
}

func TestReplay(t *testing.T) {
	first := v1 + prompt("2", "hi") + said("hello") + reply("2", ended)
	history := echo("hi") + said("hello")
	for _, tt := range []struct {
		name  string
		tapes []string
		want  string
	}{
		{"nothing known", []string{load + history + reply("1", "{}") + prompt("2", "more") + said("ok")}, `
			0 replayed user "hi"
			0 replayed agent "hello"
			1 user "more"
			1 agent "ok"
			turn 1  open`},
		{"the response does not end it", []string{load + echo("hi") + reply("1", "{}") + said("hello") + prompt("2", "more")}, `
			0 replayed user "hi"
			0 replayed agent "hello"
			1 user "more"
			turn 1  open`},
		{"not even the prompt", []string{load + reply("1", "{}") + prompt("2", "more") + echo("hi") + said("ok") + echo("x")}, `
			1 user "more"
			1 replayed user "hi"
			1 agent "ok"
			1 user "x"
			turn 1  open`},
		{"an echo after it", []string{load + reply("1", "{}") + prompt("2", "more") + echo("more") + said("ok")}, `
			1 user "more"
			1 agent "ok"
			turn 1  open`},
		{"a prompt that does not wait for it", []string{load + prompt("2", "more") + history + reply("1", "{}") + echo("more") + said("ok") + reply("2", ended)}, `
			0 replayed user "hi"
			0 replayed agent "hello"
			1 user "more"
			1 agent "ok"
			turn 1 end_turn`},
		{"one that does not, of a history that is known", []string{first, load + prompt("2", "more") + history + reply("1", "{}") + said("ok")}, `
			1 user "hi"
			1 agent "hello"
			2 user "more"
			2 agent "ok"
			turn 1 end_turn
			turn 2  open`},
		{"one that does not, and the load fails", []string{first, load + prompt("2", "more") + `< {"id":1,"error":{"code":-32602,"message":"no"}}` + "\n" + said("ok")}, `
			1 user "hi"
			1 agent "hello"
			2 user "more"
			2 agent "ok"
			turn 1 end_turn
			turn 2  open`},
		{"a load that is never answered", []string{load + prompt("2", "more") + ask("0", `"toolCall":{"toolCallId":"c"}`) + said("ok") + reply("2", ended) + prompt("3", "on") + said("yes")}, `
			1 user "more"
			1 tool c "" other pending unannounced asked=""
			1 agent "ok"
			2 user "on"
			2 agent "yes"
			turn 1 end_turn
			turn 2  open`},
		{"known from an earlier tape", []string{first, load + history + reply("1", "{}") + said("late") + prompt("2", "more") + echo("hi") + said("ok")}, `
			1 user "hi"
			1 agent "hello"
			2 user "more"
			2 agent "ok"
			turn 1 end_turn
			turn 2  open`},
		{"known from this tape", []string{first + `> {"id":8,"method":"session/load","params":{"sessionId":"s","cwd":"/w"}}` + "\n" + history + reply("8", "{}")}, `
			1 user "hi"
			1 agent "hello"
			turn 1 end_turn`},
		{"loaded twice", []string{load + history + reply("1", "{}"), load + history + reply("1", "{}")}, `
			0 replayed user "hi"
			0 replayed agent "hello"`},
		{"a load that fails", []string{first, load + `< {"id":1,"error":{"code":-32602,"message":"no"}}` + "\n" + said("live")}, `
			1 user "hi"
			1 agent "hello"
			1 agent "live"
			turn 1 end_turn`},
		{"ids start anew on a further tape", []string{v1 + prompt("2", "a") + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"A"`),
			load + reply("1", "{}") + prompt("2", "b") + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"B"`) + reply("2", ended)}, `
			1 user "a"
			1 tool c "A" other pending
			2 user "b"
			2 tool c "B" other pending
			turn 1  open
			turn 2 end_turn`},
		{"resume replays nothing in v1", []string{first, strings.Replace(load, "session/load", "session/resume", 1) + reply("1", "{}") + said("x")}, `
			1 user "hi"
			1 agent "hello"
			1 agent "x"
			turn 1 end_turn`},
		{"resume from the start in v2", []string{v2[:strings.Index(v2, setup)] +
			`> {"id":1,"method":"session/resume","params":{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}}` + "\n" +
			update(`"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hi"}]`) + saidAs("m", "a") + reply("1", "{}") +
			prompt("2", "b") + update(`"sessionUpdate":"user_message","messageId":"v","content":[{"type":"text","text":"b"}]`)}, `
			0 replayed user (u) "hi"
			0 replayed agent (m) "a"
			1 user (v) "b"
			turn 1  open`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, outline(&session(t, build(t, tt.tapes...), "s").Conversation), tt.want)
		})
	}
}

// An agent that counts its sessions gives the same id on each tape.
func TestSameIDAgain(t *testing.T) {
	tr := build(t, v1+prompt("2", "a"), v1+prompt("2", "b"))
	if len(tr.Sessions) != 2 {
		t.Fatalf("got %d sessions, want 2", len(tr.Sessions))
	}
	for i, want := range []string{"a", "b"} {
		if got := tr.Sessions[i].Title; got != want {
			t.Errorf("session %d has the title %q, want %q", i, got, want)
		}
	}
}

// So it does with that of a fork.
func TestForkWithSameIDAgain(t *testing.T) {
	fork := v1 + `
		> {"id":2,"method":"session/fork","params":{"sessionId":"s","cwd":"/w"}}
		< {"id":2,"result":{"sessionId":"f"}}
	`
	var forks int
	for _, s := range build(t, fork, fork).Sessions {
		if s.ID == "f" {
			forks++
		}
	}
	if forks != 2 {
		t.Errorf("got %d sessions with the id of the forks, want 2", forks)
	}
}

// What acptap put between the two sides is seen by the side that got it.
func TestSide(t *testing.T) {
	text := load[:strings.Index(load, "> {\"id\":1")] + `
		>- {"id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w"}}
		>+ {"id":"acptap:1","method":"session/new","params":{"cwd":"/w"}}
		<- {"id":"acptap:1","result":{"sessionId":"agents"}}
		<+ {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}}}}
		<+ {"id":1,"result":{}}
		>- {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"new"}]}}
		>~ {"id":2,"method":"session/prompt","params":{"sessionId":"agents","prompt":[{"type":"text","text":"new, with context"}]}}
		<- {"method":"session/update","params":{"sessionId":"agents","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ok"}}}}
		<~ {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ok"}}}}
		< {"id":2,"result":{"stopReason":"end_turn"}}
	`
	for _, tt := range []struct {
		side  trace.Side
		id    string
		calls int
		want  string
	}{
		{trace.ClientSide, "s", 3, `
			0 replayed agent "old"
			1 user "new"
			1 agent "ok"
			turn 1 end_turn`},
		{trace.AgentSide, "agents", 3, `
			1 user "new, with context"
			1 agent "ok"
			turn 1 end_turn`},
	} {
		tr := trace.Trace{Side: tt.side}
		for _, f := range tape(t, text) {
			tr.Add(&f)
		}
		if len(tr.Sessions) != 1 {
			t.Errorf("side %d: got %d sessions, want 1", tt.side, len(tr.Sessions))
		}
		if len(tr.Calls) != tt.calls {
			t.Errorf("side %d: got %d calls, want %d", tt.side, len(tr.Calls), tt.calls)
		}
		check(t, outline(&session(t, &tr, tt.id).Conversation), tt.want)
	}
}

func TestTurn(t *testing.T) {
	tr := build(t, v1+prompt("2", "a")+said("x")+reply("2", ended)+said("y")+prompt("3", "b"))
	turns := session(t, tr, "s").Conversation.Turns
	got, want := *turns[0], trace.Turn{
		Span:   trace.Span{First: 5, Last: 7, Began: 50e6, Ended: 70e6},
		Number: 1, Prompt: 5, End: 7, StopReason: "end_turn", Output: 6, FirstOutput: 60e6,
		Title: "a", Asked: "a", Pace: trace.Pace{Text: 6, FirstText: 60e6, Chunks: 1}, Outcome: dialect.Outcome{How: dialect.Done},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(trace.Turn{}, trace.Span{})); d != "" {
		t.Errorf("want (-) and got (+) differ:\n%s", d)
	}
	if got := turns[1]; !got.Open() || got.Output != 0 {
		t.Errorf("the second turn is %+v, want it open and without output", *got)
	}
}

func TestCalls(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"same id both ways, 7 is not \"7\"", `
			> {"id":7,"method":"a"}
			< {"id":7,"method":"b"}
			> {"id":"7","method":"c"}
			< {"id":7,"result":1}
			> {"id":7,"error":{"code":1}}`, `
			c2a a 1→4 30ms
			a2c b 2→5 30ms failed
			c2a c open`},
		{"batch", `
			> [{"id":1,"method":"a"},{"method":"n"},{"id":2,"method":"b"},7]
			< [{"id":2,"error":{"code":1}}]
			< {"id":1,"result":1}`, `
			c2a a 1→3 20ms
			c2a b 1→2 10ms failed`},
		{"tool", `
			> {"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"name":"x"}}}
			> {"id":2,"method":"prompts/get","params":{"name":"greet"}}
			< {"id":1,"result":{}}`, `
			c2a tools/call echo 1→3 20ms
			c2a prompts/get open`},
		{"cancelled", `
			> {"id":1,"method":"a"}
			< {"id":1,"method":"b"}
			> {"method":"$/cancel_request","params":{"requestId":1}}
			< {"id":1,"error":{"code":-32800}}
			< {"method":"notifications/cancelled","params":{"requestId":1}}`, `
			c2a a 1→4 30ms failed cancelled
			a2c b open cancelled`},
		{"prompt cancelled", v1 + prompt("2", "a") + cancel + reply("2", `{"stopReason":"cancelled"}`), `
			c2a initialize 1→2 10ms
			c2a session/new s 3→4 10ms
			c2a session/prompt s 5→7 20ms cancelled`},
		{"ids of two clients on streams", `
			> #1 {"id":1,"method":"tools/call","params":{"name":"slow"}}
			> #2 {"id":1,"method":"tools/call","params":{"name":"fast"}}
			> #3 {"id":2,"method":"a"}
			> #4 {"id":2,"method":"b"}
			< #2 {"id":1,"error":{"code":1}}
			> #5 {"method":"notifications/cancelled","params":{"requestId":2}}
			< #1 {"id":1,"result":{}}
			< #3 {"id":2,"result":{}}
			< #6 {"id":2,"result":{}}`, `
			c2a tools/call slow 1→7 60ms
			c2a tools/call fast 2→5 30ms failed
			c2a a 3→8 50ms
			c2a b 4→9 50ms cancelled`},
		{"an id used twice", `
			> {"id":1,"method":"a"}
			> {"id":1,"method":"b"}
			< {"id":1,"result":1}`, `
			c2a a open
			c2a b 2→3 10ms`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for _, c := range build(t, tt.lines).Calls {
				fmt.Fprintf(&b, "%s %s", c.Dir, c.Method)
				for _, about := range []string{c.Tool, c.Session} {
					if about != "" {
						b.WriteString(" " + about)
					}
				}
				if c.Open() {
					b.WriteString(" open")
				} else {
					fmt.Fprintf(&b, " %d→%d %s", c.Request, c.Response, c.Latency())
				}
				if c.Failed {
					b.WriteString(" failed")
				}
				if c.Cancelled {
					b.WriteString(" cancelled")
				}
				b.WriteByte('\n')
			}
			check(t, b.String(), tt.want)
		})
	}
}

// A prompt with an image of more than wire.MaxChecked bytes is read as far as
// its bytes are there.
func TestUnchecked(t *testing.T) {
	frames := tape(t, v1)
	raw := `{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"look"},{"type":"image","data":"`
	raw += strings.Repeat("A", 1<<20)
	whole := raw + `"}]}}`
	for _, tt := range []struct{ name, raw, want string }{
		{"cut off", raw[:1<<20], `user "look" in 2; ` + trace.Cut},
		{"whole", whole, `user "look" in 2; ` + whole[strings.Index(whole, `{"type":"image"`):len(whole)-3]},
	} {
		f := tape(t, v1+"> "+whole)[len(frames)]
		f.Raw = []byte(tt.raw)
		var tr trace.Trace
		for _, f := range append(frames, f) {
			tr.Add(&f)
		}
		c := &session(t, &tr, "s").Conversation
		m := c.Entities[0].Message
		if got := fmt.Sprintf("%s %q in %d; %s", m.Role, m.Text(), len(m.Blocks.All()), m.Blocks.All()[1]); got != tt.want {
			t.Errorf("%s: got %.80s, want %.80s", tt.name, got, tt.want)
		}
	}
}

// A Trace begun with what is known of the connection needs no initialize: a
// reader may feed it the frames of one session only.
func TestKnownConnection(t *testing.T) {
	var tr trace.Trace
	tr.Next(dialect.Connection{Protocol: dialect.ACP, Dialect: dialect.ACPv2})
	for _, f := range tape(t, v2+prompt("2", "a")+
		update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T"`)+
		update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":null`))[3:] {
		tr.Add(&f)
	}
	check(t, outline(&session(t, &tr, "s").Conversation), `
		1 user "a"
		1 tool c ""
		turn 1  open`)
}
