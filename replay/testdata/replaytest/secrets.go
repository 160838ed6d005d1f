package replaytest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// Secrets is a conversation in which both sides say secrets.
const Secrets = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[{"name":"m","command":"m","args":[],"env":[{"name":"M_KEY","value":"hush-env"}]}]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"log in with sk-ant-hush0123456789abcdefghij at /w/rec"}]}}
a {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":"curl https://me:hush-password@host/"}},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}
c {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the key is sk-ant-hush0123456789abcdefghij"}}}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
c {"jsonrpc":"2.0","id":3,"method":"_x/login","params":{"password":"hush-login","user":{"apiKey":"hush-key"}}}
a {"jsonrpc":"2.0","id":1,"method":"_x/ask","params":{"token":"hush-token"}}
c {"jsonrpc":"2.0","id":1,"result":{"password":"hush-answer","ok":true}}
a {"jsonrpc":"2.0","id":3,"result":{"accessToken":"hush-result"}}
`

// Redacted returns a tape as an export without secrets has it.
func Redacted(t testing.TB, tape *record.Tape) *record.Tape {
	t.Helper()
	var b bytes.Buffer
	if err := tape.Export(&b, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hush") {
		t.Fatalf("a secret is left: %s", &b)
	}
	tape, err := record.ReadPortable(&b, "redacted")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}
