package conform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
)

// TestProposals: use of a proposal is noted, not held against anyone.
func TestProposals(t *testing.T) {
	c := conform.NewChecker(conform.Options{Beginning: true})
	feed(c, frames(t, `= v1
> {"id":7,"method":"session/new","params":{"cwd":"/w","mcpServers":[],"systemPrompt":[]}}
< {"id":7,"result":{"sessionId":"s1"}}
> {"id":8,"method":"session/inject","params":{"sessionId":"s1"}}
< {"id":8,"error":{"code":-32601,"message":"no"}}
> {"method":"log","params":{"level":"info","message":"m"}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"subagent_spawned","subagentSessionId":"s2"}}}
> {"method":"session/rename","params":{"sessionId":"s1"}}
`))
	c.End()
	var notes, others []string
	for _, f := range c.Findings() {
		switch id := f.Rule.ID; {
		case !slices.Contains([]string{"RPC015", "ACP002", "ACP004"}, id):
		case f.Strength == conform.Note && strings.Contains(f.Text, "a proposal, not yet of the protocol"):
			notes = append(notes, id)
		default:
			others = append(others, id+" "+f.Text)
		}
	}
	if want := []string{"ACP002", "RPC015", "RPC015", "ACP004"}; !slices.Equal(notes, want) {
		t.Errorf("got notes %v, want %v", notes, want)
	}
	if len(others) != 1 || !strings.Contains(others[0], "session/rename") {
		t.Errorf("got %q, want session/rename alone", others)
	}
}
