package drive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A client may give a terminal the id of one that was released: an id is that of
// the last terminal which the agent has made.
func TestTerminalIDsAgain(t *testing.T) {
	const lines = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/x","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"go"}]}}
a {"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"s-1","command":"one"}}
c {"jsonrpc":"2.0","id":0,"result":{"terminalId":"t"}}
a {"jsonrpc":"2.0","id":1,"method":"terminal/output","params":{"sessionId":"s-1","terminalId":"t"}}
c {"jsonrpc":"2.0","id":1,"result":{"output":"first","truncated":false}}
a {"jsonrpc":"2.0","id":2,"method":"terminal/release","params":{"sessionId":"s-1","terminalId":"t"}}
c {"jsonrpc":"2.0","id":2,"result":{}}
a {"jsonrpc":"2.0","id":3,"method":"terminal/create","params":{"sessionId":"s-1","command":"two"}}
c {"jsonrpc":"2.0","id":3,"result":{"terminalId":"t"}}
a {"jsonrpc":"2.0","id":4,"method":"terminal/output","params":{"sessionId":"s-1","terminalId":"t"}}
c {"jsonrpc":"2.0","id":4,"result":{"output":"second","truncated":false}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	if err := os.WriteFile(path, []byte(replaytest.Portable(t, lines)), 0o600); err != nil {
		t.Fatal(err)
	}
	report, diff, said, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Open(t, path)}, Start: replaytest.Role("tape", path), Level: compare.Content,
	})
	if err != nil || len(report.Notes) > 0 {
		t.Errorf("got %v\n%v\n%s\n%s", err, report, diff, said)
	}
}
