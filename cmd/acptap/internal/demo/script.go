package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// Session is the id of the recorded session.
const Session = "sess-demo-1"

// sessionDir is the working directory of the session.
const sessionDir = "/home/demo/stats"

// A Step is what one side sends before the other side's turn.
type Step struct {
	By      wire.Direction
	Lines   []string
	pause   time.Duration // before each line, unless fast
	history bool          // any number of updates may precede it
}

// Script returns the whole conversation, in version 1 of the Agent Client
// Protocol: in the first turn the agent finds, fixes and tests a bug; the second
// turn is cancelled. Ids and texts are the same each time.
func Script() []Step {
	const (
		path   = `"` + sessionDir + `/mean.go"`
		before = `package stats

// Mean returns the average of xs.
func Mean(xs []float64) float64 {
	sum := 0.0
	for i := 1; i < len(xs); i++ {
		sum += xs[i]
	}
	return sum / float64(len(xs))
}
`
	)
	after := strings.Replace(before, "i := 1", "i := 0", 1)
	client, agent, stderr := sides(Session)
	plan := func(find, fix, test string) Step {
		return agent.update(fmt.Sprintf(`"sessionUpdate":"plan","entries":[`+
			`{"content":"Find out why the mean is too small","priority":"high","status":%q},`+
			`{"content":"Fix the loop","priority":"high","status":%q},`+
			`{"content":"Run the tests","priority":"medium","status":%q}]`, find, fix, test))
	}
	return []Step{
		stderr.says(agentReady),
		client.request(0, "initialize", editorHello),
		agent.result(0, agentHello),
		client.request(1, "session/new", sessionSetup),
		agent.result(1, `{"sessionId":"`+Session+`"}`),

		client.prompt(2, "TestMean fails: the mean of 2, 4 and 6 should be 4, but Mean returns 3.33. Please fix it."),
		agent.streams("agent_thought_chunk", "Ten divided by three is 3.33, so the first of the three numbers is missing from the sum. The loop should show why."),
		plan("in_progress", "pending", "pending"),

		agent.update(`"sessionUpdate":"tool_call","toolCallId":"call-1","title":"Read mean.go","kind":"read","status":"in_progress","locations":[{"path":` + path + `}]`),
		agent.asks(0, "fs/read_text_file", `"path":`+path),
		client.result(0, fmt.Sprintf(`{"content":%q}`, before)), // ASCII, so that its quoted form is the same in Go and in JSON
		agent.update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"completed","content":[{"type":"content","content":{"type":"text","text":%q}}]`, before)),
		plan("completed", "in_progress", "pending"),
		agent.streams("agent_message_chunk", "The loop starts at 1 and skips the first number. It has to start at 0."),

		agent.update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"call-2","title":"Edit mean.go","kind":"edit","status":"pending","locations":[{"path":%s,"line":6}],"content":[{"type":"diff","path":%[1]s,"oldText":%q,"newText":%q}]`, path, before, after)),
		agent.asks(1, "session/request_permission", `"toolCall":{"toolCallId":"call-2"},"options":[`+
			`{"optionId":"allow","name":"Allow once","kind":"allow_once"},`+
			`{"optionId":"always","name":"Always allow","kind":"allow_always"},`+
			`{"optionId":"reject","name":"Reject","kind":"reject_once"}]`),
		client.result(1, `{"outcome":{"outcome":"selected","optionId":"allow"}}`).after(150 * time.Millisecond),
		agent.update(`"sessionUpdate":"tool_call_update","toolCallId":"call-2","status":"in_progress"`),
		agent.asks(2, "fs/write_text_file", fmt.Sprintf(`"path":%s,"content":%q`, path, after)),
		client.result(2, `{}`),
		agent.update(`"sessionUpdate":"tool_call_update","toolCallId":"call-2","status":"completed"`),
		plan("completed", "completed", "in_progress"),

		agent.asks(3, "terminal/create", `"command":"go","args":["test","./..."],"cwd":"`+sessionDir+`"`),
		client.result(3, `{"terminalId":"term-1"}`),
		agent.update(`"sessionUpdate":"tool_call","toolCallId":"call-3","title":"go test ./...","kind":"execute","status":"in_progress","content":[{"type":"terminal","terminalId":"term-1"}]`),
		agent.asks(4, "terminal/wait_for_exit", `"terminalId":"term-1"`),
		client.result(4, `{"exitCode":0,"signal":null}`).after(250 * time.Millisecond),
		agent.asks(5, "terminal/output", `"terminalId":"term-1"`),
		client.result(5, `{"output":"ok  \texample.com/stats\t0.004s\n","truncated":false,"exitStatus":{"exitCode":0,"signal":null}}`),
		agent.update(`"sessionUpdate":"tool_call_update","toolCallId":"call-3","status":"completed"`),
		agent.asks(6, "terminal/release", `"terminalId":"term-1"`),
		client.result(6, `{}`),
		plan("completed", "completed", "completed"),
		agent.streams("agent_message_chunk", "Done: the loop starts at 0, the mean of 2, 4 and 6 is 4, and the tests pass."),
		agent.update(`"sessionUpdate":"usage_update","used":2816,"size":200000,"cost":{"amount":0.01,"currency":"USD"}`),
		agent.update(`"sessionUpdate":"session_info_update","title":"Fix Mean"`),
		agent.result(2, `{"stopReason":"end_turn"}`),

		client.prompt(3, "Now make it generic over all number types."),
		agent.streams("agent_message_chunk", "First I look for the callers of Mean."),
		agent.update(`"sessionUpdate":"tool_call","toolCallId":"call-4","title":"Search for Mean(","kind":"search","status":"in_progress"`),
		client.notification("session/cancel"),
		stderr.says("demo-agent: the client cancelled turn 2"),
		agent.update(`"sessionUpdate":"tool_call_update","toolCallId":"call-4","status":"failed"`),
		agent.result(3, `{"stopReason":"cancelled"}`),
	}
}

// The messages that open every connection.
const (
	agentReady   = "demo-agent: ready (scripted: no network, no model)"
	editorHello  = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"demo-editor","version":"1"}}`
	agentHello   = `{"protocolVersion":1,"agentCapabilities":{"loadSession":false},"agentInfo":{"name":"demo-agent","version":"1"},"authMethods":[]}`
	sessionSetup = `{"cwd":"` + sessionDir + `","mcpServers":[]}`
)

// stepPause is the default pause before a line: long enough to keep frames in separate
// chunks, and to make the conversation last a good second.
const stepPause = 15 * time.Millisecond

// A side builds the steps of one side of a session.
type side struct {
	by      wire.Direction
	session string
}

func sides(session string) (client, agent, stderr side) {
	return side{wire.ClientToAgent, session}, side{wire.AgentToClient, session}, side{wire.AgentStderr, session}
}

func (s side) says(lines ...string) Step {
	return Step{By: s.by, Lines: lines, pause: stepPause}
}

func (s side) request(id int, method, params string) Step {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

// asks returns a request in the session; fields are members of its params.
func (s side) asks(id int, method, fields string) Step {
	return s.request(id, method, `{"sessionId":"`+s.session+`",`+fields+`}`)
}

func (s side) prompt(id int, text string) Step {
	return s.asks(id, "session/prompt", fmt.Sprintf(`"prompt":[{"type":"text","text":%q}]`, text))
}

func (s side) result(id int, result string) Step {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result))
}

func (s side) notification(method string) Step {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"sessionId":%q}}`, method, s.session))
}

// update returns a session/update; fields are members of its update.
func (s side) update(fields string) Step {
	return s.says(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + s.session + `","update":{` + fields + `}}}`)
}

// streams splits the text into updates of one variant, three words each.
func (s side) streams(variant, text string) Step {
	all := s.says()
	for words := range slices.Chunk(strings.SplitAfter(text, " "), 3) {
		chunk := s.update(fmt.Sprintf(`"sessionUpdate":%q,"content":{"type":"text","text":%q}`, variant, strings.Join(words, "")))
		all.Lines = append(all.Lines, chunk.Lines...)
	}
	return all
}

func (s Step) after(pause time.Duration) Step {
	s.pause = pause
	return s
}
