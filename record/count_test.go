package record_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// A message counts once, also where the receiver got another than was sent, and
// what acptap made by itself is not counted: neither as the tape's nor, where it
// repeats the history, as the session's.
func TestCountsOfShim(t *testing.T) {
	const text = `{"acptap":1,"protocol":"acp","started":"2025-01-02T03:04:05Z"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"c","cwd":"/w","mcpServers":[]}},"origin":"withheld"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":"acptap:1","method":"session/new","params":{"cwd":"/w","mcpServers":[]}},"origin":"injected"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":"acptap:1","result":{"sessionId":"a"}},"origin":"withheld"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}},"origin":"injected"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ho"}}}},"origin":"injected"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{}},"origin":"injected"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"c","prompt":[]}},"origin":"withheld"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}},"origin":"rewritten"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}}},"origin":"withheld"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}}},"origin":"rewritten"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no","data":{"sessionId":"a"}}},"origin":"withheld"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no","data":{"sessionId":"c"}}},"origin":"rewritten"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"d"}},"origin":"withheld"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"Session not found"}},"origin":"injected"}
`
	store := record.OpenStore(t.TempDir())
	if _, err := store.Import(strings.NewReader(text), "test", nil); err != nil {
		t.Fatal(err)
	}
	l, err := store.List()
	if err != nil || len(l.Tapes) != 1 || len(l.Sessions) != 1 {
		t.Fatalf("got %+v, %v; want a tape and a session", l, err)
	}
	if i := l.Tapes[0]; i.Frames != 6 || i.Failed != 1 || i.Turns != 1 || i.Changed != 14 {
		t.Errorf("the tape has %d frames, %d errors, %d turns, %d changed; want 6, 1, 1, 14", i.Frames, i.Failed, i.Turns, i.Changed)
	}
	// The client's messages and the answers: a successful load, one update, an error.
	if frames, failed, turns := l.Sessions[0].Total(); frames != 4 || failed != 1 || turns != 1 {
		t.Errorf("the session has %d frames, %d errors, %d turns; want 4, 1, 1", frames, failed, turns)
	}
}
