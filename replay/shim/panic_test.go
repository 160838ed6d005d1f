package shim_test

import (
	"testing"

	"github.com/acptap/acptap/replay/shim"
)

// A shim that panics is bypassed: the frames that it held, the requests that it was to
// answer, and all later frames go to the agent.
func TestPanic(t *testing.T) {
	cl := start(t, t.TempDir(), character{Script: []string{hello}}, func(s *shim.Shim) {
		s.Store = nil // the first query of the store panics, in a goroutine of the shim
	})
	cl.send("%s", `{"jsonrpc":"2.0","id":1001,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1002,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
{"jsonrpc":"2.0","id":1003,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	if m := cl.response(1001); !m.Get("result").Exists() {
		t.Errorf("got %s, want the answer to initialize", m.Raw())
	}
	if m := cl.response(1002); m.Get("error.code").Int() != -32601 {
		t.Errorf("got %s, want the agent's own answer to session/load", m.Raw())
	}
	if m := cl.response(1003); !m.Get("result.sessionId").Exists() {
		t.Errorf("got %s, want the answer to session/new", m.Raw())
	}
	cl.prompt(cl.new(), "turn 0")
	cl.stop()
}
