package stats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
)

// TestWeights: output that is sent again with each update weighs more than what is kept. All
// of it counts for the last tool name of the call.
func TestWeights(t *testing.T) {
	const update = `{"at":1,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%q,"toolCallId":"c","title":"sh","kind":%q,"status":%q%s}}}}` + "\n"
	content := func(n int) string {
		return fmt.Sprintf(`,"content":[{"type":"content","content":{"type":"text","text":%q}}]`, strings.Repeat("x", n))
	}
	text := `{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"at":0.1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"at":0.2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"at":0.3,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"at":0.4,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}}
` + fmt.Sprintf(update, "tool_call", "other", "in_progress", content(500)) + fmt.Sprintf(update, "tool_call_update", "execute", "in_progress", content(1000)) +
		fmt.Sprintf(update, "tool_call_update", "execute", "in_progress", content(2000)) + fmt.Sprintf(update, "tool_call_update", "execute", "completed", content(3000)) +
		`{"at":2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}` + "\n"
	var updates, turn int
	for line := range strings.Lines(text) {
		_, frame, _ := strings.Cut(strings.TrimSuffix(line, "}\n"), `"frame":`)
		if strings.Contains(frame, "session/update") {
			updates += len(frame)
		}
		if strings.Contains(frame, `"id":2`) || strings.Contains(frame, "session/update") {
			turn += len(frame)
		}
	}
	kept := len(content(3000)) - len(`,"content":`)
	for by, want := range map[stats.By][2]int{stats.ByTool: {updates, kept}, stats.ByMethod: {updates, 0}, stats.ByTurn: {turn, 0}} {
		tape, err := record.ReadPortable(strings.NewReader(text), "t")
		if err != nil {
			t.Fatal(err)
		}
		parts, err := reading.Agents(tape)
		if err != nil {
			t.Fatal(err)
		}
		c := stats.Collector{By: by}
		h := reading.History{Trace: trace.Trace{Brief: true}}
		for e := range reading.New(parts).Read(t.Context()) {
			switch own := h.Take(e); {
			case e.Kind == reading.Begins:
				c.Begin(e.Part.Info)
			case own:
				c.Take(&h.Trace)
				c.Weigh(&e.Frame, &h.Trace)
			}
		}
		h.End()
		c.Take(&h.Trace)
		c.End(&h.Trace)
		table := c.Grouped()
		if by == stats.ByTool && len(table.Rows) != 1 {
			t.Errorf("got rows %v, want one tool", table.Rows)
		}
		line := ""
		for _, one := range table.Lines() {
			if s := string(one); by != stats.ByMethod || strings.Contains(s, `"session/update"`) {
				line = s
			}
		}
		wants := fmt.Sprintf(`"sent":%d`, want[0])
		if want[1] > 0 {
			wants += fmt.Sprintf(`,"kept":%d`, want[1])
		}
		if !strings.Contains(line, wants) {
			t.Errorf("%s: got %s, want %s", by, line, wants)
		}
	}
}
