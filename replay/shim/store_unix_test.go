//go:build unix

package shim_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
)

// While another process locks the store, a new session is made at once, and gets another id
// if the store might have its own. The client's end reaches the agent, too.
func TestSlowStore(t *testing.T) {
	dir := oddStore(t, old)
	f, err := os.Open(filepath.Join(dir, "acptap.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		capabilities string
		id           string // prefix of the agent's session ids
		same         bool   // the client gets it
	}{
		{`{}`, "new", false},
		{`{}`, "0f2c5b1e-3f34-4d0e-9a52-5c9d0be1c7b", true},
		{`{"loadSession":true}`, "new", true},
	} {
		s := newStand(t, dir, nil)
		began := time.Now()
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":`+tt.capabilities+`}}`)
		for _, id := range []string{"1", "2"} {
			s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
			s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+id+`,"result":{"sessionId":"`+tt.id+id+`"}}`)
			m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == id })
			got := m.Get("result.sessionId").Text()
			if got == "" || (got == tt.id+id) != tt.same {
				t.Errorf("%s: the client gets %s", tt.capabilities, m.Raw())
			}
			s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":"p`+id+`","method":"session/prompt","params":{"sessionId":"`+got+`","prompt":[]}}`)
			p := s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("id").Text() == "p"+id })
			if p.Get("params.sessionId").Text() != tt.id+id {
				t.Errorf("%s: the agent gets %s", tt.capabilities, p.Raw())
			}
		}
		if d := time.Since(began); d > 8*time.Second { // the store waits ten for the lock
			t.Errorf("%s: two sessions take %v, with a store that is locked", tt.capabilities, d)
		}
		<-s.end(wire.ClientToAgent)
		<-s.end(wire.AgentToClient)
		if d := time.Since(began); d > 16*time.Second {
			t.Errorf("%s: the end comes after %v", tt.capabilities, d)
		}
	}
}
