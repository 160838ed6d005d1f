package model_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// An agent speaks ACP on stdio, and asks a model in one of the APIs, with or without streams,
// where the environment says. It asks for a title first, and before it runs a shell.
type agent struct {
	api    string
	stream bool

	mu      sync.Mutex // guards stdout, and all below
	cancel  context.CancelFunc
	asked   int
	answers map[string]chan wire.Envelope
}

// runAgent runs an agent until stdin ends. The model is asked in an API, such as "chat" or
// "chat whole"; not by one named "deaf"; by one named "abroad", on another machine.
func runAgent(api string) {
	a := &agent{answers: map[string]chan wire.Envelope{}}
	name, _, whole := strings.Cut(api, " ")
	a.api, a.stream = name, !whole
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		a.take(wire.Scan(line))
	}
}

func (a *agent) take(e wire.Envelope) {
	switch method := string(e.Method); {
	case e.Method == nil:
		a.mu.Lock()
		if c := a.answers[string(e.ID)]; c != nil {
			c <- e
		}
		a.mu.Unlock()
	case method == "session/cancel" || method == "$/cancel_request":
		a.mu.Lock()
		if a.cancel != nil {
			a.cancel()
		}
		a.mu.Unlock()
	case e.ID == nil:
	case method == "initialize":
		a.send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1"},"agentCapabilities":{"promptCapabilities":{"image":true,"embeddedContext":true}}}}`, e.ID)
	case method == "session/new":
		a.send(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, e.ID)
	case method == "session/prompt":
		ctx, cancel := context.WithCancel(context.Background())
		a.mu.Lock()
		a.cancel = cancel
		a.mu.Unlock()
		go a.turn(ctx, e)
	default:
		a.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, e.ID)
	}
}

func (a *agent) send(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func (a *agent) update(format string, args ...any) {
	a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}`, fmt.Sprintf(format, args...))
}

// turn asks the model until it calls no tool.
func (a *agent) turn(ctx context.Context, e wire.Envelope) {
	reason, err := "end_turn", a.title(ctx)
	for err == nil {
		var c *called
		if c, err = a.model(ctx, true); c == nil {
			break
		}
		err = a.run(ctx, c)
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, errCancelled):
		reason = "cancelled"
	case err != nil:
		a.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`, e.ID, wire.Quote(err.Error()))
		return
	}
	a.send(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%q}}`, e.ID, reason)
}

// title asks besides the turn, and without tools.
func (a *agent) title(ctx context.Context) error {
	_, err := a.model(ctx, false)
	return err
}

var errCancelled = errors.New("cancelled")

// run asks for a permission to use the shell.
func (a *agent) run(ctx context.Context, c *called) error {
	a.update(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":%q,"status":"pending"}`, c.ID, c.Name)
	if c.Name == "Bash" && c.Args["command"] != nil {
		a.mu.Lock()
		a.asked++
		id := fmt.Sprintf("%q", fmt.Sprint("ask-", a.asked))
		answer := make(chan wire.Envelope, 1)
		a.answers[id] = answer
		a.mu.Unlock()
		a.send(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":%q},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}`, id, c.ID)
		select {
		case e := <-answer:
			if e.Result.Get("outcome.outcome").Text() == "cancelled" {
				return errCancelled
			}
			if command := c.Args["command"].(string); strings.Contains(command, "sleep") {
				<-ctx.Done()
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.update(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed"}`, c.ID)
	return nil
}

// A called is a call that the model wants.
type called struct {
	ID, Name string
	Args     map[string]any
}

// requests has what agents ask, by API: the address, and the request without and with tools.
var requests = map[string][3]string{
	"anthropic": {"ANTHROPIC_BASE_URL /v1/messages", `{"model":"m","max_tokens":9,"messages":[]}`, `{"model":"m","max_tokens":9,"messages":[],"tools":[{"name":"Read","input_schema":{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}},{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}]}`},
	"chat":      {"OPENAI_BASE_URL /chat/completions", `{"model":"m","messages":[]}`, `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"Read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},{"type":"function","function":{"name":"Bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]}`},
	"responses": {"OPENAI_BASE_URL /responses", `{"model":"m","input":[]}`, `{"model":"m","input":[],"tools":[{"type":"function","name":"Read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}},{"type":"function","name":"Bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}]}`},
	"gemini":    {"GOOGLE_GEMINI_BASE_URL /v1beta/models/m:generateContent", `{"contents":[]}`, `{"contents":[],"tools":[{"functionDeclarations":[{"name":"Read","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING"}}}},{"name":"Bash","parametersJsonSchema":{"type":"object","properties":{"command":{"type":"string"}}}}]}]}`},
	"abroad":    {"ABROAD /v1/messages", `{}`, `{}`},
}

// model asks the model once. It shows the text unless the question is for a title.
func (a *agent) model(ctx context.Context, turn bool) (*called, error) {
	question, ok := requests[a.api]
	if !ok {
		return nil, nil // it is deaf
	}
	variable, path, _ := strings.Cut(question[0], " ")
	body := question[1]
	if turn {
		body = question[2]
	}
	switch {
	case !a.stream:
	case a.api == "gemini":
		path = strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	default:
		body = `{"stream":true,` + body[1:]
	}
	base := os.Getenv(variable)
	if a.api == "abroad" {
		base = "http://model.example"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	var c *called
	take := func(data []byte) {
		v := wire.ValueOf(data)
		text, one := read(v)
		if args := v.Get("delta.partial_json").Text(); args != "" && c != nil {
			_ = json.Unmarshal([]byte(args), &c.Args)
		}
		if text != "" && turn {
			a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, wire.Quote(text))
		}
		if one != nil {
			c = one
		}
	}
	var whole []byte
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if event, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			take(event)
		}
		whole = append(whole, line...)
		if err != nil {
			break
		}
	}
	if !a.stream {
		take(whole)
	}
	return c, ctx.Err()
}

// read returns the text and the call in an event or a whole answer.
func read(v wire.Value) (text string, c *called) {
	for _, path := range []string{"delta.text", "content.0.text", "choices.0.delta.content", "choices.0.message.content", "candidates.0.content.parts.0.text", "output.0.content.0.text"} {
		text += v.Get(path).Text()
	}
	if v.Get("type").Text() == "response.output_text.delta" {
		text = v.Get("delta").Text()
	}
	for _, path := range []string{"content_block", "content.0", "choices.0.delta.tool_calls.0.function", "choices.0.message.tool_calls.0.function", "candidates.0.content.parts.0.functionCall", "item", "output.0"} {
		f := v.Get(path)
		args := f.Get("arguments").Text() + f.Get("args").Raw() + f.Get("input").Raw()
		if name := f.Get("name").Text(); name != "" && args != "" {
			c = &called{ID: "call", Name: name}
			_ = json.Unmarshal([]byte(args), &c.Args)
		}
	}
	return text, c
}
