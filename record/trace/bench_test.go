package trace_test

import (
	"io"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

func BenchmarkBuild(b *testing.B) { benchmark(b, longAnswer()) }

// longAnswer is 20,000 chunks of some words, with a tool call after every thousand.
func longAnswer() string {
	var text strings.Builder
	text.WriteString(v1 + prompt("2", "hi"))
	for i := range 20_000 {
		text.WriteString(said("some words of it "))
		if i%1000 == 0 {
			text.WriteString(update(`"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("c", i/1000+1) + `","title":"T"`))
		}
	}
	text.WriteString(reply("2", ended))
	return text.String()
}

// The same in one message: what is appended must not be copied each time.
func BenchmarkBuildOneMessage(b *testing.B) {
	benchmark(b, v1+prompt("2", "hi")+strings.Repeat(saidAs("m", "some words of it "), 20_000)+reply("2", ended))
}

// BenchmarkTextOneWord writes a message of a mebibyte without a blank.
func BenchmarkTextOneWord(b *testing.B) {
	text := strings.Repeat("x", 1<<20)
	c := &session(b, build(b, v1+prompt("2", "hi")+said(text)), "s").Conversation
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := trace.WriteText(io.Discard, c, trace.Text{Width: 80}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, text string) {
	frames := tape(b, text)
	size := int64(0)
	for _, f := range frames {
		size += f.Size
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var t trace.Trace
		for i := range frames {
			t.Add(&frames[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
}

// BenchmarkEvents is BenchmarkBuild for callers that only need the events.
func BenchmarkEvents(b *testing.B) {
	frames := tape(b, longAnswer())
	events := 0
	for b.Loop() {
		t := trace.Trace{Brief: true}
		for i := range frames {
			t.Add(&frames[i])
			events += len(t.Events())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
