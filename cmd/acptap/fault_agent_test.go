package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// faultAgent is an ACP agent, or with the argument mcp a server, that meets every fault: in
// a turn it says something, asks for a permission, writes a file and runs a command. It waits
// for each answer, and a prompt "cancel" waits for a cancel.
func faultAgent() {
	a := &meetingAgent{in: bufio.NewScanner(os.Stdin), mcp: len(os.Args) > 1 && os.Args[1] == "mcp"}
	a.in.Buffer(nil, 64<<20)
	for {
		m, ok := a.next()
		if !ok {
			return
		}
		a.answer(m)
	}
}

type meetingAgent struct {
	in  *bufio.Scanner
	mcp bool
	ids int
}

func (a *meetingAgent) next() (wire.Value, bool) {
	for a.in.Scan() {
		if v := wire.ValueOf(a.in.Text()); v.Exists() {
			return v, true
		}
	}
	return wire.Value{}, false
}

func (a *meetingAgent) say(format string, args ...any) {
	if _, err := fmt.Printf(format+"\n", args...); err != nil {
		os.Exit(3)
	}
}

func (a *meetingAgent) result(m wire.Value, result string) {
	a.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.Get("id").Raw(), result)
}

// answers are the fixed answers.
var faultAnswers = map[string]string{
	"session/new":  `{"sessionId":"s1"}`,
	"session/load": `{}`,
	"tools/list":   `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
	"tools/call":   `{"content":[{"type":"text","text":"ok"}]}`,
}

func (a *meetingAgent) answer(m wire.Value) {
	method := m.Get("method").Text()
	switch result, fixed := faultAnswers[method]; {
	case fixed:
		a.result(m, result)
	case method == "initialize" && a.mcp:
		a.result(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"server","version":"1"}}`)
	case method == "initialize":
		a.result(m, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"agent","version":"1"}}`)
	case method == "session/prompt":
		a.turn(m)
	case m.Get("id").Exists() && method != "":
		a.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.Get("id").Raw())
	}
}

func (a *meetingAgent) turn(m wire.Value) {
	a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"日: let me see"}}`)
	if strings.Contains(m.Raw(), `"text":"cancel"`) {
		a.until(func(got wire.Value) bool { return got.Get("method").Text() == "session/cancel" })
		a.result(m, `{"stopReason":"cancelled"}`)
		return
	}
	a.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Write","kind":"edit","status":"pending"}`)
	a.ask("session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"Write"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}`)
	dir, _ := os.Getwd()
	a.ask("fs/write_text_file", fmt.Sprintf(`{"sessionId":"s1","path":%q,"content":"x"}`, dir+"/written.txt"))
	terminal := a.ask("terminal/create", `{"sessionId":"s1","command":"true"}`).Get("result").Get("terminalId").Raw()
	if terminal != "" {
		a.ask("terminal/wait_for_exit", fmt.Sprintf(`{"sessionId":"s1","terminalId":%s}`, terminal))
	}
	a.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`)
	a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}`)
	a.result(m, `{"stopReason":"end_turn"}`)
}

func (a *meetingAgent) update(update string) {
	a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":%s}}`, update)
}

// ask asks the client, and returns the answer.
func (a *meetingAgent) ask(method, params string) wire.Value {
	a.ids++
	id := fmt.Sprint(a.ids)
	a.say(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return a.until(func(got wire.Value) bool { return !got.Get("method").Exists() && got.Get("id").Raw() == id })
}

// until reads up to a message, and answers the others. At the end of stdin it ends.
func (a *meetingAgent) until(is func(wire.Value) bool) wire.Value {
	for {
		m, ok := a.next()
		if !ok {
			os.Exit(0)
		}
		if is(m) {
			return m
		}
		a.answer(m)
	}
}
