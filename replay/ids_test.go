package replay_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// An id means what its sender means by it: the live client has other ids than the recorded
// one, and the agent has its own.
func TestIDsOfEitherSide(t *testing.T) {
	const acp = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
`
	const mcp = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"tasks":{}},"clientInfo":{"name":"c","version":"1"}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
`
	tests := []struct {
		name   string
		tape   string
		client []string // messages of the live client after initialize
		want   []string // messages of the agent after its answer to initialize
	}{
		{"the agent takes back its own request", acp + `
c {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
a {"jsonrpc":"2.0","id":1,"method":"_x/ask","params":{"sessionId":"s"}}
a {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}
c {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}
a {"jsonrpc":"2.0","id":1,"result":{}}`,
			[]string{`{"jsonrpc":"2.0","id":"x-1","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`},
			[]string{`{"jsonrpc":"2.0","id":1,"method":"_x/ask","params":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":"x-1","result":{}}`}},
		{"the agent asks about the client's request", acp + `
c {"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"m"}}
a {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"requestId":1,"mode":"form","message":"who?","requestedSchema":{}}}
c {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}
a {"jsonrpc":"2.0","id":1,"result":{}}`,
			[]string{`{"jsonrpc":"2.0","id":"x-1","method":"authenticate","params":{"methodId":"m"}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}`},
			[]string{`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"requestId":"x-1","mode":"form","message":"who?","requestedSchema":{}}}`, `{"jsonrpc":"2.0","id":"x-1","result":{}}`}},
		{"an id that is there twice", acp + `
c {"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"m"}}
a {"jsonrpc":"2.0","id":9,"id":1,"result":{}}`,
			[]string{`{"jsonrpc":"2.0","id":"x-1","method":"authenticate","params":{"methodId":"m"}}`},
			[]string{`{"jsonrpc":"2.0","id":9,"id":"x-1","result":{}}`}},
		{"a server takes back its own request", mcp + `
c {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}}
a {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":1}}}
c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
a {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
a {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
a {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
			[]string{`{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"a","_meta":{"progressToken":"p-1"}}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`},
			[]string{
				`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":1}}}`,
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p-1","progress":1}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
				`{"jsonrpc":"2.0","id":"x-1","result":{"content":[]}}`,
			}},
		{"tasks of either side", mcp + `
c {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","task":{}}}
a {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"1","status":"working"}}}
a {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"task":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}
c {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"1","status":"working"}}}
a {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"1"}}
c {"jsonrpc":"2.0","id":2,"result":{"role":"assistant","content":[]}}
c {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"1"}}
a {"jsonrpc":"2.0","id":2,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}`,
			[]string{
				`{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"a","task":{}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"mine","status":"working"}}}`,
				`{"jsonrpc":"2.0","id":2,"result":{"role":"assistant","content":[]}}`,
				`{"jsonrpc":"2.0","id":"x-2","method":"tasks/result","params":{"taskId":"1"}}`,
			},
			[]string{
				`{"jsonrpc":"2.0","id":"x-1","result":{"task":{"taskId":"1","status":"working"}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"task":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"mine"}}`,
				`{"jsonrpc":"2.0","id":"x-2","result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}`,
			}},
		{"a subscription", mcp + `
c {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}
a {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`,
			[]string{`{"jsonrpc":"2.0","id":"x-1","method":"subscriptions/listen","params":{}}`},
			[]string{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"x-1"}}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tape := replaytest.Tape(t, tt.tape)
			hello, _, _ := bytes.Cut(replaytest.Said(t, tape, wire.ClientToAgent), []byte("\n"))
			var out bytes.Buffer
			agent := replay.Agent{Tapes: []*record.Tape{tape}}
			report, err := agent.Run(t.Context(), strings.NewReader(string(hello)+"\n"+strings.Join(tt.client, "\n")+"\n"), &out, io.Discard)
			if err != nil || len(report.Notes) > 0 {
				t.Errorf("%v\n%s", err, &report)
			}
			_, rest, _ := strings.Cut(out.String(), "\n")
			if d := cmp.Diff(tt.want, strings.Split(strings.TrimSpace(rest), "\n")); d != "" {
				t.Errorf("what the agent sends (-want +got):\n%s", d)
			}
		})
	}
}
