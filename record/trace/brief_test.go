package trace_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// A brief Trace forgets the oldest of what is open, and says so.
func TestEventsForgotten(t *testing.T) {
	tr := trace.Trace{Brief: true}
	var forgotten []uint64
	for i := range 1<<16 + 2 {
		f := tape(t, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"x"}`, i))[0]
		f.Seq = uint64(i + 1)
		tr.Add(&f)
		for _, e := range tr.Events() {
			if e.End == trace.Forgotten {
				forgotten = append(forgotten, e.First)
			}
		}
	}
	if !slices.Equal(forgotten, []uint64{1, 2}) {
		t.Errorf("forgotten are the calls of %v, want 1 and 2", forgotten)
	}
}

// However many sessions, tool calls, prompts and requests are open, and however
// long their names are, a brief Trace takes bounded memory, and bounded time for
// each frame.
func TestBriefBounded(t *testing.T) {
	long := strings.Repeat("x", 2000)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	tr := trace.Trace{Brief: true}
	open := map[trace.Kind]int{}
	for i := range 12_000 {
		session := fmt.Sprint("s", i)
		if i%2 == 0 {
			session = "one"
		}
		for _, line := range []string{
			`> {"id":"%s%d","method":"session/prompt","params":{"sessionId":"%[3]s","prompt":[{"type":"text","text":"%[1]s"}]}}`,
			`< {"method":"session/update","params":{"sessionId":"%[3]s","update":{"sessionUpdate":"tool_call","toolCallId":"%[1]s%[2]d","title":"%[1]s","rawInput":"%[1]s"}}}`,
			`< {"method":"session/update","params":{"sessionId":"%[3]s","update":{"sessionUpdate":"agent_message_chunk","messageId":"%[1]s%[2]d","content":{"type":"text","text":"%[1]s"}}}}`,
		} {
			f := tape(t, fmt.Sprintf(line, long, i, session))[0]
			tr.Add(&f)
			for _, e := range tr.Events() {
				switch e.Phase {
				case trace.Began:
					open[e.Kind]++
				case trace.Ended:
					open[e.Kind]--
				}
			}
		}
	}
	if grown := int64(heap()) - int64(before); grown > 64<<20 {
		t.Errorf("grown by %d MiB", grown>>20)
	}
	for kind, most := range map[trace.Kind]int{trace.SessionEvent: 1 << 12, trace.ToolCallEvent: 1 << 12, trace.CallEvent: 1 << 16} {
		if open[kind] > most {
			t.Errorf("%d of %s are open", open[kind], kind)
		}
	}
	runtime.KeepAlive(&tr)
}
