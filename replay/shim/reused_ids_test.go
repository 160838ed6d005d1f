package shim_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/proxy/wire"
)

// A request that an agent makes while it resumes a session is answered, even if the resume
// fails.
func TestAskedInVain(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	s := newStand(t, oddStore(t, old), nil)
	s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}`)
	s.say(client, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
	resume := s.await(t, client, func(m wire.Value) bool { return m.Get("method").Text() == "session/resume" })
	s.say(agent, `{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"old","path":"/w/a"}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":`+resume.Get("id").Raw()+`,"error":{"code":-32000,"message":"log in first"}}`)
	s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == "1" && m.Get("error.code").Int() == -32000 })
	s.await(t, client, func(m wire.Value) bool { return m.Get("id").Raw() == "7" && m.Get("error").Exists() })
	<-s.end(client)
	<-s.end(agent)
}

// A session is busy while a prompt is open, even if the prompt reuses the id of an earlier
// one that was never answered.
func TestPromptIDAgain(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	s := newStand(t, oddStore(t, old), nil)
	s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	s.say(client, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"01234567-89ab-cdef-0123-456789abcdef"}}`)
	s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == "1" })
	const session = `"sessionId":"01234567-89ab-cdef-0123-456789abcdef"`
	for range 2 {
		s.say(client, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{`+session+`,"prompt":[]}}`)
	}
	s.say(client, `{"jsonrpc":"2.0","id":3,"method":"session/load","params":{`+session+`,"cwd":"/w","mcpServers":[]}}`)
	m := s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == "3" })
	if got := m.Get("error.message").Text(); got != "session busy" {
		t.Errorf("got %s", m.Raw())
	}
	<-s.end(client)
	<-s.end(agent)
}

// If a member occurs twice, the last one counts: that session is looked up, and that one is
// replaced.
func TestSessionTwice(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	s := newStand(t, oddStore(t, old), nil)
	s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	s.say(client, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
	made := s.await(t, client, func(m wire.Value) bool { return m.Get("method").Text() == "session/new" })
	s.say(agent, `{"jsonrpc":"2.0","id":`+made.Get("id").Raw()+`,"result":{"sessionId":"new"}}`)
	s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == "1" })
	s.say(client, `{"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"x","modeId":"m","sessionId":"old"}}`)
	s.await(t, client, func(m wire.Value) bool { return m.Get("id").Raw() == "2" })
	s.mu.Lock()
	got := s.sent[client][len(s.sent[client])-1] // a wire.Value has no members that do not count
	s.mu.Unlock()
	if want := `{"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"x","modeId":"m","sessionId":"new"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	<-s.end(client)
	<-s.end(agent)
}

// An agent's session list may have no end.
func TestListWithoutEnd(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	s := newStand(t, t.TempDir(), nil)
	s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cursor := ""
	for page := range 64 {
		s.say(client, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/list","params":{%s}}`, page+1, cursor))
		id := fmt.Sprint(page, strings.Repeat("x", 1<<20))
		s.say(agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessions":[{"sessionId":%q,"cwd":"/w"}],"nextCursor":"more"}}`, page+1, id))
		cursor = `"cursor":"more"`
		s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == fmt.Sprint(page+1) })
		s.mu.Lock()
		s.sent = [2][]string{}
		s.mu.Unlock()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 48<<20 {
		t.Errorf("64 MiB of ids were listed, and %d MiB more are in use", more>>20)
	}
	<-s.end(client)
	<-s.end(agent)
}

// While the client's session/new is open, an update for a previously used id waits. If the
// session/new ends without claiming the id, the client then gets the update.
func TestUnclaimedUpdate(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	dir := oddStore(t, old)
	for _, tt := range []struct {
		name string
		dir  wire.Direction
		line string
	}{
		{"refused", agent, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in first"}}`},
		{"answered with another id", agent, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"other"}}`},
		{"displaced", client, `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, dir, nil)
				updates := func() (n int) {
					for _, line := range s.sent[agent] {
						if strings.Contains(line, "early") {
							n++
						}
					}
					return n
				}
				s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
				s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}}`)
				s.say(client, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
				synctest.Wait() // until the ids in the store are known
				s.say(agent, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"early"}}}}`)
				if n := updates(); n != 0 {
					t.Errorf("the client gets the update %d times before session/new ends", n)
				}
				s.say(tt.dir, tt.line)
				synctest.Wait()
				if n := updates(); n != 1 {
					t.Errorf("the client gets the update %d times, want once", n)
				}
				s.shim.Close()
			})
		})
	}
}
