//go:build linux

package record_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// TestLongAnswer records an answer of more than wire.MaxChecked bytes whose id
// stands behind the result, cut at different places. It answers its request as
// any other does, in the journal and in the block.
func TestLongAnswer(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"shot"}}` + "\n"
	answer := `{"result":{"content":[{"type":"image","data":"` + strings.Repeat("QUFB", 1<<18) + strings.Repeat("A", 1000) + `","id":7}]},"jsonrpc":"2.0","id":41}` + "\n"
	for _, last := range []int{1, 2, 5, 30, 300, len(answer) - 100} {
		store := record.OpenStore(t.TempDir())
		j := begin(t, store)
		j.Append(wire.ClientToAgent, wire.Wire, []byte(request))
		j.Append(wire.AgentToClient, wire.Wire, []byte(answer[:len(answer)-last]))
		j.Append(wire.AgentToClient, wire.Wire, []byte(answer[len(answer)-last:]))
		check := func(where string) {
			t.Helper()
			for f, err := range open(t, store, j.Tape()).Rows(2) {
				if err != nil || f.Kind != wire.Oversized || f.Request != 1 || f.Method != "tools/call" {
					t.Errorf("%d bytes in the last append, %s: got %v, %q to frame %d, %v", last, where, f.Kind, f.Method, f.Request, err)
				}
				return
			}
			t.Errorf("%d bytes in the last append, %s: no answer", last, where)
		}
		check("in the journal")
		finish(t, store, j)
		check("in the block")
	}
}
