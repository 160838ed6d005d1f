package conform_test

import (
	"slices"
	"testing"
)

// session/cancel is a notification. An agent that refuses it as a request has cancelled
// nothing: only the client is at fault.
func TestCancelSentAsRequest(t *testing.T) {
	const refused = `> {"id":3,"method":"session/cancel","params":{"sessionId":"s1"}}
< {"id":3,"error":{"code":-32601,"message":"Method not found"}}
+ 300ms
`
	tests := []struct{ name, lines string }{
		{"version 1", `= v1
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
` + refused + `< {"id":2,"result":{"stopReason":"end_turn"}}
`},
		{"a permission", `= v1
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
< {"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"ls"},"options":[{"optionId":"yes","name":"Allow","kind":"allow_once"}]}}
` + refused + `> {"id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}
< {"id":2,"result":{"stopReason":"end_turn"}}
`},
		{"version 2", `= v2
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
< {"id":2,"result":{}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message","messageId":"m1","content":[{"type":"text","text":"hello"}]}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"running"}}}
` + refused + `< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := check(frames(t, tt.lines))
			if got := ids(c.Findings()); !slices.Equal(got, []string{"RPC017"}) {
				t.Errorf("found %v, want RPC017 alone", blamed(c.Findings()))
			}
		})
	}
}
