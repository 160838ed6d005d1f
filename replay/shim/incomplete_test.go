package shim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A session with a gap in its recording is neither listed nor loaded; another session on the
// same tape is.
func TestGap(t *testing.T) {
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
	if _, err := record.OpenStore(dir).Import(strings.NewReader(tape), "tape", nil); err != nil {
		t.Fatal(err)
	}
	cl := start(t, dir, character{}, imported)
	cl.initialize()
	if got := cl.must("session/list", "{}").Get("sessions.#.sessionId").Raw(); got != `["whole"]` {
		t.Errorf("got the sessions %s", got)
	}
	cl.fails(-32603, "session/load", `{"sessionId":"torn","cwd":"/w","mcpServers":[]}`)
	if lines, _ := cl.load("whole"); len(lines) != 1 {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// A client that sends all its requests and closes its end at once, as with piped input, gets
// all answers, and the agent gets all messages.
func TestPipedIn(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`
		list       = `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`
		open       = `{"jsonrpc":"2.0","id":2,"method":"session/%s","params":{"sessionId":"SESSION","cwd":"/w","mcpServers":[]}}`
		prompt     = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"turn 0"}]}}`
	)
	load, resume := fmt.Sprintf(open, "load"), fmt.Sprintf(open, "resume")
	update := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}}`
	for _, tt := range []struct {
		name    string
		c       character
		lines   []string
		updates int // that the client gets
	}{
		{"list", character{}, []string{list}, 0},
		{"a list that the agent fails to give", character{Native: []string{"list"}, Errors: map[string]int{"session/list": -32601}}, []string{list}, 0},
		{"a list that the agent is silent at", character{Native: []string{"list"}, Silent: []string{"session/list"}}, []string{list}, 0},
		{"new", character{}, []string{`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`}, 0},
		{"load", character{}, []string{load}, 4},
		{"load and prompt", character{Script: []string{hello}}, []string{load, prompt}, 8},
		{"a load of the agent's that has no history", character{Native: []string{"load"}}, []string{load}, 4},
		{"a resume that sends history, and prompt", character{Native: []string{"load"}, History: []string{update}, Script: []string{hello}}, []string{resume, prompt}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			id := recorded(t, dir, character{Script: []string{hello}}, "turn 0")
			cl := start(t, dir, tt.c, func(s *shim.Shim) {
				if tt.c.Silent != nil {
					s.Patience = 8 * time.Second // the agent has to be started in twice that time
				}
			})
			cl.send("%s", strings.ReplaceAll(strings.Join(append([]string{initialize}, tt.lines...), "\n"), "SESSION", id))
			cl.stop()
			for i := range len(tt.lines) + 1 {
				if m := cl.response(i + 1); !m.Get("result").Exists() {
					t.Errorf("got %s", m.Raw())
				}
			}
			lines := cl.got(0)
			if got := len(lines) - len(tt.lines) - 1; got != tt.updates {
				t.Errorf("got %d updates, want %d, in\n%s", got, tt.updates, strings.Join(lines, "\n"))
			}
		})
	}
}

// A client that closes its end while a session is being loaded ends the agent and
// the proxy: in the middle of the replay, and while the agent is silent.
func TestClosedInLoad(t *testing.T) {
	dir := t.TempDir()
	long(t, dir)
	for _, raw := range []bool{false, true} {
		cl := start(t, dir, character{}, func(s *shim.Shim) { s.Raw = raw })
		cl.initialize()
		cl.ask("session/load", `{"sessionId":"session-1","cwd":"/w","mcpServers":[]}`)
		cl.await(0, "update", func(m wire.Value) bool { return m.Get("method").Text() == "session/update" })
		cl.stop()
	}
	c := character{Silent: []string{"session/new"}, Log: filepath.Join(dir, "log")}
	cl := start(t, dir, c, func(s *shim.Shim) { s.Patience = 100 * time.Millisecond })
	cl.initialize()
	cl.ask("session/load", `{"sessionId":"session-1","cwd":"/w","mcpServers":[]}`)
	c.await(t, "session/new")
	cl.stop()
}

// The agent may take long to load a session as long as it keeps sending something.
func TestPatience(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := recorded(t, dir, character{Script: []string{hello}, Random: true}, "turn 0")
	c := character{Native: []string{"load"}, Log: filepath.Join(dir, "log"), Pause: 1000, Random: true}
	for range 8 {
		c.History = append(c.History, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}}`)
	}
	cl := start(t, dir, c, func(s *shim.Shim) { s.Patience = 6 * time.Second })
	cl.initialize()
	cl.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	cl.stop()
	for _, m := range c.log(t) {
		if m.Get("method").Text() == "session/new" {
			t.Error("the agent was given up while it was loading the session")
		}
	}
}
