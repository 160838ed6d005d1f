package screen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
)

// BenchmarkChat moves the cursor in a conversation of 210,000 lines, and folds and unfolds
// entities, from the key to the drawing.
func BenchmarkChat(b *testing.B) {
	const turns = 5000
	text := strings.Repeat(`the parser reads the next token\n`, 32)
	var tape strings.Builder
	fmt.Fprintln(&tape, `{"acptap":1,"started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w"}`)
	for i := range turns {
		fmt.Fprintf(&tape, `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go on %d"}]}}}`+"\n", i, i)
		fmt.Fprintf(&tape, `{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}}`+"\n", text)
		fmt.Fprintf(&tape, `{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"Run it","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]}}}}`+"\n", i)
		fmt.Fprintf(&tape, `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}}`+"\n", i)
	}
	t := open(b, screen.Inspector{}, portableSubject(b, "tape", tape.String()), 120, 40)
	t.reads(b)
	t.press(b, "3« of 210,0»")
	t.reads(b)
	t.press(b, "g« 1 of »")
	for _, bb := range []struct{ name, from, there, sees, back string }{
		{"Move", "g« 1 of »", "j", " 2 of ", "k"},
		{"Fold", "gjjjjj« 6 of »", " ", "▸ agent", " "},
		{"FoldFound", "g/the parser<Enter>«the parser: 1 of 160,000»", " ", "▸ agent", " "},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			t.press(b, bb.from)
			for b.Loop() {
				t.press(b, bb.there)
				t.wait(b, bb.sees, has(bb.sees))
				t.press(b, bb.back)
				t.wait(b, "what it was", func(s string) bool { return !strings.Contains(s, bb.sees) })
			}
		})
	}
	t.close(b)
}
