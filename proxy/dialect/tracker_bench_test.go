package dialect_test

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// conversation is one turn as agents have them: mostly chunks, some thoughts,
// tool calls with files read and one permission.
func conversation() []string {
	update := `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199a5c6-7d0e-7c31-9a40-5f6d3b1c2e01","update":%s}}`
	chunk := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" the test fails because the \"path\" is not\n"}}`
	lines := []string{`> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"0199a5c6-7d0e-7c31-9a40-5f6d3b1c2e01","prompt":[{"type":"text","text":"Why does the test fail?"}]}}`}
	for i := range 20 {
		for range 40 {
			lines = append(lines, fmt.Sprintf(update, chunk))
		}
		lines = append(lines,
			fmt.Sprintf(update, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"Read main.go","kind":"read","status":"pending","locations":[{"path":"/home/u/p/main.go"}]}`, i)),
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":"0199a5c6-7d0e-7c31-9a40-5f6d3b1c2e01","path":"/home/u/p/main.go"}}`, i),
			fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"result":{"content":"package main\n\nfunc main() {}\n"}}`, i),
			fmt.Sprintf(update, fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":"call_%d","status":"completed","content":[{"type":"content","content":{"type":"text","text":"package main\n\nfunc main() {}\n"}}]}`, i)))
	}
	return append(lines, `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
}

func BenchmarkTrackerObserve(b *testing.B) {
	b.Run("conversation", func(b *testing.B) { benchmarkObserve(b, conversation()) })
	b.Run("chunk", func(b *testing.B) { benchmarkObserve(b, conversation()[1:2]) })
	b.Run("state", func(b *testing.B) {
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		for i, line := range conversation()[:500] {
			observe(tracker, uint64(i+1), line)
		}
		b.ReportAllocs()
		size := 0
		for b.Loop() {
			state, err := tracker.MarshalBinary()
			if err != nil {
				b.Fatal(err)
			}
			size = len(state)
		}
		b.ReportMetric(float64(size), "bytes")
	})
}

// benchmarkObserve reports the time of one frame.
func benchmarkObserve(b *testing.B, lines []string) {
	type scanned struct {
		frame    wire.Frame
		envelope wire.Envelope
	}
	var frames []scanned
	size := 0
	for i, line := range lines {
		f, _ := frame(line)
		f.Seq = uint64(i + 1)
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		frames = append(frames, scanned{f, e})
		size += len(f.Raw)
	}
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	b.ReportAllocs()
	b.SetBytes(int64(size / len(frames)))
	i := 0
	for b.Loop() {
		tracker.Observe(&frames[i].frame, frames[i].envelope)
		if i++; i == len(frames) {
			i = 0
		}
	}
}
