package trace_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// talk returns a tape of answers in chunks, several of which grow in turn, and what each
// says. An answer has an image after each fourth chunk.
func talk(answers, chunks int) (text string, want []string) {
	var b strings.Builder
	b.WriteString(v1)
	words := wordList()
	want = make([]string, answers)
	const together = 3
	for first := 0; first < answers; first += together {
		b.WriteString(prompt(fmt.Sprint(first+2), "go on"))
		for i := range chunks {
			for a := first; a < min(first+together, answers); a++ {
				chunk := words(20)
				b.WriteString(saidAs(fmt.Sprint("m", a), chunk))
				if want[a] += chunk; i%4 == 3 {
					b.WriteString(update(`"sessionUpdate":"agent_message_chunk","messageId":"m` + fmt.Sprint(a) + `","content":{"type":"image","data":"` + fmt.Sprint(i) + `","mimeType":"image/png"}`))
				}
			}
		}
		b.WriteString(reply(fmt.Sprint(first+2), ended))
	}
	return b.String(), want
}

// wordList returns a source of random words.
func wordList() func(n int) string {
	words := strings.Fields("the parser reads each token of a line and then returns what it has found in the tree to the caller")
	random := rand.New(rand.NewPCG(1, 2))
	return func(n int) string {
		var text strings.Builder
		for range n {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		return text.String()
	}
}

// What is compressed reads as it was said.
func TestTextIsWhole(t *testing.T) {
	const chunks = 1000
	text, want := talk(30, chunks)
	i := 0
	for _, e := range session(t, build(t, text), "s").Conversation.Entities {
		m := e.Message
		if m.Role != trace.Agent {
			continue
		}
		if m.Text() != want[i] {
			t.Errorf("message %d: got %.80q…, want %.80q…", i, m.Text(), want[i])
		}
		size, blocks := 0, m.Blocks.All()
		for _, b := range blocks {
			size += len(b)
		}
		if len(blocks) != chunks/2 || size != m.Blocks.Size() {
			t.Errorf("message %d: got %d blocks of %d bytes, want %d of %d", i, len(blocks), size, chunks/2, m.Blocks.Size())
		}
		i++
	}
	if i != len(want) {
		t.Errorf("got %d messages, want %d", i, len(want))
	}
}

// A Trace takes less memory than what was said.
func TestMemoryOfText(t *testing.T) {
	if size, said := memory(t); size > said*3/4 {
		t.Errorf("got %d bytes of memory for %d bytes of text, want at most three quarters", size, said)
	}
}

// BenchmarkMemory measures what a Trace keeps.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		size, said := memory(b)
		b.ReportMetric(float64(size)/float64(said), "kept/said")
	}
}

// memory returns the bytes that a Trace keeps of a long conversation, and the bytes said in
// it.
func memory(tb testing.TB) (kept, total int) {
	var b strings.Builder
	b.WriteString(v1)
	words := wordList()
	for i := range 300 {
		b.WriteString(prompt(fmt.Sprint(i+2), "go on"))
		for range 100 {
			chunk := words(40)
			b.WriteString(said(chunk))
			total += len(chunk)
		}
		b.WriteString(reply(fmt.Sprint(i+2), ended))
	}
	frames := tape(tb, b.String())
	var tr trace.Trace
	before := heap()
	for i := range frames {
		tr.Add(&frames[i])
	}
	kept = heap() - before
	runtime.KeepAlive(frames)
	runtime.KeepAlive(&tr)
	return kept, total
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
