package shim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/shim"
)

// The test binary also acts as the agent: role:agent CHARACTER, or the agent of a tape:
// role:tape FILE. It also acts as a proxy that can be killed, with a shim: role:proxy STORE
// CHARACTER, or without one: role:relay STORE CHARACTER.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "role:agent":
		newAgent(os.Args[2]).run()
		os.Exit(0)
	case len(os.Args) > 2 && os.Args[1] == "role:tape":
		if err := playTape(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 2 && os.Args[1] == "role:lease": // of session s of agent a, until stdin ends
		if _, err := shim.TakeLease(os.Args[2], "a", "s"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("leased")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case len(os.Args) > 3 && os.Args[1] == "role:relay":
		if err := runProxy(os.Args[2], os.Args[3], false); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 3 && os.Args[1] == "role:proxy":
		if err := runProxy(os.Args[2], os.Args[3], true); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each agent takes a second to exit
	os.Exit(m.Run())
}

// playTape is the agent of a tape that accepts prompts other than those on the tape.
func playTape(path string) error {
	tape, err := record.OpenFile(path)
	if err != nil {
		return err
	}
	agent := replay.Agent{Tapes: []*record.Tape{tape}, Matching: replay.MatchMethod}
	report, err := agent.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		return fmt.Errorf("%w:\n%s", err, &report)
	}
	return nil
}

func runProxy(dir, c string, sessions bool) error {
	command := []string{os.Args[0], "role:agent", c}
	store := record.OpenStore(dir)
	journal, err := store.Record(record.Start{Command: command, Name: "agent", Proto: "acp"})
	if err != nil {
		return err
	}
	s := &shim.Shim{Store: store, Agent: "agent", Tape: journal.Tape()}
	p := &proxy.Proxy{Command: command, Journal: journal}
	if sessions {
		p.Interceptors = []proxy.Interceptor{s}
	}
	err = p.Run(context.Background())
	s.Close()
	err = errors.Join(err, journal.Close())
	journal.Wait() // the store is removed with the test
	return err
}

// A character says how an agent behaves. The zero value is a version 1 agent without session
// methods.
type character struct {
	Dialect string         // v1 (also empty), early1 (to 2026-06-16), early or v2
	Script  []string       // what it does in each turn; see play
	Log     string         // file to log received lines to
	Native  []string       // session methods that it offers: load, resume, …
	Errors  map[string]int // error codes with which it answers methods
	Silent  []string       // methods that it does not answer
	History []string       // updates that it sends for a native load; MEBIBYTE stands for as much
	Late    int            // number of them sent after the answer
	Pause   int            // milliseconds before each of them
	Belated bool           // answers session/new and Silent only when cancelled, then sends a late update
	Elicits bool           // asks the user before it answers session/new
	Greets  bool           // sends an update between session/new and its answer
	Embeds  bool           // takes resources in a prompt
	Echoes  bool           // version 1: repeats the prompt
	Random  bool           // ids of sessions are not used again
	Session string         // further members of the result of session/new
	Lists   [][]string     // ids on the pages of its session list
	Marks   string         // file that it creates when it answers session/new
}

type agent struct {
	character
	in       *bufio.Scanner
	log      *os.File
	sessions int
	turns    map[string]int // by session
	requests int
}

func newAgent(text string) *agent {
	a := &agent{in: bufio.NewScanner(os.Stdin), turns: map[string]int{}}
	if err := json.Unmarshal([]byte(text), &a.character); err != nil {
		panic(err)
	}
	if a.Dialect == "" {
		a.Dialect = "v1"
	}
	a.in.Buffer(nil, 64<<20)
	if a.Log != "" {
		a.log, _ = os.OpenFile(a.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	return a
}

// next returns the next line from the client.
func (a *agent) next() (wire.Value, bool) {
	if !a.in.Scan() {
		return wire.Value{}, false
	}
	if a.log != nil {
		fmt.Fprintf(a.log, "%s\n", a.in.Bytes())
	}
	return wire.ValueOf(a.in.Text()), true
}

func (a *agent) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (a *agent) update(session, update string) {
	a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update)
}

func (a *agent) result(m wire.Value, result string) {
	a.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.Get("id").Raw(), result)
}

func (a *agent) error(m wire.Value, code int) {
	a.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, m.Get("id").Raw(), code)
}

func (a *agent) run() {
	for m, ok := a.next(); ok; m, ok = a.next() {
		if m.IsObject() {
			a.take(m)
		}
	}
}

func (a *agent) take(m wire.Value) {
	method := m.Get("method").Text()
	session := m.Get("params.sessionId").Text()
	switch {
	case slices.Contains(a.Silent, method), a.Belated && method == "session/new":
		return
	case a.Belated && method == "$/cancel_request":
		result := `{"sessionId":"belated"}`
		if a.Silent != nil {
			result = "{}"
		}
		a.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.Get("params.requestId").Raw(), result)
		a.update("belated", `{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
		return
	}
	if code := a.Errors[method]; code != 0 {
		a.error(m, code)
		return
	}
	name := strings.TrimPrefix(method, "session/")
	switch {
	case !m.Get("method").Exists(), method == "session/cancel", method == "$/cancel_request":
	case method == "initialize":
		a.result(m, a.initialized())
	case method == "session/new":
		a.sessions++
		id := fmt.Sprintf("session-%d", a.sessions)
		if a.Random {
			id = fmt.Sprintf("s%d", time.Now().UnixNano())
		}
		if a.Greets {
			a.update(id, `{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
		}
		if a.Elicits {
			a.say(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"requestId":%s,"mode":"form","message":"?","requestedSchema":{}}}`, m.Get("id").Raw())
		}
		if a.Marks != "" {
			os.WriteFile(a.Marks, nil, 0o600)
		}
		a.result(m, fmt.Sprintf(`{"sessionId":%q%s}`, id, a.Session))
	case method == "session/prompt":
		a.prompt(m, session)
	case method == "session/set_mode", strings.HasPrefix(method, "_vendor/"):
		a.result(m, "{}")
	case !slices.Contains(a.Native, name):
		a.error(m, -32601)
	case name == "list" && a.Lists != nil:
		a.list(m)
	case name == "load", name == "resume" && m.Get("params.replayFrom").IsObject():
		n := len(a.History) - a.Late
		for _, u := range a.History[:n] {
			time.Sleep(time.Duration(a.Pause) * time.Millisecond)
			a.update(session, strings.ReplaceAll(u, "MEBIBYTE", strings.Repeat("x", 1<<20)))
		}
		a.result(m, `{"_meta":{"native":true}}`)
		for _, u := range a.History[n:] {
			a.update(session, u)
		}
	default:
		a.result(m, `{"_meta":{"native":true}}`)
	}
}

func (a *agent) list(m wire.Value) {
	page := int(m.Get("params.cursor").Int())
	var items []string
	for _, id := range a.Lists[page] {
		items = append(items, fmt.Sprintf(`{"sessionId":%q,"cwd":"/w"}`, id))
	}
	next := ""
	if page+1 < len(a.Lists) {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, page+1)
	}
	a.result(m, fmt.Sprintf(`{"sessions":[%s]%s}`, strings.Join(items, ","), next))
}

func (a *agent) initialized() string {
	var marks strings.Builder
	for _, name := range a.Native {
		switch {
		case a.Dialect == "v1" && name == "load":
		case a.Dialect == "v2" && name != "delete" && name != "fork":
		default:
			fmt.Fprintf(&marks, `,%q:{}`, name)
		}
	}
	embeds := ""
	if a.Embeds {
		embeds = `"embeddedContext":{}`
	}
	switch a.Dialect {
	case "v1":
		return fmt.Sprintf(`{"protocolVersion":1,"agentCapabilities":{"loadSession":%t,"promptCapabilities":{"image":true,"embeddedContext":%t},"sessionCapabilities":{"x":null%s}},"agentInfo":{"name":"forgetful","version":"1"},"authMethods":[]}`,
			slices.Contains(a.Native, "load"), a.Embeds, marks.String())
	case "v2":
		return fmt.Sprintf(`{"protocolVersion":2,"capabilities":{"session":{"prompt":{%s}%s}},"info":{"name":"forgetful","version":"1"}}`, embeds, marks.String())
	}
	return fmt.Sprintf(`{"protocolVersion":2,"capabilities":{"session":{"prompt":{%s}%s}},"agentInfo":{"name":"forgetful","version":"1"}}`, embeds, marks.String())
}

// prompt performs a turn. The last text of the prompt names it: turn N.
func (a *agent) prompt(m wire.Value, session string) {
	a.turns[session]++
	stop := a.Dialect == "v1" || a.Dialect == "early1"
	if !stop {
		a.result(m, "{}")
		a.update(session, fmt.Sprintf(`{"sessionUpdate":"user_message","messageId":"u-%s-%d","content":%s}`, session, a.turns[session], m.Get("params.prompt").Raw()))
		a.update(session, `{"sessionUpdate":"state_update","state":"running"}`)
	} else if a.Echoes {
		for _, block := range m.Get("params.prompt").Array() {
			id := ""
			if a.Dialect != "v1" {
				id = fmt.Sprintf(`"messageId":"u-%s-%d",`, session, a.turns[session])
			}
			a.update(session, `{"sessionUpdate":"user_message_chunk",`+id+`"content":`+block.Raw()+`}`)
		}
	}
	turn := -1
	for _, block := range m.Get("params.prompt").Array() {
		fmt.Sscanf(block.Get("text").Text(), "turn %d", &turn)
	}
	reason := "end_turn"
	if turn >= 0 && turn < len(a.Script) {
		reason = a.play(m, session, a.Script[turn])
	} else {
		a.update(session, `{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"ok"}}`)
	}
	switch {
	case reason == "":
	case stop:
		a.result(m, fmt.Sprintf(`{"stopReason":%q}`, reason))
	default:
		a.update(session, fmt.Sprintf(`{"sessionUpdate":"state_update","state":"idle","stopReason":%q}`, reason))
	}
}

// play executes a script line by line: an update to send; ask METHOD MEMBERS, a request to
// the client; stop REASON; error CODE; wait, for the client's session/cancel; exit.
func (a *agent) play(m wire.Value, session, script string) string {
	for line := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "":
		case "ask":
			method, fields, _ := strings.Cut(rest, " ")
			a.requests++
			a.say(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"sessionId":%q,%s}}`, a.requests, method, session, fields)
			for {
				answer, ok := a.next()
				if !ok {
					return ""
				}
				if !answer.Get("method").Exists() {
					break
				}
				a.take(answer)
			}
		case "stop":
			return rest
		case "error":
			var code int
			fmt.Sscan(rest, &code)
			a.error(m, code)
			return ""
		case "wait":
			for {
				n, ok := a.next()
				if !ok {
					return ""
				}
				if n.Get("method").Text() == "session/cancel" {
					break
				}
				a.take(n)
			}
			return "cancelled"
		case "exit":
			os.Exit(0)
		default:
			a.update(session, strings.TrimSpace(line))
		}
	}
	return "end_turn"
}
