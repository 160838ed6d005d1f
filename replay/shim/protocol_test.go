package shim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

var dialects = []string{"v1", "early1", "early", "v2"}

// recorded makes a session with one turn in a store, and returns its id.
func recorded(t *testing.T, dir string, c character, prompts ...string) string {
	t.Helper()
	cl := start(t, dir, c, nil)
	cl.initialize()
	id := cl.new()
	for _, p := range prompts {
		cl.prompt(id, p)
	}
	cl.stop()
	return id
}

// log returns the messages that an agent received.
func (c character) log(t *testing.T) []wire.Value {
	t.Helper()
	text, err := os.ReadFile(c.Log)
	if err != nil {
		t.Fatal(err)
	}
	var got []wire.Value
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		got = append(got, wire.ValueOf(strings.TrimSuffix(line, "\n")))
	}
	return got
}

// await waits until an agent has got a message of a method.
func (c character) await(t *testing.T, method string) {
	t.Helper()
	for i := 0; c.next(t, i).Get("method").Text() != method; i++ {
	}
}

// next waits until an agent has got more than n messages, and returns the next.
func (c character) next(t *testing.T, n int) wire.Value {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if log := c.log(t); len(log) > n {
			return log[n]
		}
	}
	t.Fatalf("the agent gets %d messages, and no more", n)
	return wire.Value{}
}

// prompts returns the prompts that an agent got.
func (c character) prompts(t *testing.T) (list [][]wire.Value) {
	for _, m := range c.log(t) {
		if m.Get("method").Text() == "session/prompt" {
			list = append(list, m.Get("params.prompt").Array())
		}
	}
	return list
}

// The response comes after the last replayed update. What the agent sends for the session in
// the meantime comes after the response.
func TestOrder(t *testing.T) {
	for _, d := range dialects {
		dir := t.TempDir()
		c := character{Dialect: d, Script: []string{hello}, Greets: true}
		id := recorded(t, dir, c, "turn 0")
		cl := start(t, dir, c, nil)
		cl.initialize()
		lines, _ := cl.load(id)
		for _, line := range lines {
			if strings.Contains(line, "available_commands") {
				t.Errorf("%s: a live update before the response: %s", d, line)
			}
		}
		cl.await(0, "greeting", func(m wire.Value) bool {
			return m.Get("params.update.sessionUpdate").Text() == "available_commands_update"
		})
	}
}

// The agent sees only its own id, the client only its own, and both are right even with two
// sessions open at once.
func TestIDs(t *testing.T) {
	for _, d := range dialects {
		dir := t.TempDir()
		c := character{Dialect: d, Script: []string{hello}}
		first := recorded(t, dir, c, "turn 0")
		c.Log = filepath.Join(dir, "log")
		cl := start(t, dir, c, nil)
		cl.initialize()
		second := cl.new() // session-1 again, for the agent
		if first == second {
			t.Fatalf("%s: two sessions are called %s", d, first)
		}
		cl.load(first)
		before := cl.count()
		cl.prompt(second, "to the second")
		cl.prompt(first, "to the first")
		cl.stop()
		got := map[string]string{}
		for _, m := range c.log(t) {
			if m.Get("method").Text() == "session/prompt" {
				blocks := m.Get("params.prompt").Array()
				got[blocks[len(blocks)-1].Get("text").Text()] = m.Get("params.sessionId").Text()
			}
			if strings.Contains(m.Raw(), second) && !strings.HasPrefix(m.Get("method").Text(), "session/resume") {
				t.Errorf("%s: the agent gets %s", d, m.Raw())
			}
		}
		if got["to the second"] != "session-1" || got["to the first"] != "session-2" {
			t.Errorf("%s: the agent gets prompts for %v", d, got)
		}
		for _, line := range cl.got(before) {
			if s := wire.ValueAt(line, "params.sessionId").Text(); s == "session-2" {
				t.Errorf("%s: the client gets %s", d, line)
			}
		}
		l, err := record.OpenStore(dir).List()
		if err != nil || len(l.Sessions) != 2 {
			t.Errorf("%s: the store has the sessions %+v, %v; want two", d, l.Sessions, err)
		}
	}
}

// Errors have their codes, and the connection stays usable.
func TestErrors(t *testing.T) {
	for _, d := range dialects {
		dir := t.TempDir()
		c := character{Dialect: d, Script: []string{hello, "wait"}}
		id := recorded(t, dir, c, "turn 0")
		cl := start(t, dir, c, nil)
		open := "session/load"
		if d == "v2" {
			open = "session/resume"
		}
		cl.fails(-32600, open, `{"sessionId":"x","cwd":"/w","mcpServers":[]}`)
		cl.initialize()
		if d != "v2" {
			cl.fails(-32602, open, `{"cwd":"/w","mcpServers":[]}`)
			cl.fails(-32602, open, `{"sessionId":7,"cwd":"/w","mcpServers":[]}`)
			cl.fails(-32602, open, fmt.Sprintf(`{"sessionId":%q,"mcpServers":[]}`, id))
			cl.fails(-32602, open, fmt.Sprintf(`{"sessionId":%q,"cwd":"w","mcpServers":[]}`, id))
			cl.fails(-32602, open, fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":{}}`, id))
		}
		cl.fails(-32002, open, `{"sessionId":"unknown","cwd":"/w","mcpServers":[]}`)
		cl.fails(-32602, open, fmt.Sprintf(`{"sessionId":%q,"cwd":"/elsewhere","mcpServers":[]}`, id), "directory /w, not to /elsewhere")
		if d != "v1" {
			cl.fails(-32602, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[],"replayFrom":{"type":"message"}}`, id))
			cl.fails(-32602, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[],"replayFrom":{}}`, id))
		}
		cl.fails(-32602, "session/list", `{"cursor":"x"}`)
		cl.fails(-32002, "session/close", `{"sessionId":"unknown"}`)
		cl.fails(-32602, "session/delete", `{}`)
		cl.fails(-32002, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, id))

		cl.must(open, fmt.Sprintf(`{"sessionId":%q,"cwd":"/w/./","mcpServers":[]}`, id))
		prompt := cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1"}]}`, id))
		cl.fails(-32600, open, fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
		cl.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
		cl.response(prompt)
		cl.must("session/list", `{}`)
	}
}

// Each dialect has its own keys, and only methods that the shim serves are added.
func TestCapabilities(t *testing.T) {
	for _, tt := range []struct {
		c    character
		want string // of the result, by path
	}{
		{character{Dialect: "v1"}, `agentCapabilities {"loadSession":true,"promptCapabilities":{"image":true,"embeddedContext":false},"sessionCapabilities":{"x":null,"resume":{},"list":{},"delete":{},"close":{}},"_meta":{"acptap":{"shim":["load","resume","list","delete","close"]}}}`},
		{character{Dialect: "v1", Native: []string{"load", "resume", "list", "delete", "close"}}, `agentCapabilities {"loadSession":true,"promptCapabilities":{"image":true,"embeddedContext":false},"sessionCapabilities":{"x":null,"load":{},"resume":{},"list":{},"delete":{},"close":{}}}`},
		{character{Dialect: "early1"}, `capabilities {"session":{"prompt":{},"load":{},"resume":{},"list":{},"delete":{},"close":{}},"_meta":{"acptap":{"shim":["load","resume","list","delete","close"]}}}`},
		{character{Dialect: "early", Native: []string{"load"}}, `capabilities {"session":{"prompt":{},"load":{},"resume":{},"list":{},"delete":{},"close":{}},"_meta":{"acptap":{"shim":["resume","list","delete","close"]}}}`},
		{character{Dialect: "v2"}, `capabilities {"session":{"prompt":{},"delete":{}},"_meta":{"acptap":{"shim":["delete"]}}}`},
	} {
		if tt.c.Dialect == "v1" && tt.c.Native != nil {
			tt.want = strings.Replace(tt.want, `"load":{},`, "", 1) // our agent's marker is only where it belongs
		}
		cl := start(t, t.TempDir(), tt.c, nil)
		path, want, _ := strings.Cut(tt.want, " ")
		if got := cl.initialize().Get(path).Raw(); got != want {
			t.Errorf("%s %v: got  %s\nwant %s", tt.c.Dialect, tt.c.Native, got, want)
		}
	}
}

// close first ends the turn; the turn's answer comes before that to close.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{"wait"}, Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, nil)
	cl.initialize()
	id := cl.new()
	prompt := cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 0"}]}`, id))
	closing := cl.ask("session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
	cl.response(closing)
	_, a := cl.await(0, "answer", func(m wire.Value) bool { return m.Get("id").Int() == int64(prompt) })
	_, b := cl.await(0, "answer", func(m wire.Value) bool { return m.Get("id").Int() == int64(closing) })
	if a > b {
		t.Errorf("the prompt is answered behind the close")
	}
	cl.fails(-32002, "session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
	cl.load(id)
	cl.prompt(id, "again")
}

// A fork begins with the finished turns of its source, and outlives it.
func TestFork(t *testing.T) {
	for _, d := range dialects {
		dir := t.TempDir()
		c := character{Dialect: d, Script: []string{hello, "wait"}, Log: filepath.Join(dir, "log")}
		cl := start(t, dir, c, func(s *shim.Shim) { s.Fork = true })
		cl.initialize()
		source := cl.new()
		cl.prompt(source, "turn 0")
		open := cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1"}]}`, source))
		fork := cl.must("session/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w2","mcpServers":[]}`, source)).Get("sessionId").Text()
		cl.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, source)
		cl.response(open)
		cl.prompt(fork, "what was it")
		cl.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, source))
		cl.stop()
		prompts := c.prompts(t)
		if last := prompts[len(prompts)-1]; len(last) != 2 || !strings.Contains(last[0].Get("text").Text(), "Hello, world") || strings.Contains(last[0].Get("text").Text(), "turn 1") {
			t.Errorf("%s: the fork is told %v", d, last)
		}

		again := start(t, dir, character{Dialect: d}, func(s *shim.Shim) { s.Adopt = true })
		again.initialize()
		lines, _ := again.load(fork)
		all := strings.Join(lines, "\n")
		if !strings.Contains(all, "Hello, world") || !strings.Contains(all, "what was it") || strings.Contains(all, "turn 1") {
			t.Errorf("%s: the fork is loaded as\n%s", d, all)
		}
	}
}

// initialize returns a client's initialize in a dialect, with the id 0.
func initialize(d string) string {
	switch d {
	case "v1":
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	case "v2":
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"e","version":"1"}}}`
	}
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"clientInfo":{"name":"e","version":"1"}}}`
}

// A client of the version 2 draft that lasted a week still sends session/load.
func TestLoadInVersion2(t *testing.T) {
	dir := t.TempDir()
	c := character{Dialect: "v2", Script: []string{hello}}
	id := recorded(t, dir, c, "turn 0")
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.must("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	if !strings.Contains(strings.Join(cl.got(0), "\n"), "h0.call_1") {
		t.Errorf("got\n%s", strings.Join(cl.got(0), "\n"))
	}
}

// The current modes and options are sent again at a second load.
func TestSetup(t *testing.T) {
	dir := t.TempDir()
	c := character{Session: `,"modes":{"currentModeId":"ask","availableModes":[]},"_meta":{"x":1}`, Script: []string{`{"sessionUpdate":"current_mode_update","currentModeId":"code"}`}}
	id := recorded(t, dir, c, "hi")
	cl := start(t, dir, c, nil)
	cl.initialize()
	if _, got := cl.load(id); got.Raw() != `{"modes":{"currentModeId":"ask","availableModes":[]},"_meta":{"x":1}}` {
		t.Errorf("the first load gives %s", got.Raw())
	}
	cl.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, id))
	if _, got := cl.load(id); got.Get("modes.currentModeId").Text() != "plan" {
		t.Errorf("after set_mode, got %s", got.Raw())
	}
	cl.prompt(id, "turn 0")
	if _, got := cl.load(id); got.Get("modes.currentModeId").Text() != "code" {
		t.Errorf("after current_mode_update, got %s", got.Raw())
	}
}

// Prompts that arrive before the load is answered wait for it; a cancelled load ends with
// -32800.
func TestEarly(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello}}
	id := recorded(t, dir, c, "turn 0")
	cl := start(t, dir, c, nil)
	cl.initialize()
	load := cl.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	prompt := cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 0"}]}`, id))
	cl.response(prompt)
	if cl.response(load).Get("error").Exists() {
		t.Error("the load fails")
	}

	cl.stop()
	c.Belated, c.Log = true, filepath.Join(dir, "log")
	other := start(t, dir, c, nil)
	other.initialize()
	load = other.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	c.await(t, "session/new")
	other.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, load)
	if m := other.response(load); m.Get("error.code").Int() != -32800 {
		t.Errorf("got %s, want -32800", m.Raw())
	}
	other.must("_vendor/x", "{}") // after anything that the agent sends for its now useless session
	for _, line := range other.got(0) {
		if strings.Contains(line, "belated") {
			t.Errorf("the client gets %s", line)
		}
	}
}

// If a load is cancelled while the agent resumes the session for it, the client gets nothing
// of that session.
func TestResumeTakenBack(t *testing.T) {
	dir := t.TempDir()
	tape := `{"acptap":1,"protocol":"acp","name":"agent","started":"2025-01-02T03:04:05Z"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"belated","prompt":[{"type":"text","text":"hi"}]}}}
`
	if _, err := record.OpenStore(dir).Import(strings.NewReader(tape), "tape", nil); err != nil {
		t.Fatal(err)
	}
	c := character{Native: []string{"resume"}, Silent: []string{"session/resume"}, Belated: true, Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, imported)
	cl.initialize()
	load := cl.ask("session/load", `{"sessionId":"belated","cwd":"/w","mcpServers":[]}`)
	c.await(t, "session/resume")
	cl.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, load)
	if m := cl.response(load); m.Get("error.code").Int() != -32800 {
		t.Errorf("got %s, want -32800", m.Raw())
	}
	cl.must("_vendor/x", "{}") // after anything that the agent sends when it is cancelled
	for _, line := range cl.got(0) {
		if strings.Contains(line, "belated") {
			t.Errorf("the client gets %s", line)
		}
	}
}

// Messages that a client sends for a session while it is being loaded are handled even if the
// load fails: a prompt is answered, and a later cancel reaches the turn.
func TestPromptBehindLoad(t *testing.T) {
	for _, cwd := range []string{"/w", "/elsewhere"} {
		dir := t.TempDir()
		c := character{Script: []string{hello, "wait"}, Log: filepath.Join(dir, "log")}
		cl := start(t, dir, c, nil)
		cl.initialize()
		id := cl.new()
		cl.prompt(id, "turn 0")
		load := fmt.Sprintf(`{"jsonrpc":"2.0","id":"load","method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, id, cwd)
		prompt := fmt.Sprintf(`{"jsonrpc":"2.0","id":"prompt","method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1"}]}}`, id)
		cancel := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
		const cancelRequest = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"prompt"}}`
		cl.send("%s\n%s\n%s\n%s", load, prompt, cancelRequest, cancel)
		m, _ := cl.await(0, "answer to the prompt", func(m wire.Value) bool { return m.Get("id").Text() == "prompt" })
		if got := m.Get("result.stopReason").Text(); got != "cancelled" {
			t.Errorf("loading in %s: the prompt is answered with %s", cwd, m.Raw())
		}
		if all := strings.Join(cl.got(0), "\n"); strings.Contains(all, "turn 1") {
			t.Errorf("loading in %s: the prompt comes back as history in\n%s", cwd, all)
		}
		log := c.log(t)
		for i, want := range []string{prompt, cancelRequest, cancel} {
			if got := log[len(log)-3+i].Raw(); got != want {
				t.Errorf("loading in %s: the agent gets %s, want %s", cwd, got, want)
			}
		}
		cl.stop()
	}
}
