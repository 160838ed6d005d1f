package shim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/replay/shim"
)

const chunk = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a few words more "}}}}`

// long records a session of 20,000 updates in a store.
func long(t testing.TB, dir string) {
	t.Helper()
	journal := recordtest.Record(t, record.OpenStore(dir), record.Start{Name: "agent", Command: []string{"x"}, Proto: "acp"})
	add := func(dir wire.Direction, lines ...string) {
		for _, line := range lines {
			if err := journal.Append(dir, wire.Wire, []byte(line+"\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	add(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	add(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"session-1"}}`)
	for turn := range 100 {
		add(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"go on"}]}}`, turn+2))
		for i := range 200 {
			if i%20 == 0 {
				add(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"tool_call","toolCallId":"c%d-%d","title":"Read","kind":"read","status":"completed","content":[{"type":"content","content":{"type":"text","text":%q}}]}}}`, turn, i, strings.Repeat("line of output\n", 40)))
				continue
			}
			add(wire.AgentToClient, chunk)
		}
		add(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, turn+2))
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	journal.Wait()
}

// BenchmarkLoad measures how soon a client has a session of 20,000 updates. agent-ms is the
// time from when the agent has made its own session to the response, load-ms the time from
// the request; both are the maximum over all loads.
func BenchmarkLoad(b *testing.B) {
	recorded := b.TempDir()
	long(b, recorded)
	for _, raw := range []bool{false, true} {
		b.Run(map[bool]string{false: "merged", true: "raw"}[raw], func(b *testing.B) {
			b.ReportAllocs()
			var fromAgent, all time.Duration
			for b.Loop() {
				dir := b.TempDir() // each load makes the record longer
				if err := os.CopyFS(dir, os.DirFS(recorded)); err != nil {
					b.Fatal(err)
				}
				made := filepath.Join(dir, "made") // written by the agent with its answer
				cl := start(b, dir, character{Marks: made}, func(s *shim.Shim) { s.Raw = raw })
				cl.initialize()
				asked := time.Now()
				cl.load("session-1")
				answered := time.Now()
				mark, err := os.Stat(made)
				if err != nil {
					b.Fatal(err)
				}
				fromAgent, all = max(fromAgent, answered.Sub(mark.ModTime())), max(all, answered.Sub(asked))
				cl.stop()
			}
			b.ReportMetric(float64(fromAgent.Microseconds())/1000, "agent-ms")
			b.ReportMetric(float64(all.Microseconds())/1000, "load-ms")
		})
	}
}

// BenchmarkPass measures the cost of passing a frame that needs no change: with the shim, and
// for cutting the frame alone.
func BenchmarkPass(b *testing.B) {
	s := &shim.Shim{Store: record.OpenStore(b.TempDir())}
	var mu sync.Mutex
	made := make(chan struct{})
	note := func(out []wire.Frame) {
		for _, f := range out {
			if strings.Contains(string(f.Raw), `"session-1"`) {
				close(made)
			}
		}
	}
	s.Start(proxy.Handle{Do: func(act func(out []wire.Frame) []wire.Frame) bool {
		mu.Lock()
		defer mu.Unlock()
		note(act(nil))
		return true
	}})
	defer s.Close()
	send := func(dir wire.Direction, line string) {
		mu.Lock()
		defer mu.Unlock()
		note(s.Intercept(wire.Frame{Dir: dir, Raw: []byte(line)}, nil))
	}
	send(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	send(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	send(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	send(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"session-1"}}`)
	<-made
	f := wire.Frame{Dir: wire.AgentToClient, Raw: []byte(chunk)}
	out := make([]wire.Frame, 0, 4)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		if out = s.Intercept(f, out[:0]); len(out) != 1 {
			b.Fatal("it does not pass")
		}
	}
}
