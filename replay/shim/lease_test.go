package shim_test

import (
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/proxy/wire"
)

// If two proxies load a session at once, one gets it, and the other gets an error that it is
// in use, until the first has closed it or has ended.
func TestLoadedOnce(t *testing.T) {
	dir := oddStore(t, old)
	for round := range 10 {
		synctest.Test(t, func(t *testing.T) {
			var stands [2]*stand
			for i := range stands {
				s := newStand(t, dir, nil)
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
				s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
				stands[i] = s
			}
			load := func(s *stand, id string) {
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
			}
			for _, s := range stands {
				load(s, "1")
			}
			var has, not *stand
			for _, s := range stands {
				synctest.Wait()
				if ids := s.asked(); len(ids) == 0 {
					not = s
				} else {
					has = s
					s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+ids[0]+`,"result":{"sessionId":"a"}}`)
				}
			}
			if has == nil || not == nil {
				t.Fatal("not just one loads the session")
			}
			answer := func(s *stand, id string) wire.Value {
				return s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == id && !m.Get("method").Exists() })
			}
			if m := answer(not, "1"); m.Get("error.code").Int() != -32600 {
				t.Errorf("the second gets %s", m.Raw())
			}
			if m := answer(has, "1"); !m.Get("result").Exists() {
				t.Errorf("the first gets %s", m.Raw())
			}
			if round%2 == 0 {
				has.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"old"}}`)
				answer(has, "2")
			} else {
				<-has.end(wire.ClientToAgent)
				<-has.end(wire.AgentToClient)
				has.shim.Close()
			}
			load(not, "3")
			synctest.Wait()
			ids := not.asked()
			if len(ids) != 1 {
				t.Fatalf("behind it, the second asks for %d sessions", len(ids))
			}
			not.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+ids[0]+`,"result":{"sessionId":"a"}}`)
			if m := answer(not, "3"); !m.Get("result").Exists() {
				t.Errorf("behind it, the second gets %s", m.Raw())
			}
		})
	}
}
