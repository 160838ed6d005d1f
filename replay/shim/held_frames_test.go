package shim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// Messages that a client sends before initialize is answered, or before its session is
// open, are held up to a limit. Requests beyond that fail at once.
func TestHeldOfClient(t *testing.T) {
	const mebibytes = 4
	for _, silent := range []string{"initialize", "session/new"} {
		t.Run(silent, func(t *testing.T) {
			dir := t.TempDir()
			id := recorded(t, dir, character{Script: []string{hello}}, "turn 0")
			prompt := fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, id, strings.Repeat("x", mebibytes<<20))
			cl := start(t, dir, character{Silent: []string{silent}}, func(s *shim.Shim) { s.Patience = 10 * time.Millisecond })
			if silent == "initialize" {
				cl.ask("initialize", `{"protocolVersion":1}`)
			} else {
				cl.initialize()
			}
			cl.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
			for range 32/mebibytes - 1 {
				cl.ask("session/prompt", prompt)
			}
			held := cl.count()
			cl.fails(-32603, "session/prompt", prompt, "no room")
			if held > 1 { // initialize
				t.Errorf("what can be held back is answered: %q", cl.got(0))
			}
		})
	}
}

// Messages of an agent for a session that is being opened are also held up to a limit. None
// of them is lost.
func TestHeldOfAgent(t *testing.T) {
	dir := t.TempDir()
	session := recorded(t, dir, character{Script: []string{hello}}, "turn 0")
	for _, mebibytes := range []int{20, 40} {
		c := character{Native: []string{"load"}}
		for i := range mebibytes {
			c.History = append(c.History, fmt.Sprintf(`{"sessionUpdate":"available_commands_update","availableCommands":[],"_meta":{"n":%d,"x":"MEBIBYTE"}}`, i))
		}
		cl := start(t, dir, c, nil)
		cl.initialize()
		id := cl.ask("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, session))
		_, answered := cl.await(0, "response", func(m wire.Value) bool { return m.Get("id").Raw() == fmt.Sprint(id) })
		isUpdate := func(m wire.Value) bool { return m.Get("method").Exists() }
		_, from := cl.await(0, "update", isUpdate)
		if passed := from < answered; passed != (mebibytes > 32) {
			t.Errorf("of %d MiB something passes before the response: %t", mebibytes, passed)
		}
		for i := range mebibytes {
			m, at := cl.await(from, "update", isUpdate)
			if got := m.Get("params.update._meta.n").Int(); got != int64(i) {
				t.Fatalf("update %d of %d is %d", i, mebibytes, got)
			}
			from = at + 1
		}
		cl.stop()
	}
}
