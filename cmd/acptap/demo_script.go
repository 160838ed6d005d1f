package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// demoSession is the session of the demo.
const demoSession = "sess-demo-1"

// demoDir is its directory.
const demoDir = "/home/demo/stats"

// A demoStep is what one side says before the other one does.
type demoStep struct {
	by      wire.Direction
	pause   time.Duration // before each line
	history bool          // any number of updates come before it
	lines   []string
}

// demoScript is all that is said in the demo, in version 1 of the Agent Client
// Protocol: a bug is found, mended and tested in a first turn, and a second turn
// is cancelled. Ids and texts are always the same.
func demoScript() []demoStep {
	const (
		path   = `"` + demoDir + `/mean.go"`
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
	client, agent, stderr := demoSides(demoSession)
	plan := func(find, mend, test string) demoStep {
		return agent.update(fmt.Sprintf(`"sessionUpdate":"plan","entries":[`+
			`{"content":"Find out why the mean is too small","priority":"high","status":%q},`+
			`{"content":"Mend the loop","priority":"high","status":%q},`+
			`{"content":"Run the tests","priority":"medium","status":%q}]`, find, mend, test))
	}
	return []demoStep{
		stderr.says(demoReady),
		client.request(0, "initialize", demoEditor),
		agent.result(0, demoCapabilities),
		client.request(1, "session/new", demoSetup),
		agent.result(1, `{"sessionId":"`+demoSession+`"}`),

		client.prompt(2, "TestMean fails: the mean of 2, 4 and 6 should be 4, but Mean returns 3.33. Please mend it."),
		agent.streams("agent_thought_chunk", "Ten divided by three is 3.33, so the first of the three numbers is missing from the sum. The loop will tell."),
		plan("in_progress", "pending", "pending"),

		agent.update(`"sessionUpdate":"tool_call","toolCallId":"call-1","title":"Read mean.go","kind":"read","status":"in_progress","locations":[{"path":` + path + `}]`),
		agent.asks(0, "fs/read_text_file", `"path":`+path),
		client.result(0, fmt.Sprintf(`{"content":%q}`, before)), // ASCII: its quoted form is the same in Go and in JSON
		agent.update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"completed","content":[{"type":"content","content":{"type":"text","text":%q}}]`, before)),
		plan("completed", "in_progress", "pending"),
		agent.streams("agent_message_chunk", "The loop begins at 1 and leaves out the first number. It has to begin at 0."),

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

		agent.asks(3, "terminal/create", `"command":"go","args":["test","./..."],"cwd":"`+demoDir+`"`),
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
		agent.streams("agent_message_chunk", "Done: the loop begins at 0, the mean of 2, 4 and 6 is 4, and the tests pass."),
		agent.update(`"sessionUpdate":"usage_update","used":2816,"size":200000,"cost":{"amount":0.01,"currency":"USD"}`),
		agent.update(`"sessionUpdate":"session_info_update","title":"Mend the mean"`),
		agent.result(2, `{"stopReason":"end_turn"}`),

		client.prompt(3, "Now make it generic over all number types."),
		agent.streams("agent_message_chunk", "I begin with a look at who calls Mean."),
		agent.update(`"sessionUpdate":"tool_call","toolCallId":"call-4","title":"Search for Mean(","kind":"search","status":"in_progress"`),
		client.notification("session/cancel"),
		stderr.says("demo-agent: the client has cancelled turn 2"),
		agent.update(`"sessionUpdate":"tool_call_update","toolCallId":"call-4","status":"failed"`),
		agent.result(3, `{"stopReason":"cancelled"}`),
	}
}

// What both sides begin with.
const (
	demoReady        = "demo-agent: ready, without a network or a model"
	demoEditor       = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"demo-editor","version":"1"}}`
	demoCapabilities = `{"protocolVersion":1,"agentCapabilities":{"loadSession":false},"agentInfo":{"name":"demo-agent","version":"1"},"authMethods":[]}`
	demoSetup        = `{"cwd":"` + demoDir + `","mcpServers":[]}`
)

// demoPause is what a step takes that does not say otherwise: long enough for
// frames not to share a chunk, and all of the demo to last a good second.
const demoPause = 15 * time.Millisecond

// A demoSide makes the steps of one side in a session.
type demoSide struct {
	by      wire.Direction
	session string
}

func demoSides(session string) (client, agent, stderr demoSide) {
	return demoSide{wire.ClientToAgent, session}, demoSide{wire.AgentToClient, session}, demoSide{wire.AgentStderr, session}
}

func (s demoSide) says(lines ...string) demoStep {
	return demoStep{by: s.by, pause: demoPause, lines: lines}
}

func (s demoSide) request(id int, method, params string) demoStep {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

// asks makes a request in the session; fields are members of its params.
func (s demoSide) asks(id int, method, fields string) demoStep {
	return s.request(id, method, `{"sessionId":"`+s.session+`",`+fields+`}`)
}

func (s demoSide) prompt(id int, text string) demoStep {
	return s.asks(id, "session/prompt", fmt.Sprintf(`"prompt":[{"type":"text","text":%q}]`, text))
}

func (s demoSide) result(id int, result string) demoStep {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result))
}

func (s demoSide) notification(method string) demoStep {
	return s.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"sessionId":%q}}`, method, s.session))
}

// update makes a session/update; fields are members of its update.
func (s demoSide) update(fields string) demoStep {
	return s.says(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + s.session + `","update":{` + fields + `}}}`)
}

// streams makes updates of one variant with three words of the text each.
func (s demoSide) streams(variant, text string) demoStep {
	all := s.says()
	for words := range slices.Chunk(strings.SplitAfter(text, " "), 3) {
		chunk := s.update(fmt.Sprintf(`"sessionUpdate":%q,"content":{"type":"text","text":%q}`, variant, strings.Join(words, "")))
		all.lines = append(all.lines, chunk.lines...)
	}
	return all
}

func (s demoStep) after(pause time.Duration) demoStep {
	s.pause = pause
	return s
}
