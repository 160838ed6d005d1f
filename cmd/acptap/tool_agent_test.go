package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/proxy/wire"
)

// toolAgent is an agent that starts the MCP servers that its client gives it, and calls
// the tools that prompts name. It reads requests as coder's SDK for ACP does, and speaks
// to servers by the official SDK for MCP.
//
//	exec acptap proxy -- tool-agent [-shape SHAPE] [-late] [-load] [-sessions PREFIX] [-without SERVER]
//
// In session/new, load and resume it starts all of mcpServers, over stdio, http or sse,
// except the one that -without names.
// One that does not start costs a line on stderr, and nothing else. Sessions are called
// PREFIX-1 and so on, tools-1 without the flag. Each line of a prompt of the form
//
//	SERVER/TOOL {"argument":"value"}
//
// is a call, and the arguments may be left out; calls that stand in one line with && between
// are made at once. Each is reported as a tool call (pending, then completed or failed), in
// the way that -shape names: see toolShapes. With -late that begins only when the server has
// answered. With -load it has session/load and resume, and recounts nothing; without, the
// session shim has something to do. The answer to all other lines is "What?".
//
// Requests are done one after the other, so that a client may be a file on stdin that names
// sessions before they are made. When stdin has ended and all is done, it closes the stdin of
// the servers, and ends when they have ended.
func toolAgent() {
	shape := flag.String("shape", "name-claude", "")
	a := &toolingAgent{sessions: map[acp.SessionId]map[string]*mcp.ClientSession{}, asked: map[string]chan []byte{}}
	flag.BoolVar(&a.late, "late", false, "")
	flag.BoolVar(&a.load, "load", false, "")
	flag.StringVar(&a.prefix, "sessions", "tools", "")
	flag.StringVar(&a.without, "without", "", "")
	flag.Parse()
	known := false
	if a.shape, known = toolShapes[*shape]; !known {
		fmt.Fprintf(os.Stderr, "tool-agent: -shape is one of %s\n", strings.Join(slices.Sorted(maps.Keys(toolShapes)), " "))
		os.Exit(2)
	}
	requests := make(chan []byte, 1000)
	go a.read(os.Stdin, requests)
	for line := range requests {
		a.serve(line)
	}
	a.close()
}

type toolingAgent struct {
	shape      toolShape
	late, load bool
	prefix     string
	without    string
	sessions   map[acp.SessionId]map[string]*mcp.ClientSession // by the servers' names
	made       int                                             // sessions
	calls      int

	mu    sync.Mutex             // guards the rest, and stdout
	asked map[string]chan []byte // where answers of the client are waited for, by id; nil at the end of stdin
}

// read passes requests on, and answers to those who wait for them.
func (a *toolingAgent) read(stdin io.Reader, requests chan<- []byte) {
	for in := bufio.NewReader(stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		if wire.ValueAt(line, "method").Exists() {
			requests <- line
			continue
		}
		a.mu.Lock()
		if answer := a.asked[wire.ValueAt(line, "id").Raw()]; answer != nil {
			answer <- line
		}
		a.mu.Unlock()
	}
	close(requests)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, answer := range a.asked {
		close(answer)
	}
	a.asked = nil
}

// say writes a message.
func (a *toolingAgent) say(message map[string]any) {
	message["jsonrpc"] = "2.0"
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := e.Encode(message); err != nil {
		os.Exit(1) // the client is gone
	}
}

// serve handles a request.
func (a *toolingAgent) serve(line []byte) {
	var r struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	err := json.Unmarshal(line, &r)
	if err == nil && r.ID == nil {
		return
	}
	var result any = map[string]any{}
	switch {
	case err != nil:
	case r.Method == acp.AgentMethodInitialize:
		result = acp.InitializeResponse{
			ProtocolVersion: acp.ProtocolVersionNumber,
			AgentInfo:       &acp.Implementation{Name: "tool-agent", Version: "1"},
			AgentCapabilities: acp.AgentCapabilities{
				LoadSession:     a.load,
				McpCapabilities: acp.McpCapabilities{Http: true, Sse: true},
			},
		}
	case r.Method == acp.AgentMethodSessionNew:
		var p acp.NewSessionRequest
		if err = json.Unmarshal(r.Params, &p); err == nil {
			a.made++
			id := acp.SessionId(fmt.Sprintf("%s-%d", a.prefix, a.made))
			a.open(id, p.McpServers)
			result = acp.NewSessionResponse{SessionId: id}
		}
	case r.Method == acp.AgentMethodSessionLoad && a.load, r.Method == acp.AgentMethodSessionResume && a.load:
		var p acp.LoadSessionRequest
		if err = json.Unmarshal(r.Params, &p); err == nil {
			a.open(p.SessionId, p.McpServers)
		}
	case r.Method == acp.AgentMethodSessionPrompt:
		var p acp.PromptRequest
		if err = json.Unmarshal(r.Params, &p); err == nil {
			a.prompt(p)
			result = acp.PromptResponse{StopReason: acp.StopReasonEndTurn}
		}
	default:
		a.say(map[string]any{"id": r.ID, "error": acp.NewMethodNotFound(r.Method)})
		return
	}
	if err != nil {
		a.say(map[string]any{"id": r.ID, "error": acp.NewInvalidParams(err.Error())})
		return
	}
	a.say(map[string]any{"id": r.ID, "result": result})
}

// close ends all servers.
func (a *toolingAgent) close() {
	var group sync.WaitGroup
	for _, servers := range a.sessions {
		for _, s := range servers {
			group.Go(func() { s.Close() })
		}
	}
	group.Wait()
}

// open starts the servers of a session.
func (a *toolingAgent) open(id acp.SessionId, list []acp.McpServer) {
	a.sessions[id] = map[string]*mcp.ClientSession{}
	for _, s := range list {
		name, transport := transportTo(s)
		if name == a.without {
			continue
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "tool-agent", Version: "1"}, nil)
		session, err := client.Connect(context.Background(), transport, nil)
		if err != nil {
			fmt.Fprintf(os.Stderr, "tool-agent: server %s: %v\n", name, err)
			continue
		}
		a.sessions[id][name] = session
	}
}

// transportTo returns the name of a server, and the way to it.
func transportTo(s acp.McpServer) (string, mcp.Transport) {
	switch {
	case s.Stdio != nil:
		cmd := exec.Command(s.Stdio.Command, s.Stdio.Args...)
		cmd.Env = os.Environ()
		for _, e := range s.Stdio.Env {
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
		cmd.Stderr = os.Stderr
		return s.Stdio.Name, &mcp.CommandTransport{Command: cmd}
	case s.Http != nil:
		return s.Http.Name, &mcp.StreamableClientTransport{Endpoint: s.Http.Url, HTTPClient: withHeaders(s.Http.Headers)}
	case s.Sse != nil:
		return s.Sse.Name, &mcp.SSEClientTransport{Endpoint: s.Sse.Url, HTTPClient: withHeaders(s.Sse.Headers)}
	}
	return "", nowhere{}
}

// nowhere is the way to a server of a kind that toolAgent does not know.
type nowhere struct{}

func (nowhere) Connect(context.Context) (mcp.Connection, error) {
	return nil, errors.New("neither stdio nor http nor sse")
}

// A headerTransport adds headers to requests.
type headerTransport []acp.HttpHeader

func withHeaders(headers []acp.HttpHeader) *http.Client {
	return &http.Client{Transport: headerTransport(headers)}
}

func (t headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, h := range t {
		r.Header.Set(h.Name, h.Value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// prompt executes the lines of a prompt.
func (a *toolingAgent) prompt(p acp.PromptRequest) {
	for _, block := range p.Prompt {
		if block.Text == nil {
			continue
		}
		for line := range strings.Lines(block.Text.Text) {
			var group sync.WaitGroup
			for text := range strings.SplitSeq(strings.TrimSpace(line), " && ") {
				c, server := a.named(p.SessionId, text)
				if server == nil {
					a.update(p.SessionId, map[string]any{"sessionUpdate": "agent_message_chunk", "content": textContent("What?")})
					continue
				}
				group.Go(func() { a.call(p.SessionId, server, c) })
			}
			group.Wait()
		}
	}
}

// named returns the call that a text names, and its server: nil if it names none.
func (a *toolingAgent) named(session acp.SessionId, text string) (c toolCall, server *mcp.ClientSession) {
	name, arguments, _ := strings.Cut(text, " ")
	c.server, c.tool, _ = strings.Cut(name, "/")
	server = a.sessions[session][c.server]
	if server == nil || json.Unmarshal([]byte(cmp.Or(arguments, "{}")), &c.arguments) != nil {
		return toolCall{}, nil
	}
	a.calls++
	c.n = a.calls
	return c, server
}

// call makes a call, and reports it.
func (a *toolingAgent) call(session acp.SessionId, server *mcp.ClientSession, c toolCall) {
	id, title := fmt.Sprintf("call_%d", c.n), "Working"
	if a.shape.id != nil {
		id = a.shape.id(c)
	}
	if a.shape.title != nil {
		title = a.shape.title(c)
	}
	announced := map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "other", "status": "pending"}
	if a.shape.fields != nil {
		maps.Copy(announced, a.shape.fields(c))
	}
	if !a.late {
		a.report(session, announced)
	}
	if a.shape.ask != nil && !a.permitted(session, id, a.shape.ask(c)) {
		a.report(session, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed"})
		return
	}
	params := &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments, Meta: mcp.Meta{}}
	params.SetProgressToken(fmt.Sprintf("p%d", c.n))
	if a.shape.meta != nil {
		maps.Copy(params.Meta, a.shape.meta(id))
	}
	result, err := server.CallTool(context.Background(), params)
	if a.late {
		a.report(session, announced)
	}
	done := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}
	if err != nil || result.IsError {
		done["status"] = "failed"
	}
	if a.shape.text != nil {
		done["content"] = []any{map[string]any{"type": "content", "content": textContent(a.shape.text(textOf(result, err)))}}
	}
	a.report(session, done)
}

// textOf returns the text of a call's result.
func textOf(result *mcp.CallToolResult, err error) (text string) {
	if err != nil {
		return err.Error()
	}
	for _, content := range result.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text
}

// permitted asks the client.
func (a *toolingAgent) permitted(session acp.SessionId, id, title string) bool {
	request, answer := "ask-"+id, make(chan []byte, 1)
	a.mu.Lock()
	if a.asked == nil {
		close(answer)
	} else {
		a.asked[marshal(request)] = answer
	}
	a.mu.Unlock()
	a.say(map[string]any{"id": request, "method": acp.ClientMethodSessionRequestPermission, "params": acp.RequestPermissionRequest{
		SessionId: session,
		ToolCall:  acp.ToolCallUpdate{ToolCallId: acp.ToolCallId(id), Title: &title},
		Options:   []acp.PermissionOption{{Kind: acp.PermissionOptionKindAllowOnce, Name: "Allow", OptionId: "allow"}},
	}})
	return wire.ValueAt(<-answer, "result.outcome.outcome").Text() == "selected"
}

// report sends an update about a tool call.
func (a *toolingAgent) report(session acp.SessionId, update map[string]any) {
	if !a.shape.hidden {
		a.update(session, update)
	}
}

// update sends session/update. The SDK knows no name of tool calls.
func (a *toolingAgent) update(session acp.SessionId, update map[string]any) {
	a.say(map[string]any{"method": acp.ClientMethodSessionUpdate, "params": map[string]any{"sessionId": session, "update": update}})
}

func textContent(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
