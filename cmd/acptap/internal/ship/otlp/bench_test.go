package otlp_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace/spans"
)

// BenchmarkExport makes spans of 100,000 frames, in 100 turns of 20 tool calls, and writes
// them as OTLP/JSON and as trace events. With -short it is a tenth.
func BenchmarkExport(b *testing.B) {
	frames := longTape()
	for _, content := range []bool{false, true} {
		b.Run(fmt.Sprintf("otlp/content=%v", content), func(b *testing.B) {
			export(b, frames, content, func() writer { return &otlp.Lines{W: io.Discard, Signals: []otlp.Signal{otlp.Traces}} })
		})
	}
	b.Run("perfetto", func(b *testing.B) {
		export(b, frames, false, func() writer { return &spans.Perfetto{W: io.Discard} })
	})
}

type writer interface {
	Write(set spans.Set) error
	Close() error
}

func export(b *testing.B, frames []dialect.Frame, content bool, to func() writer) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w := to()
		builder := spans.Builder{Content: content}
		builder.Next(spans.Tape{ID: "bench", Start: time.Unix(1_800_000_000, 0)})
		write := func(sets []spans.Set) {
			for _, set := range sets {
				n += len(set.Spans)
				if err := w.Write(set); err != nil {
					b.Fatal(err)
				}
			}
		}
		for i := range frames {
			write(builder.Add(&frames[i]))
		}
		write(builder.End())
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/float64(b.N), "spans/op")
}

func longTape() (frames []dialect.Frame) {
	tracker := dialect.NewTracker(dialect.ACP)
	add := func(dir wire.Direction, format string, values ...any) {
		raw := fmt.Appendf(nil, format, values...)
		f := wire.Frame{Seq: uint64(len(frames) + 1), At: time.Duration(len(frames)) * time.Millisecond, Dir: dir, Raw: raw, Size: int64(len(raw))}
		e := wire.Scan(raw)
		f.Kind, f.Failed = e.Kind, e.Error != nil
		about, _ := tracker.Observe(&f, e)
		frames = append(frames, dialect.Frame{Frame: f, Annotation: about})
	}
	update := func(format string, values ...any) {
		add(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0193f0d2-session","update":{%s}}}`, fmt.Sprintf(format, values...))
	}
	turns := 100
	if testing.Short() {
		turns = 10
	}
	for turn := range turns {
		add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"0193f0d2-session","prompt":[{"type":"text","text":"go on"}]}}`, turn)
		for tool := range 20 {
			for range 46 {
				update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of what it says here"}`)
			}
			id := fmt.Sprintf("call-%d-%d", turn, tool)
			update(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"Read a file","kind":"read","status":"in_progress","locations":[{"path":"/home/somebody/file"}]`, id)
			add(wire.AgentToClient, `{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":"0193f0d2-session","path":"/home/somebody/file"}}`, tool)
			add(wire.ClientToAgent, `{"jsonrpc":"2.0","id":%d,"result":{"content":"what is in the file"}}`, tool)
			update(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","rawOutput":{"content":"what is in the file"}`, id)
		}
		add(wire.AgentToClient, `{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, turn)
	}
	return frames
}
