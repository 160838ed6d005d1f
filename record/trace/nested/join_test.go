package nested_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// frames makes frames from lines. A line begins with > if the client wrote it, with < if
// the agent or server did; then with - or ~ or + if it was withheld, put in place of a
// withheld one, or injected; then with the stream as #1, if any. @1.5s sets the time of the
// lines after it.
func frames(tb testing.TB, text string) []dialect.Frame {
	tb.Helper()
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	var list []dialect.Frame
	var now time.Duration
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if at, ok := strings.CutPrefix(line, "@"); ok {
			d, err := time.ParseDuration(at)
			if err != nil {
				tb.Fatal(err)
			}
			now = d
			continue
		}
		f := wire.Frame{Seq: uint64(len(list) + 1), At: now}
		f.Dir = map[byte]wire.Direction{'>': wire.ClientToAgent, '<': wire.AgentToClient}[line[0]]
		f.Origin = map[byte]wire.Origin{'-': wire.Withheld, '~': wire.Rewritten, '+': wire.Injected}[line[1]]
		line = strings.TrimLeft(line, "<>-~+ ")
		if after, ok := strings.CutPrefix(line, "#"); ok {
			number, rest, _ := strings.Cut(after, " ")
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			f.Stream, line = n, rest
		}
		f.Raw = []byte(line)
		f.Size = int64(len(f.Raw))
		e := wire.Scan(f.Raw)
		if f.Kind = e.Kind; f.Kind == wire.Invalid {
			tb.Fatalf("no message: %.120s", line)
		}
		a, _ := tracker.Observe(&f, e)
		f.Failed = f.Kind != wire.Batch && dialect.Failed(e, &a)
		list = append(list, dialect.Frame{Frame: f, Annotation: a})
	}
	return list
}

var start = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// A scene is the tape of an agent, and those of its servers.
type scene struct {
	agent   string
	servers []server
}

// A server is the tape of a server.
type server struct {
	name, link string
	text       string
}

// join reads the tapes of a scene one after the other, the agent's first.
func join(tb testing.TB, s scene) (*nested.Join, *trace.Trace) {
	tb.Helper()
	j, tr := &nested.Join{}, &trace.Trace{}
	tr.Next(dialect.Connection{})
	j.Next("agent", start)
	for _, f := range frames(tb, s.agent) {
		tr.Add(&f)
		j.Take(&f, tr)
	}
	j.End()
	for i, one := range s.servers {
		t := &nested.Tape{ID: fmt.Sprintf("tape%d", i), Parent: "agent", Link: one.link, Server: one.name, Start: start}
		j.Nested(t)
		for _, f := range frames(tb, one.text) {
			t.Add(&f)
		}
		t.End()
	}
	return j, tr
}

// told lists what a Join returns for all entities: ID: server/tool@request by evidence.
func told(j *nested.Join, tr *trace.Trace) string {
	var list []string
	for _, s := range tr.Sessions {
		for _, e := range s.Conversation.Entities {
			what := "prompt"
			if e.ToolCall != nil {
				what = e.ToolCall.ID
			}
			for _, c := range j.Of(e) {
				by := " by " + c.By.String()
				if c.By == nested.NoEvidence {
					by = ""
				}
				list = append(list, fmt.Sprintf("%s: %s/%s@%d%s", what, c.Tape.Server, c.Name, c.Request, by))
			}
		}
	}
	return strings.Join(list, "; ")
}

const hello = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
`

// head is the beginning of an agent's tape with the session s, for which everything was
// started with the link aaaaaaaa and other-one with bbbbbbbb.
const head = hello + `
>- {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"everything","command":"npx","args":["everything"],"env":[]},{"name":"other-one","command":"x"}]}}
>~ {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"everything","command":"/bin/acptap","args":["proxy","--store","/s","--parent","T/aaaaaaaa/everything","--","npx","everything"],"env":[]},{"name":"other-one","type":"http","url":"http://127.0.0.1:4711/bbbbbbbb-0123456789/mcp"}]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
`

func prompt(at, id string) string {
	return "@" + at + "\n" + `> {"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}` + "\n"
}

func answered(at, id string) string {
	return "@" + at + "\n" + `< {"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"end_turn"}}` + "\n"
}

func update(at, fields string) string {
	return "@" + at + "\n" + `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + fields + "}}}\n"
}

// call is a tool call that begins and ends at these times.
func call(from, to, id, fields string) string {
	if !strings.Contains(fields, `"title"`) {
		fields += `,"title":"Working"`
	}
	return update(from, `"sessionUpdate":"tool_call","toolCallId":"`+id+`"`+fields) + done(to, id, "")
}

func done(at, id, fields string) string {
	return update(at, `"sessionUpdate":"tool_call_update","toolCallId":"`+id+`","status":"completed"`+fields)
}

// asks is a call of a server's tool, with its answer.
func asks(from, to, id, params, text string) string {
	return fmt.Sprintf(`
@%s
> {"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s}}
@%s
< {"jsonrpc":"2.0","id":%[2]s,"result":{"content":[{"type":"text","text":"%[5]s"}]}}
`, from, id, params, to, text)
}

const echoHi = `"name":"get-sum","arguments":{"a":1,"b":[2,{"c":"d"}]}`

// TestShapes has what agents send of a call, each in the shape in which it was seen.
func TestShapes(t *testing.T) {
	const args = `{"b":[2.0,{"c":"d"}],"a":1}` // in another order and spelling
	for _, tt := range []struct {
		name, fields, final, meta, id, want string
	}{
		{name: "Claude Code, by id", meta: `,"_meta":{"claudecode/toolUseId":"call_1","progressToken":1}`, want: "id"},
		{name: "Codex, by id", meta: `,"_meta":{"x":{"callId":"call_1"}}`, want: "id"},
		{name: "Codex, rawInput", fields: `,"rawInput":{"server":"everything","tool":"get-sum","arguments":` + args + `}`, want: "input"},
		{name: "Claude Code, name", fields: `,"name":"mcp__everything__get-sum"`, want: "name"},
		{name: "Claude Code, _meta", fields: `,"_meta":{"claudeCode":{"toolName":"mcp__everything__get-sum"}}`, want: "name"},
		{name: "Qwen Code, _meta", fields: `,"_meta":{"toolName":"mcp__everything__get-sum","serverId":"everything"}`, want: "name"},
		{name: "OpenCode, title", fields: `,"title":"everything_get-sum"`, want: "name"},
		{name: "Codex, title", fields: `,"title":"mcp.everything.get-sum"`, want: "name"},
		{name: "Codex in Rust, title", fields: `,"title":"Tool: everything/get-sum"`, want: "name"},
		{name: "Gemini CLI, title", fields: `,"title":"get-sum (everything MCP Server)"`, want: "name"},
		{name: "Gemini CLI, id", id: "mcp_everything_get-sum__1", want: "name"},
		{name: "a title that is replaced", fields: `,"title":"everything_get-sum"`, final: `,"title":"3"`, want: "name"},
		{name: "rawInput is the arguments", fields: `,"rawInput":` + args, want: "arguments"},
		{name: "rawInput has the arguments", fields: `,"rawInput":{"input":` + args + `}`, want: "arguments"},
		{name: "text", final: `,"content":[{"type":"content","content":{"type":"text","text":"3"}}]`, want: "text"},
		{name: "text of rawOutput", final: `,"rawOutput":{"result":{"content":[{"type":"text","text":"3"}]}}`, want: "text"},
		{name: "Gemini CLI before, id", id: "get-sum-1700000000000", want: "tool"},
		{name: "another server", fields: `,"title":"mcp__other__get-sum","rawInput":` + args, want: ""},
		{name: "another tool", fields: `,"rawInput":{"server":"everything","tool":"echo","arguments":` + args + `}`, want: ""},
		{name: "nothing", want: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := "call_1"
			if tt.id != "" {
				id = tt.id
			}
			agent := head + prompt("1s", "2") + call("1.1s", "1.15s", id, tt.fields)
			agent = strings.TrimSuffix(agent, done("1.15s", id, "")) + done("1.4s", id, tt.final) + answered("2s", "2")
			s := scene{agent, []server{{"everything", "aaaaaaaa", asks("1.2s", "1.3s", "7", echoHi+tt.meta, "3")}}}
			want := id + ": everything/get-sum@1"
			if tt.want != "" {
				want += " by " + tt.want
			}
			if got := told(join(t, s)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestPermission has agents that send the arguments only when they ask for permission.
func TestPermission(t *testing.T) {
	for name, patch := range map[string]string{
		"title": `"title":"{\"a\":1,\"b\":[2,{\"c\":\"d\"}]}"`,
		"text":  `"title":"Asking","content":[{"type":"content","content":{"type":"text","text":"{\"a\":1,\"b\":[2,{\"c\":\"d\"}]}"}}]`,
	} {
		agent := head + prompt("1s", "2") + `
@1.1s
< {"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t1",` + patch + `},"options":[]}}
> {"jsonrpc":"2.0","id":9,"result":{"outcome":{"outcome":"cancelled"}}}
` + done("1.4s", "t1", `,"title":"Done","content":[]`) + answered("2s", "2")
		s := scene{agent, []server{{"everything", "aaaaaaaa", asks("1.2s", "1.3s", "7", echoHi, "3")}}}
		if got, want := told(join(t, s)), "t1: everything/get-sum@1 by arguments"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestTimes has calls that only their times distinguish, and tool calls that are announced
// early or late.
func TestTimes(t *testing.T) {
	const name = `,"title":"everything_echo"`
	echo := func(from, to, id string) string { return asks(from, to, id, `"name":"echo"`, "") }
	for _, tt := range []struct {
		name, agent, server, want string
	}{
		{"two equal calls at once",
			update("1.1s", `"sessionUpdate":"tool_call","toolCallId":"a"`+name) + update("1.2s", `"sessionUpdate":"tool_call","toolCallId":"b"`+name) + done("1.8s", "a", "") + done("1.9s", "b", ""),
			"@1.3s\n" + `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}` + "\n@1.4s\n" + `> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}` +
				"\n@1.5s\n" + `< {"jsonrpc":"2.0","id":2,"result":{}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}`,
			"a: everything/echo@1 by name; b: everything/echo@2 by name"},
		{"announced after the answer", call("2.1s", "2.2s", "a", name), echo("1.2s", "1.3s", "1"), "a: everything/echo@1 by name"},
		{"announced much later", call("9s", "9.1s", "a", name), echo("1.2s", "1.3s", "1"), "prompt: everything/echo@1"},
		{"last update 200 ms before the answer", call("1.1s", "1.2s", "a", name), echo("1.15s", "1.4s", "1"), "a: everything/echo@1 by name"},
		{"last update 300 ms before the answer", call("1.1s", "1.2s", "a", name), echo("1.15s", "1.5s", "1"), "a: everything/echo@1"},
		{"before the prompt", call("1.1s", "1.2s", "a", name), echo("0.5s", "0.6s", "1"), ""},
		{"the first of two calls is missing", call("1.1s", "1.2s", "a", name) + call("1.25s", "1.5s", "b", name), echo("1.3s", "1.4s", "1"), "b: everything/echo@1 by name"},
		{"the first of two tool calls is missing", call("1.5s", "1.7s", "b", name), echo("1.2s", "1.3s", "1") + echo("1.55s", "1.6s", "2"), "prompt: everything/echo@1; b: everything/echo@3 by name"},
		{"no answer", update("1.1s", `"sessionUpdate":"tool_call","toolCallId":"a"`+name), "@1.2s\n" + `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "a: everything/echo@1 by name"},
		{"called again for one tool call", call("1.1s", "1.9s", "a", ""),
			asks("1.2s", "1.3s", "1", `"name":"x","_meta":{"k":"a"}`, "") + asks("1.4s", "1.5s", "2", `"name":"x","_meta":{"k":"a"}`, ""), "a: everything/x@1 by id; a: everything/x@3 by id"},
		{"the same text for two", call("1.1s", "1.3s", "a", "") + call("1.4s", "1.6s", "b", ""), echo("1.15s", "1.2s", "1") + echo("1.45s", "1.5s", "2"), "a: everything/echo@1; b: everything/echo@3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scene{head + prompt("1s", "2") + tt.agent + answered("20s", "2"), []server{{"everything", "aaaaaaaa", tt.server}}}
			if got := told(join(t, s)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestOther has requests other than tool calls, and what servers say and ask meanwhile.
func TestOther(t *testing.T) {
	s := scene{head + prompt("1s", "2") + call("1.1s", "3s", "a", `,"title":"everything_long"`) + answered("4s", "2"), []server{{"everything", "aaaaaaaa", `
@0.5s
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}
> {"jsonrpc":"2.0","id":1,"method":"tools/list"}
@1.2s
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"long","_meta":{"progressToken":"p"}}}
@1.3s
< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":4,"message":"one"}}
< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other","progress":9}}
< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
@1.4s
< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}
@1.9s
> {"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}
@2s
> {"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"test://x"}}
< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of which?"}}
< {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such resource"}}
@2.5s
< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"too long"}]}}
`}}}
	j, tr := join(t, s)
	if got, want := told(j, tr), "a: everything/long@4 by name; a: everything/test://x@10"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	calls := j.Tapes[0].Calls
	c := calls[0]
	if got, want := fmt.Sprintf("%+v", c.Meanwhile), "{Progress:1 Latest:1/4 one Logs:1 Asked:[{Method:elicitation/create Request:8 Took:500ms Open:false Answer:accepted}]}"; got != want {
		t.Errorf("meanwhile: got %s, want %s", got, want)
	}
	if !c.Failed || c.Problem != "too long" || c.Took() != 1300*time.Millisecond {
		t.Errorf("got failed %v, %q, %v", c.Failed, c.Problem, c.Took())
	}
	if c = calls[1]; !c.Failed || c.Problem != "no such resource" || c.IsTool() {
		t.Errorf("got failed %v, %q", c.Failed, c.Problem)
	}
}

// TestStreams: what a server says over HTTP is about the call whose stream it came on, even
// if another one with the same id and token is open.
func TestStreams(t *testing.T) {
	s := scene{head + prompt("1s", "2") + call("1.1s", "3s", "a", "") + answered("4s", "2"), []server{{"everything", "aaaaaaaa", `
@0.5s
> #1 {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
< #1 {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}
@1.2s
> #2 {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"long","_meta":{"progressToken":2}}}
> #3 {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":2}}}
< #2 {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}
< #3 {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
< #4 {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of which?"}}
@1.4s
< #2 {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
@1.5s
< #4 {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":7}}
< #3 {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}
`}}}
	j, _ := join(t, s)
	var got []string
	for _, c := range j.Tapes[0].Calls {
		got = append(got, fmt.Sprintf("%s %v failed=%v %+v", c.Name, c.Took(), c.Failed, c.Meanwhile))
	}
	want := []string{
		"long 200ms failed=false {Progress:1 Latest:1 Logs:0 Asked:[]}",
		"echo 300ms failed=true {Progress:1 Latest:7 Logs:1 Asked:[]}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestHosted: traffic with servers that the client hosts, over the connection of ACP, is
// joined like the tapes of others. The server sends progress, a log line and a question
// while it works; one call is cancelled, one fails.
func TestHosted(t *testing.T) {
	j, tr := join(t, scene{agent: `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/p","mcpServers":[{"type":"acp","name":"tools","serverId":"srv1"},{"type":"acp","name":"other","acpId":"srv2"}]}}
< {"jsonrpc":"2.0","id":0,"method":"mcp/connect","params":{"serverId":"srv1"}}
< {"jsonrpc":"2.0","id":1,"method":"mcp/connect","params":{"acpId":"srv2"}}
> {"jsonrpc":"2.0","id":0,"result":{"connectionId":"c1"}}
> {"jsonrpc":"2.0","id":1,"result":{"connectionId":"c2"}}
< {"jsonrpc":"2.0","id":2,"method":"mcp/message","params":{"connectionId":"c1","method":"initialize","params":{}}}
> {"jsonrpc":"2.0","id":2,"result":{}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
` + prompt("1s", "2") + `
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"mcp__tools__long","status":"in_progress"}}}
@1.1s
< {"jsonrpc":"2.0","id":3,"method":"mcp/message","params":{"connectionId":"c1","method":"tools/call","params":{"name":"long","arguments":{},"_meta":{"progressToken":"p"}}}}
@1.2s
> {"jsonrpc":"2.0","method":"mcp/message","params":{"connectionId":"c1","method":"notifications/progress","params":{"progressToken":"p","progress":1}}}
> {"jsonrpc":"2.0","method":"mcp/message","params":{"connectionId":"c1","method":"notifications/message","params":{"data":"x"}}}
> {"jsonrpc":"2.0","id":7,"method":"mcp/message","params":{"connectionId":"c1","method":"roots/list"}}
@1.3s
< {"jsonrpc":"2.0","id":7,"result":{"roots":[]}}
< {"jsonrpc":"2.0","id":4,"method":"mcp/message","params":{"connectionId":"c2","method":"tools/call","params":{"name":"never"}}}
< {"jsonrpc":"2.0","method":"mcp/message","params":{"connectionId":"c2","method":"notifications/cancelled","params":{"requestId":4}}}
< {"jsonrpc":"2.0","id":5,"method":"mcp/message","params":{"connectionId":"c2","method":"tools/call","params":{"name":"back"}}}
< {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}
@1.5s
> {"jsonrpc":"2.0","id":3,"result":{"isError":true,"content":[{"type":"text","text":"too long"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}
< {"jsonrpc":"2.0","id":8,"method":"mcp/disconnect","params":{"connectionId":"c1"}}
< {"jsonrpc":"2.0","id":9,"method":"mcp/message","params":{"connectionId":"c9","method":"tools/call","params":{"name":"of no connection"}}}
` + answered("2s", "2")})
	if got, want := told(j, tr), "a: tools/long@13 by name; a: other/never@18; a: other/back@20"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var got []string
	for _, tape := range j.Tapes {
		for _, c := range tape.Calls {
			got = append(got, fmt.Sprintf("%s %s/%s %v failed=%v cancelled=%v %+v", tape.ID, tape.Server, c.Name, c.Took(), c.Failed, c.Cancelled, c.Meanwhile))
		}
	}
	want := []string{
		"agent tools/long 400ms failed=true cancelled=false {Progress:1 Latest:1 Logs:1 Asked:[{Method:roots/list Request:16 Took:100ms Open:false Answer:}]}",
		"agent other/never 0s failed=false cancelled=true {Progress:0 Latest: Logs:0 Asked:[]}",
		"agent other/back 0s failed=false cancelled=true {Progress:0 Latest: Logs:0 Asked:[]}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestBatch has calls in one frame, which are answered in another order.
func TestBatch(t *testing.T) {
	s := scene{head + prompt("1s", "2") + call("1.1s", "3s", "a", "") + answered("4s", "2"), []server{{"everything", "aaaaaaaa", `
@0.1s
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}
@1.2s
> [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"two"}}]
@1.5s
< [{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"two"}},{"jsonrpc":"2.0","id":1,"result":{}}]
`}}}
	j, _ := join(t, s)
	calls := j.Tapes[0].Calls
	if len(calls) != 2 || calls[0].Failed || calls[1].Problem != "two" || calls[0].Open() {
		t.Errorf("got %+v", calls)
	}
}
