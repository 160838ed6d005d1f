package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// TestSubagentDraft: the draft of 2026-08 announces a subagent and its end in updates of
// their own.
func TestSubagentDraft(t *testing.T) {
	got := chatOf(t, `> {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"id":1,"result":{"sessionId":"s"}}
> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_spawned","subagentSessionId":"a","name":"look","task":"beds"}}}
< {"method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"dry"}}}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}}}
< {"method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"wet"}}}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_state_update","subagentSessionId":"a","state":"cancelled"}}}
`)
	for _, want := range []string{"subagent · look [cancelled", "\n  beds\n", "\n    dry\n", "\n    wet\n", "\n  so\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Count(got, "subagent ·") != 1 {
		t.Errorf("got\n%s", got)
	}
}

// TestSubagentDepth: twenty thousand tool calls, each within the one before, are neither
// nested without bound nor told in quadratic time.
func TestSubagentDepth(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(`> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n")
	for i := range 20_000 {
		fmt.Fprintf(&lines, `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"%d","title":"t","_meta":{"claudeCode":{"parentToolUseId":"%d"}}}}}`+"\n", i, i-1)
	}
	for line := range strings.Lines(chatOf(t, lines.String())) {
		if len(line) > 200 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
}

func chatOf(t *testing.T, lines string) string {
	t.Helper()
	tr := build(t, lines)
	var b strings.Builder
	if err := trace.WriteText(&b, &tr.Sessions[0].Conversation, trace.Text{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
