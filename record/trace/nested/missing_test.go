package nested_test

import (
	"testing"

	"github.com/acptap/acptap/record/trace/nested"
)

// TestMissing has tool calls of servers whose tapes are not there.
func TestMissing(t *testing.T) {
	servers := []server{{"everything", "aaaaaaaa", asks("1.2s", "1.3s", "1", `"name":"echo"`, "")}}
	for _, tt := range []struct {
		name, head, fields string
		want               nested.Missing
	}{
		{"recorded", head, `,"title":"mcp__everything__echo"`, nested.NotMissing},
		{"recorded, and another tool", head, `,"title":"mcp__everything__other"`, nested.NotMissing},
		{"of the agent's settings", head, `,"title":"mcp__github__list"`, nested.OwnServer},
		{"of the agent's settings, by rawInput", head, `,"rawInput":{"server":"github","tool":"list"}`, nested.OwnServer},
		{"of the agent's settings, by _meta", head, `,"_meta":{"claudeCode":{"toolName":"mcp__github__list"}}`, nested.OwnServer},
		{"without its tape", head, `,"title":"Tool: other-one/x"`, nested.NoTape},
		{"no server's", head, `,"title":"cat x"`, nested.NotMissing},
		{"the setup is not on the tape", hello, `,"title":"mcp__github__list"`, nested.NotMissing},
		{"not to be recorded", hello + `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"github","command":"x"}]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
`, `,"title":"mcp__github__list"`, nested.NotMissing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, tr := join(t, scene{tt.head + prompt("1s", "2") + call("1.1s", "1.5s", "a", tt.fields) + answered("2s", "2"), servers})
			for _, e := range tr.Sessions[0].Conversation.Entities {
				if e.ToolCall != nil {
					if got := j.Missing("s", e); got != tt.want {
						t.Errorf("got %q, want %q", got, tt.want)
					}
				}
			}
		})
	}
}
