package lake_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A discarded File counts what is written to it.
type discarded struct{ n *int64 }

func (d discarded) Write(p []byte) (int, error)  { *d.n += int64(len(p)); return len(p), nil }
func (d discarded) Commit(context.Context) error { return nil }
func (d discarded) Discard()                     {}

// BenchmarkWriter writes 100,000 frames: turns of 100 frames with a tool call each.
func BenchmarkWriter(b *testing.B) { benchmark(b, 100_000) }

func benchmark(b *testing.B, count uint64) {
	b.ReportAllocs()
	var written int64
	peak := uint64(0)
	for b.Loop() {
		written = 0
		rows := lake.NewBuilder(lake.Tape{ID: "20261122T101112-7k2m9p", Start: time.Unix(1_780_000_000, 0), Connection: dialect.Connection{Protocol: dialect.ACP, Dialect: dialect.ACPv1, Agent: "agent", AgentVersion: "1.0"}})
		w := lake.NewWriter(func(string) (lake.File, error) { return discarded{&written}, nil }, rows, "v1")
		tracker := dialect.NewTracker(dialect.ACP)
		var f dialect.Frame
		for seq := uint64(1); seq <= count; seq++ {
			f.Frame = frame(seq)
			e := wire.Scan(f.Raw)
			f.Kind, f.Failed = e.Kind, e.Error != nil
			f.Annotation, _ = tracker.Observe(&f.Frame, e)
			if err := w.Add(&f); err != nil {
				b.Fatal(err)
			}
			if seq%20_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
		if err := w.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(written)/float64(count), "file-bytes/frame")
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
}

// frame returns the n-th frame of a long session.
func frame(n uint64) wire.Frame {
	f := wire.Frame{Seq: n, At: time.Duration(n) * 7 * time.Millisecond, Dir: wire.AgentToClient}
	turn := n / 100
	switch n % 100 {
	case 1:
		f.Dir = wire.ClientToAgent
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"sess-1","prompt":[{"type":"text","text":"Do it."}]}}`, turn)
	case 50:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Run","kind":"execute","status":"pending"}}}`, turn)
	case 60:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"completed"}}}`, turn)
	case 99:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn","usage":{"inputTokens":%d,"outputTokens":20}}}`, turn, 100+n%90)
	default:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d "}}}}`, n)
	}
	f.Size = int64(len(f.Raw))
	return f
}
