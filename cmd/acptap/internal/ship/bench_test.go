package ship_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
	"github.com/acptap/acptap/record"
)

// BenchmarkShip delivers a tape of 100,000 frames, in 100 turns of 20 tool calls, to a
// collector in the same process. With -short it is a tenth.
func BenchmarkShip(b *testing.B) {
	turns := 100
	if testing.Short() {
		turns = 10
	}
	for _, content := range []bool{false, true} {
		b.Run(fmt.Sprintf("content=%v", content), func(b *testing.B) {
			store, c := record.OpenStore(b.TempDir()), collectortest.Direct(b)
			if _, err := store.Import(strings.NewReader(longTape(turns)), "long", nil); err != nil {
				b.Fatal(err)
			}
			s := to(b, store, c)
			s.Again, s.Content = true, content
			b.ReportAllocs()
			for b.Loop() {
				if err := s.all(b); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(c.Times())), "spans")
			b.ReportMetric(float64(len(c.Requests()))/float64(b.N), "requests/op")
		})
	}
}

// longTape returns a tape in the portable form with 1,000 frames a turn.
func longTape(turns int) string {
	var b strings.Builder
	b.WriteString(`{"acptap":1,"tape":"20260301T090000000-aaaaaa","started":"2026-03-01T09:00:00Z","name":"coder","command":["coder"]}` + "\n")
	n := 0
	say := func(dir, format string, values ...any) {
		fmt.Fprintf(&b, `{"at":%d.%03d,"dir":%q,"frame":{"jsonrpc":"2.0",%s}}`+"\n", n/1000, n%1000, dir, fmt.Sprintf(format, values...))
		n++
	}
	update := func(format string, values ...any) {
		say("a2c", `"method":"session/update","params":{"sessionId":"0193f0d2-session","update":{%s}}`, fmt.Sprintf(format, values...))
	}
	for turn := range turns {
		say("c2a", `"id":%d,"method":"session/prompt","params":{"sessionId":"0193f0d2-session","prompt":[{"type":"text","text":"go on"}]}`, turn)
		for tool := range 20 {
			for range 46 {
				update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of what it says here"}`)
			}
			id := fmt.Sprintf("call-%d-%d", turn, tool)
			update(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"Read a file","kind":"read","status":"in_progress","locations":[{"path":"/home/somebody/file"}]`, id)
			say("a2c", `"id":%d,"method":"fs/read_text_file","params":{"sessionId":"0193f0d2-session","path":"/home/somebody/file"}`, tool)
			say("c2a", `"id":%d,"result":{"content":"what is in the file"}`, tool)
			update(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","rawOutput":{"content":"what is in the file"}`, id)
		}
		say("a2c", `"id":%d,"result":{"stopReason":"end_turn"}`, turn)
	}
	return b.String()
}
