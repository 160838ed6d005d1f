package frametext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/frametext"
)

const roleTape = `
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
> {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"Hi"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"you"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"},{"content":"b"}]}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[{"content":"c","status":"pending"},{"content":"b"}]}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"call-7","status":"completed"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"x","title":"Read 2 files"}}}
< {"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"call-7"},"options":[{"name":"Yes"}]}}
< {"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/a"}}
> {"jsonrpc":"2.0","id":2,"result":{"content":"text"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}}
> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}
< {"jsonrpc":"2.0","method":"_acme/other","params":{"a":1}}
! a warning
`

// TestRoles: a name has the colour of its subject, and text that the line above or an earlier
// frame already has is dim.
func TestRoles(t *testing.T) {
	const want = `
life cycle(initialize) plain(protocol 1)
conversation(session/prompt) plain(Hi)
conversation(agent_message_chunk) plain(Hello)
dim(agent_message_chunk) plain(you)
conversation(plan) plain(0 of 2 done · a)
dim(plan) dim(0 of 2 done ·) plain(c)
tools(tool_call_update) dim(call-7) plain(· completed)
dim(tool_call_update) plain(Read 2 files)
permission(session/request_permission) dim(call-7) plain(· Yes)
services(fs/read_text_file) plain(/a)
dim(fs/read_text_file) plain(4 B · text) dim(10 ms)
life cycle(current_mode_update) plain(ask)
conversation(session/cancel) dim(s-1)
plain(_acme/other {"a":1})
dim(a warning)
`
	names := map[string]string{"": "plain", "2": "dim", "31": "failure", "32": "conversation", "33": "permission", "35": "services", "36": "tools", "94": "life cycle"}
	got := "\n"
	for line := range strings.Lines(write(t, &frametext.Lines{Color: true}, tape(roleTape))) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "\x1b[0m", "\x1b[m")
		var parts []string
		for _, part := range strings.Split(line, "\x1b[") {
			sgr, text, _ := strings.Cut(part, "m")
			if text = strings.Join(strings.Fields(text), " "); text != "" {
				parts = append(parts, fmt.Sprintf("%s(%s)", names[sgr], text))
			}
		}
		if len(parts) > 3 { // behind number, direction and kind
			got += strings.Join(parts[3:], " ") + "\n"
		}
	}
	if got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}
