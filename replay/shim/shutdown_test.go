package shim_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// The agent's stdin is closed within two seconds after its last output, or within the
// patience if it sends nothing, even if requests are open. Requests that need no agent are
// still served.
func TestEndWithSilentAgent(t *testing.T) {
	const (
		initialize = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
		forgetful  = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
		able       = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{},"resume":{},"fork":{},"close":{},"delete":{}}}}}`
		open       = `> {"jsonrpc":"2.0","id":1,"method":"session/METHOD","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`
	)
	ask := func(method string) string { return strings.Replace(open, "METHOD", method, 1) }
	for _, tt := range []struct {
		name     string
		lines    []string
		answered bool
	}{
		{"initialize", []string{initialize, ask("load")}, false},
		{"its own load", []string{initialize, able, ask("load")}, false},
		{"its own resume", []string{initialize, able, ask("resume")}, false},
		{"its own list", []string{initialize, able, ask("list")}, true},
		{"its own delete", []string{initialize, able, ask("delete")}, true},
		{"its own fork", []string{initialize, able, ask("fork")}, false},
		{"a load that is served", []string{initialize, forgetful, ask("load")}, false},
		{"a list that is served", []string{initialize, forgetful, ask("list")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := oddStore(t, old)
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, dir, func(s *shim.Shim) { s.Fork = true })
				for _, line := range tt.lines {
					s.say(dirOf(line), line[2:])
				}
				began := time.Now()
				<-s.end(wire.ClientToAgent)
				limit := 2 * time.Second
				if len(tt.lines) == 2 { // the agent is starting
					limit = 20 * time.Second
				}
				if d := time.Since(began); d > limit {
					t.Errorf("the end comes after %v", d)
				}
				began = time.Now()
				<-s.end(wire.AgentToClient)
				if d := time.Since(began); d > 0 {
					t.Errorf("behind the agent's end, the client's comes after %v", d)
				}
				answered := strings.Contains(strings.Join(s.sent[wire.AgentToClient], "\n"), `"id":1,"result"`)
				if answered != tt.answered {
					t.Errorf("the client gets\n%s", strings.Join(s.sent[wire.AgentToClient], "\n"))
				}
			})
		})
	}
}

// As long as an agent sends something, a client that has closed its side gets its answers.
func TestEndWithSlowAgent(t *testing.T) {
	dir := oddStore(t, old)
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, dir, nil)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
		ready := s.end(wire.ClientToAgent)
		time.Sleep(11 * time.Second) // some agents take that long to start
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
		for range 5 {
			time.Sleep(1900 * time.Millisecond)
			s.say(wire.AgentToClient, `{"jsonrpc":"2.0","method":"_busy"}`)
		}
		select {
		case <-ready:
			t.Fatal("the agent sees the end before it has answered")
		default:
		}
		m := s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("method").Text() == "session/new" })
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+m.Get("id").Raw()+`,"result":{"sessionId":"a"}}`)
		<-ready
		s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == "1" && m.Get("result").Exists() })
	})
}
