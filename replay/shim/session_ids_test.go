package shim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// Where a message names its session, each side gets its own id for it. Elsewhere, and where
// the value is not a session of the protocol, nothing changes.
func TestSessionIDs(t *testing.T) {
	dir := t.TempDir()
	id := recorded(t, dir, character{Script: []string{hello}, Random: true}, "turn 0")
	const agent = "session-1"
	methods := []string{"session/request_permission", "fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release", "elicitation/create", "_vendor/ask"}
	var script strings.Builder
	for _, m := range methods {
		fmt.Fprintf(&script, `ask %s "toolCall":{"toolCallId":"c","rawInput":{"sessionId":%q}},"options":[]`+"\n", m, agent)
	}
	c := character{Script: []string{script.String()}, Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.load(id)
	from := cl.count()
	cl.prompt(id, "turn 0")
	got := map[string]bool{}
	for _, line := range cl.got(from) {
		m := wire.ValueOf(line)
		if m.Get("id").Exists() && m.Get("method").Exists() {
			got[m.Get("method").Text()] = true
			if m.Get("params.sessionId").Text() != id || m.Get("params.toolCall.rawInput.sessionId").Text() != agent {
				t.Errorf("the client gets %s", line)
			}
		}
	}
	if len(got) != len(methods) {
		t.Errorf("the client gets %v, want %v", got, methods)
	}

	for _, tt := range []struct{ sent, want string }{
		{`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"C"}}`, "A"},
		{`{"jsonrpc":"2.0","id":"x1","method":"session/set_mode","params":{"sessionId":"C","modeId":"C"}}`, ""},
		{`{"jsonrpc":"2.0","id":"x2","method":"session/set_config_option", "params":{"configId":"c","value":"v","sessionId":"C"}}`, "A"},
		{`{"jsonrpc":"2.0","method":"_vendor/note","params":{"sessionId":"C"}}`, "A"},
		{`{"jsonrpc":"2.0","method":"_vendor/note","params":{"session":"C"}}`, "C"},
		{`{"jsonrpc":"2.0","method":"_vendor/note","params":{"sessionId":"other"}}`, "other"},
		{`{"jsonrpc":"2.0","method":"nes/close","params":{"sessionId":"C"}}`, "C"},
		{`{"jsonrpc":"2.0","method":"mcp/message","params":{"connectionId":"C","method":"x","params":{"sessionId":"C"}}}`, "C"},
		{`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/cancel","params":{"sessionId":"C"}}}`, "A"},
		{`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"proxy/successor","params":{"method":"session/cancel","params":{"sessionId":"C"}}}}`, "A"},
	} {
		line := strings.ReplaceAll(tt.sent, `"C"`, fmt.Sprintf("%q", id))
		want := line
		switch tt.want {
		case "A":
			want = strings.ReplaceAll(line, fmt.Sprintf("%q", id), fmt.Sprintf("%q", agent))
		case "": // only the first
			want = strings.Replace(line, fmt.Sprintf("%q", id), fmt.Sprintf("%q", agent), 1)
		}
		was := len(c.log(t))
		cl.send("%s", line)
		if got := c.next(t, was); got.Raw() != want {
			t.Errorf("the agent gets %s\nwant           %s", got.Raw(), want)
		}
	}
}

// A batch passes unchanged unless the shim must answer or change one of its entries: then the
// entries pass one by one.
func TestBatch(t *testing.T) {
	dir := t.TempDir()
	id := recorded(t, dir, character{Dialect: "v2", Script: []string{hello}, Random: true}, "turn 0")
	c := character{Dialect: "v2", Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.load(id)
	whole := `[{"jsonrpc":"2.0","method":"_vendor/note" , "params":{}},{"jsonrpc":"2.0","method":"_vendor/note"}]`
	cl.send("%s", whole)
	cl.send(`[{"jsonrpc":"2.0","id":"d","method":"session/delete","params":{"sessionId":"unknown"}},{"jsonrpc":"2.0","id":"v","method":"_vendor/x","params":{"sessionId":%q}}]`, id)
	for _, id := range []string{"d", "v"} {
		m, _ := cl.await(0, "answer", func(m wire.Value) bool { return m.Get("id").Text() == id })
		if !m.Get("result").Exists() {
			t.Errorf("got %s", m.Raw())
		}
	}
	log := c.log(t)
	if got := log[len(log)-2].Raw(); got != whole {
		t.Errorf("the agent gets %s, want %s", got, whole)
	}
	if got := log[len(log)-1]; got.Get("method").Text() != "_vendor/x" || got.Get("params.sessionId").Text() != "session-1" {
		t.Errorf("the agent gets %s", got.Raw())
	}
}

// A request of the agent about the shim's request is passed on as one about the client's
// request, and if the agent refuses the shim's request, the client gets that answer.
func TestInPlaceOfLoad(t *testing.T) {
	dir := t.TempDir()
	id := recorded(t, dir, character{Script: []string{hello}}, "turn 0")
	params := fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id)
	cl := start(t, dir, character{Elicits: true, Random: true}, nil)
	cl.initialize()
	load := cl.ask("session/load", params)
	cl.response(load)
	m, _ := cl.await(0, "question", func(m wire.Value) bool { return m.Get("method").Text() == "elicitation/create" })
	if m.Get("params.requestId").Raw() != fmt.Sprint(load) {
		t.Errorf("the load is %d, and the client gets %s", load, m.Raw())
	}
	cl.stop()

	cl = start(t, dir, character{Errors: map[string]int{"session/new": -32000}}, nil)
	cl.initialize()
	cl.fails(-32000, "session/load", params)
	for _, line := range cl.got(0) {
		if strings.Contains(line, "session/update") {
			t.Errorf("the load fails, and the client gets %s", line)
		}
	}
}
