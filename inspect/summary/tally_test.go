package summary_test

import (
	"fmt"
	"iter"
	"runtime"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
)

// frames yields the frames that lines give, a millisecond apart. A line begins with >
// or <.
func frames(lines iter.Seq[string]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		seq := uint64(0)
		for line := range lines {
			seq++
			f := wire.Frame{Seq: seq, At: time.Duration(seq) * time.Millisecond, Raw: []byte(line[2:]), Size: int64(len(line) - 2)}
			if line[0] == '<' {
				f.Dir = wire.AgentToClient
			}
			e := wire.Scan(f.Raw)
			f.Kind, f.Failed = e.Kind, e.Error != nil
			about, _ := tracker.Observe(&f, e)
			if !yield(dialect.Frame{Frame: f, Annotation: about}, nil) {
				return
			}
		}
	}
}

// However many sessions, turns, tools, methods and failures there are, a summary takes
// bounded memory, and loses none of the counts.
func TestBounded(t *testing.T) {
	const n = 20_000
	lines := func(yield func(string) bool) {
		for i := range n {
			for _, line := range []string{
				`> {"id":"n%d","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
				`< {"id":"n%d","result":{"sessionId":"s%[1]d"}}`,
				`> {"id":"p%d","method":"session/prompt","params":{"sessionId":"s%[1]d","prompt":[{"type":"text","text":"hi"}]}}`,
				`< {"method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"tool_call","toolCallId":"t%[1]d","title":"title %[1]d"}}}`,
				`< {"id":"p%d","result":{"stopReason":"reason %[1]d","usage":{"inputTokens":1}}}`,
				`> {"id":"m%d","method":"method/%[1]d"}`,
				`< {"id":"m%d","error":{"code":1,"message":"message %[1]d"}}`,
				`> {"id":"c%d","method":"session/close","params":{"sessionId":"s%[1]d"}}`,
				`< {"id":"c%d","result":{}}`,
			} {
				if !yield(fmt.Sprintf(line, i)) {
					return
				}
			}
		}
	}
	tr := &trace.Trace{Brief: true}
	var tally summary.Tally
	tr.Next(dialect.Connection{})
	tally.Begin(record.Info{})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for f := range frames(lines) {
		tr.Add(&f)
		tally.Take(&f, tr)
	}
	if grown := int64(heap()) - int64(before); grown > 48<<20 {
		t.Errorf("grown by %d MiB", grown>>20)
	}
	s := tally.Summary()
	if s.Turns.Count != n || s.Sessions != n || s.Usage.Turns != n || s.Usage.Tokens.Input.N != n || s.Failures.Count != n {
		t.Errorf("got %d turns, %d sessions, %d turns with %d tokens, %d failures; want %d of each",
			s.Turns.Count, s.Sessions, s.Usage.Turns, s.Usage.Tokens.Input.N, s.Failures.Count, n)
	}
	ends := 0
	for _, e := range s.Turns.Ends {
		ends += e.Count
	}
	if ends != n || len(s.Turns.Ends) > 300 || len(s.Failures.Worst) > 16 {
		t.Errorf("%d ends in %d ways, %d failures are described; want %d, and few", ends, len(s.Turns.Ends), len(s.Failures.Worst), n)
	}
	runtime.KeepAlive(tr)
}

// BenchmarkOf sums up the tapes of testdata/tapes.
func BenchmarkOf(b *testing.B) {
	var tapes []reading.Part
	count := 0
	for _, name := range []string{"acp-go-sdk", "acp-npm-sdk-again", "acp-v2", "acpx-session", "mcp-everything"} {
		tape, err := record.OpenFile("../../testdata/tapes/" + name + ".jsonl")
		if err != nil {
			b.Fatal(err)
		}
		info, err := tape.Info()
		if err != nil {
			b.Fatal(err)
		}
		var read []dialect.Frame
		for f, err := range tape.Frames(1) {
			if err != nil {
				b.Fatal(err)
			}
			read = append(read, f)
		}
		count += len(read)
		tapes = append(tapes, reading.Part{Info: info, Frames: func(yield func(dialect.Frame, error) bool) {
			for _, f := range read {
				if !yield(f, nil) {
					return
				}
			}
		}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, broken := summary.Of(b.Context(), reading.New(tapes)); broken != nil {
			b.Fatal(broken)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/frame")
}
