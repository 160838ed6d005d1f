package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// says are lines for updates: a message's text in pieces, of a message with an id if that is
// not empty.
func says(id string, pieces ...string) (lines []string) {
	if id != "" {
		id = fmt.Sprintf(`"messageId":%q,`, id)
	}
	for _, text := range pieces {
		lines = append(lines, fmt.Sprintf(`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",%s"content":{"type":"text","text":%q}}}}`, id, text))
	}
	return lines
}

// TestAnswer: a turn's answer is the beginning of its last message, also in a brief Trace and
// however the text was divided.
func TestAnswer(t *testing.T) {
	const tool = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read"}}}`
	const usage = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}`
	join := func(parts ...[]string) (all []string) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing said", nil, ""},
		{"whole", says("", "It is fixed."), "It is fixed."},
		{"in pieces", says("", "It ", "is", " fixed."), "It is fixed."},
		{"a character in pieces", says("", "Gr", "ün"), "Grün"},
		{"after a tool call", join(says("", "I look."), []string{tool}, says("", "Done.")), "Done."},
		{"usage between", join(says("", "It is "), []string{usage}, says("", "fixed.")), "It is fixed."},
		{"another message", join(says("a", "One."), says("b", "Two.")), "Two."},
		{"long", says("", strings.Repeat("é", 500)), strings.Repeat("é", 500)},
		{"longer", says("", strings.Repeat("é", 2500)), strings.Repeat("é", 2048) + " …"},
		{"before another turn", join(says("", strings.Repeat("word ", 200)), []string{`< {"id":2,"result":{"stopReason":"end_turn"}}`, `> {"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`}), strings.TrimSpace(strings.Repeat("word ", 153)) + " …"},
		{"long words", says("", strings.Repeat("word ", 1000)), strings.TrimSpace(strings.Repeat("word ", 819)) + " …"},
		{"a tool call last", join(says("", "I look."), []string{tool}), "I look."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := join([]string{
				`> {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `< {"id":1,"result":{"sessionId":"s"}}`,
				`> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Fix it,\nplease"},{"type":"image","data":""},{"type":"text","text":"now, see "},{"type":"resource_link","uri":"file:///w/a.go","name":"a.go"},{"type":"text","text":", too"}]}}`,
			}, tt.lines, []string{`< {"id":2,"result":{"stopReason":"end_turn"}}`})
			for _, brief := range []bool{false, true} {
				var turn *trace.Turn
				for _, e := range eventsOf(t, &trace.Trace{Brief: brief}, strings.Join(lines, "\n")) {
					if e.Kind == trace.TurnEvent && e.Turn.Number == 1 {
						turn = e.Turn
					}
				}
				if got, want := turn.Asked, "Fix it,\nplease\nnow, see a.go, too"; got != want {
					t.Errorf("brief %t: asked %q, want %q", brief, got, want)
				}
				if got := turn.Answer(); got != tt.want {
					t.Errorf("brief %t: answered %q, want %q", brief, got, tt.want)
				}
			}
		})
	}
}
