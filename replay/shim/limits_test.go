package shim_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// Thousands of concurrent loads: each is answered, they share queries of the store, and the
// number that wait is limited.
func TestFloodOfLoads(t *testing.T) {
	dir := oddStore(t, old)
	for range 20 {
		journal := recordtest.Record(t, record.OpenStore(dir), record.Start{Name: "agent", Command: []string{"x"}, Proto: "acp"})
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		journal.Wait()
	}
	if err := sealAll(dir); err != nil {
		t.Fatal(err)
	}
	s := newStand(t, dir, nil)
	s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, most := runtime.NumGoroutine(), 0
	const n = 3000
	for i := range n {
		s.say(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":"none-%d","cwd":"/w","mcpServers":[]}}`, i, i))
		most = max(most, runtime.NumGoroutine()-began)
	}
	answers := -1 // without the one to initialize
	s.await(t, wire.AgentToClient, func(wire.Value) bool {
		answers++
		return answers == n
	})
	runtime.ReadMemStats(&after)
	codes := map[int64]int{}
	for _, line := range s.sent[wire.AgentToClient][1:] {
		codes[wire.ValueAt(line, "error.code").Int()]++
	}
	if codes[-32002] < 1000 || codes[-32002]+codes[-32603] != n {
		t.Errorf("%d loads are answered with %v", n, codes)
	}
	if most > 1100 {
		t.Errorf("%d goroutines are at work", most)
	}
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 64 {
		t.Errorf("%d loads take %d MiB", n, got)
	}
	t.Logf("%v, %d goroutines, %d MiB", codes, most, (after.TotalAlloc-before.TotalAlloc)>>20)
}

// Prompts that are never answered are forgotten, the oldest first.
func TestFloodOfPrompts(t *testing.T) {
	s := newStand(t, t.TempDir(), nil)
	s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}`)
	s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":"n","result":{"sessionId":"s"}}`)
	id := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Text() == "n" }).Get("result.sessionId").Text()
	s.quiet = true
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 300_000
	for i := range n {
		s.say(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[]}}`, i, id))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; got > 40 {
		t.Errorf("%d prompts without answer take %d MiB", n, got)
	}
	s.quiet = false
	for _, i := range []int{0, n - 1} {
		s.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, i))
		s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == fmt.Sprint(i) })
	}
	t.Logf("%d MiB", (int64(after.HeapAlloc)-int64(before.HeapAlloc))>>20)
}
