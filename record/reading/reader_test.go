package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// TestServersOfASession: a server whose tape names no session belongs to the only session,
// unless the setup of that session declares other servers.
func TestServersOfASession(t *testing.T) {
	const (
		setup  = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":%q,"command":"x","args":[]}]}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}` + "\n"
		prompt = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}` + "\n"
	)
	for _, tt := range []struct {
		name, frames string
		servers      int
	}{
		{"no setup", prompt, 1},
		{"in the setup", fmt.Sprintf(setup, "files") + prompt, 1},
		{"not in the setup", fmt.Sprintf(setup, "clock") + prompt, 0},
		{"another session", prompt + strings.ReplaceAll(prompt, `"s"`, `"other"`), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			bundle := record.NewImporter(store)
			for _, text := range []string{
				`{"acptap":1,"tape":"20250102T030405000-aaaaaa","started":"2025-01-02T03:04:05Z","protocol":"acp"}` + "\n" + tt.frames,
				`{"acptap":1,"tape":"20250102T030406000-bbbbbb","started":"2025-01-02T03:04:06Z","protocol":"mcp","parent":{"tape":"20250102T030405000-aaaaaa","link":"kdjfhgas","server":"files"}}` + "\n" + `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n",
			} {
				if _, err := bundle.Import(strings.NewReader(text), "test", nil); err != nil {
					t.Fatal(err)
				}
			}
			agent, err := store.Open("20250102T030405000-aaaaaa")
			if err != nil {
				t.Fatal(err)
			}
			agents, err := reading.Agents(agent)
			if err != nil {
				t.Fatal(err)
			}
			agents[0].Store, agents[0].Session = store, "s"
			r := reading.New(agents)
			if err := r.AddServers(false); err != nil || len(r.Servers()) != tt.servers {
				t.Errorf("got %d servers, %v; want %d", len(r.Servers()), err, tt.servers)
			}
		})
	}
}
