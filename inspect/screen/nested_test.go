package screen_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// An agent and two servers that it started, one of them twice.
var nestedTapes = []string{
	`{"acptap":1,"tape":"20250102T030405000-aaaaaa","started":"2025-01-02T03:04:05Z","name":"coder","command":["coder"],"cwd":"/w"}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"at":0.1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"at":0.2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"at":1.5,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}}
{"at":2,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Read it"}]}}}
{"at":3,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"read","status":"in_progress"}}}}
{"at":3.5,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}}
{"at":4,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`,
	`{"acptap":1,"tape":"20250102T030405300-bbbbbb","started":"2025-01-02T03:04:05.3Z","name":"files","command":["files"],"cwd":"/w","protocol":"mcp","parent":{"tape":"20250102T030405000-aaaaaa","link":"kdjfhgas","server":"files"}}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"coder","version":"1"}}}}
{"at":0.1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"sessions":{}},"serverInfo":{"name":"files","version":"1"}}}}
{"at":0.2,"dir":"c2a","frame":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"at":0.3,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"sessions/create","params":{}}}
{"at":0.4,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"session":{"sessionId":"m1"}}}}
{"at":2.8,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":"/w/a"}}}}
{"at":2.9,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"what is in it"}]}}}
`,
	`{"acptap":1,"tape":"20250102T030405400-cccccc","started":"2025-01-02T03:04:05.4Z","name":"clock","command":["clock"],"cwd":"/w","protocol":"mcp","parent":{"tape":"20250102T030405000-aaaaaa","link":"qwertyui","server":"clock"}}
{"at":0,"dir":"err","text":"no time"}
{"at":0.1,"dir":"a2c","exit":{"code":1}}
`,
	`{"acptap":1,"tape":"20250102T030406000-dddddd","started":"2025-01-02T03:04:06Z","name":"clock","command":["clock"],"cwd":"/w","protocol":"mcp","parent":{"tape":"20250102T030405000-aaaaaa","link":"qwertyui","server":"clock"}}
{"at":2.05,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"ping"}}
`,
}

// nestedStore is a store with these tapes.
func nestedStore(t *testing.T) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	bundle := record.NewImporter(store)
	for _, tape := range nestedTapes {
		if _, err := bundle.Import(strings.NewReader(tape), "tape", nil); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// TestNestedStoreScreens shows the tapes of servers below that of their agent.
func TestNestedStoreScreens(t *testing.T) {
	store := nestedStore(t)
	tests := []struct{ name, keys string }{
		{"nested-store", ""},
		{"nested-store-delete", "<^X>"},
		{"nested-store-filter", "/m1"},
	}
	for _, tt := range tests {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
			term.wait(t, "the tapes", has("Read it"))
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// Deleting a tape deletes those of its servers; the tape of a server can be deleted alone.
func TestNestedDelete(t *testing.T) {
	store := nestedStore(t)
	left := func(want int) func(string) bool {
		return func(string) bool {
			ids, err := store.Tapes()
			return err == nil && len(ids) == want
		}
	}
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 100, 24)
	term.wait(t, "the tapes", has("Read it"))
	term.press(t, "j<^X>yes<Enter>")
	term.wait(t, "a server's tape gone", has("deleted 20250102T030405300-bbbbbb"))
	if !left(3)("") {
		t.Fatal("want three tapes left")
	}
	term.wait(t, "the list without it", func(s string) bool { return !strings.Contains(s, "└ files") })
	term.press(t, "gg<^X>yes<Enter>")
	term.wait(t, "the agent's tape gone with the others", has("deleted 20250102T030405000-aaaaaa"))
	if !left(0)("") {
		t.Error("want no tapes left")
	}
}
