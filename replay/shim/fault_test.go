package shim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A session from which something could not be recorded is neither listed nor
// loaded; another one on the same tape is.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	turn := func(session, between string) string {
		return fmt.Sprintf(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":%[1]q}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%[1]q,"prompt":[{"type":"text","text":"hi"}]}}}
%[2]s{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`, session, between)
	}
	tape := `{"acptap":1,"protocol":"acp","name":"agent","started":"2025-01-02T03:04:05Z"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
` + turn("whole", "") + turn("torn", `{"dir":"a2c","gap":4096}`+"\n")
	if _, err := record.OpenStore(dir).Import(strings.NewReader(tape), "tape"); err != nil {
		t.Fatal(err)
	}
	cl := start(t, dir, character{}, nil)
	cl.initialize()
	if got := cl.must("session/list", "{}").Get("sessions.#.sessionId").Raw; got != `["whole"]` {
		t.Errorf("got the sessions %s", got)
	}
	cl.fails(-32603, "session/load", `{"sessionId":"torn","cwd":"/w","mcpServers":[]}`)
	if lines, _ := cl.load("whole"); len(lines) != 1 {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// A client that closes its end while a session is being loaded ends the agent and
// the proxy: while the agent makes its session, and in the middle of the replay.
func TestClosedInLoad(t *testing.T) {
	dir := t.TempDir()
	long(t, dir)
	for _, raw := range []bool{false, true} {
		cl := start(t, dir, character{}, func(s *shim.Shim) { s.Raw = raw })
		cl.initialize()
		cl.ask("session/load", `{"sessionId":"session-1","cwd":"/w","mcpServers":[]}`)
		cl.await(0, "update", func(m gjson.Result) bool { return m.Get("method").Str == "session/update" })
		cl.stop()
	}
	c := character{Silent: []string{"session/new"}, Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.ask("session/load", `{"sessionId":"session-1","cwd":"/w","mcpServers":[]}`)
	c.await(t, "session/new")
	cl.stop()
}

// The agent may take long to load a session, as long as it goes on with it.
func TestPatience(t *testing.T) {
	dir := t.TempDir()
	id := recorded(t, dir, character{Script: []string{hello}, Random: true}, "turn 0")
	c := character{Native: []string{"load"}, Log: filepath.Join(dir, "log"), Pause: 400, Random: true}
	for range 8 {
		c.History = append(c.History, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}}`)
	}
	cl := start(t, dir, c, func(s *shim.Shim) { s.Patience = 2 * time.Second })
	cl.initialize()
	cl.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	cl.stop()
	for _, m := range c.log(t) {
		if m.Get("method").Str == "session/new" {
			t.Error("the agent was given up while it was loading the session")
		}
	}
}
