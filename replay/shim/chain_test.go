package shim_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A frame that another interceptor made stays injected when the shim holds it and sends it
// later: neither side has sent it.
func TestHeldInjected(t *testing.T) {
	s := &shim.Shim{Store: record.OpenStore(t.TempDir()), Agent: "agent", Tape: "none"}
	var mu sync.Mutex // the proxy makes one call of an interceptor at a time
	s.Start(proxy.Handle{Do: func(act func(out []wire.Frame) []wire.Frame) bool {
		mu.Lock()
		defer mu.Unlock()
		act(nil)
		return true
	}})
	defer s.Close()
	say := func(dir wire.Direction, origin wire.Origin, line string) []wire.Frame {
		mu.Lock()
		defer mu.Unlock()
		return s.Intercept(wire.Frame{Dir: dir, Origin: origin, Raw: []byte(line), Size: int64(len(line))}, nil)
	}
	say(wire.ClientToAgent, wire.Wire, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	for _, origin := range []wire.Origin{wire.Wire, wire.Injected, wire.Rewritten} {
		say(wire.ClientToAgent, origin, `{"jsonrpc":"2.0","id":"`+origin.String()+`","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	}
	want := map[string]wire.Origin{"wire": wire.Rewritten, "injected": wire.Injected, "rewritten": wire.Rewritten}
	for _, f := range say(wire.AgentToClient, wire.Wire, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`) {
		id := wire.ValueAt(f.Raw, "id").Text()
		if origin, ok := want[id]; ok && f.Origin != origin {
			t.Errorf("what came as %s goes on as %v, want %v", id, f.Origin, origin)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("%v did not go on", want)
	}
}

// The ids of the shim's own requests differ from those of the client and those that rules
// make.
func TestOwnRequestIDs(t *testing.T) {
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	for _, id := range []string{"acptap-rule:1", "acptap:1", "acptap-7:1", "acptap", "1"} {
		s := newStand(t, oddStore(t, old), nil)
		s.say(client, `{"jsonrpc":"2.0","id":"`+id+`","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
		s.say(agent, `{"jsonrpc":"2.0","id":"`+id+`","result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}`)
		s.say(client, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
		m := s.await(t, client, func(m wire.Value) bool { return m.Get("method").Text() == "session/resume" })
		own := m.Get("id").Text()
		prefix, _, _ := strings.Cut(own, ":")
		if own == "" || strings.HasPrefix(own, "acptap-rule:") || strings.HasPrefix(id, prefix+":") {
			t.Errorf("beside a client's %q the shim asks as %q", id, own)
		}
		s.say(agent, `{"jsonrpc":"2.0","id":"`+own+`","error":{"code":-32000,"message":"log in first"}}`)
		<-s.end(client)
		<-s.end(agent)
	}
}
