package shim_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// A cancellation stays behind its request even if the request is held: before initialize is
// answered, or while a session is opened. Its sender determines whose request it means: both
// sides have one with the id 7.
func TestCancelBehindRequest(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	const cancel = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`
	s := newStand(t, oddStore(t, old), nil)
	asks := `{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`
	s.say(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	s.say(client, asks)
	s.say(client, cancel)
	s.say(agent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}`)
	s.await(t, client, func(m wire.Value) bool { return m.Raw() == cancel })
	s.wantBehind(t, client, asks, cancel)
	s.say(agent, `{"jsonrpc":"2.0","id":7,"error":{"code":-32800,"message":"cancelled"}}`)

	// The agent asks something while it resumes the session that the client loads with
	// request 7.
	s.say(client, `{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
	resume := s.await(t, client, func(m wire.Value) bool { return m.Get("method").Text() == "session/resume" })
	asks = `{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"old","path":"/w/a"}}`
	s.say(agent, asks)
	s.say(agent, cancel)
	s.say(agent, `{"jsonrpc":"2.0","id":`+resume.Get("id").Raw()+`,"result":{}}`)
	s.await(t, agent, func(m wire.Value) bool { return m.Raw() == cancel })
	s.wantBehind(t, agent, asks, cancel)
	s.await(t, agent, func(m wire.Value) bool { return m.Get("id").Raw() == "7" && m.Get("result").Exists() })
	<-s.end(client)
	<-s.end(agent)
}

// wantBehind checks that one message was sent after another.
func (s *stand) wantBehind(t *testing.T, dir wire.Direction, first, second string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.sent[dir], first); i < 0 || slices.Index(s.sent[dir], second) < i {
		t.Errorf("got %q, want %s before %s", s.sent[dir], first, second)
	}
}
