package screen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// withServers returns a store with the tapes of an agent and of the two servers that it
// started.
func withServers(tb testing.TB) (*record.Store, screen.Subject) {
	tb.Helper()
	store := record.OpenStore(tb.TempDir())
	bundle := record.NewImporter(store)
	for _, name := range []string{"agent", "everything", "issues"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/nested", name+".jsonl"))
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := bundle.Import(strings.NewReader(string(text)), name, nil); err != nil {
			tb.Fatal(err)
		}
	}
	return store, screen.TapesOf(store, "", "20260301T090000000-agents")
}

// TestServerScreens shows the places that list calls to the agent's servers.
func TestServerScreens(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ width, height int }{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprint(size.width), func(t *testing.T) {
			t.Parallel()
			store, sub := withServers(t)
			term := start(t, screen.Inspector{Store: store}, sub, size.width, size.height)
			term.reads(t)
			golden := func(name string) {
				t.Helper()
				term.golden(t, fmt.Sprintf("servers-%s-%dx%d", name, size.width, size.height))
			}
			term.press(t, "3«issues/close»ggz«Asking whether»g")
			golden("chat")
			term.press(t, "z/get-sum 29<Enter>")
			golden("chat-call")
			term.press(t, "<Enter>«tools/call»")
			golden("call")
			term.press(t, "<Esc>«issues/list_issues»")
			golden("chat-again")
			term.reads(t) // since the turns stay where they are shown first
			term.press(t, "4«Turn 2»g«▞ server»")
			golden("turns")
			term.press(t, "6«issues/close»G")
			golden("statistics")
			term.press(t, "2ggS«everything:1»gg")
			golden("frames")
			term.press(t, "/server:everything kind:request<Enter>«of 8 ·»G«8 of 8»")
			golden("frames-filter")
			term.press(t, "<Esc>« of 56 ·»gG«56 of 56»g«1 of 56»:issues:4<Enter>«frame issues:4 »")
			golden("frames-issue")
		})
	}
}

// TestServerLive: a call of a server is seen while it runs, of a server whose tape begins
// after that of the agent was opened.
func TestServerLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	agent := begin(t, store, "coder", "")
	defer agent.ends()
	say := func(live run, client bool, text string) {
		t.Helper()
		dir := wire.AgentToClient
		if client {
			dir = wire.ClientToAgent
		}
		live.says(dir, `{"jsonrpc":"2.0",`+text+"}")
	}
	say(agent, true, `"id":0,"method":"initialize","params":{"protocolVersion":1}`)
	say(agent, false, `"id":0,"result":{"protocolVersion":1}`)
	say(agent, true, `"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"slow","command":"acptap","args":["proxy","--parent","`+agent.Tape()+`/aaaaaaaa/slow","--","x"]}]}`)
	say(agent, false, `"id":1,"result":{"sessionId":"s"}`)
	say(agent, true, `"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}`)
	var chat screen.Place
	if err := chat.Set("chat"); err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{Store: store, Place: chat}, screen.TapesOf(store, "", agent.Tape()), 100, 30)
	term.wait(t, "the turn", has("turn 1: running"))
	server := recordtest.Record(t, store, record.Start{Command: []string{"x"}, Parent: record.Parent{Tape: agent.Tape(), Link: "aaaaaaaa", Server: "slow"}})
	nested := run{t, server}
	say(nested, true, `"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}`)
	say(nested, false, `"id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"slow"}}`)
	say(agent, false, `"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"slow_work"}}`)
	say(nested, true, `"id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1}}`)
	term.wait(t, "the call", has("↳ slow/work running (by name)"))
	say(nested, false, `"method":"notifications/progress","params":{"progressToken":1,"progress":3,"total":4,"message":"nearly"}`)
	term.wait(t, "its progress", has("↳ slow/work running (by name) · 3/4 nearly"))
	say(nested, false, `"id":1,"error":{"code":-32603,"message":"out of luck"}`)
	term.wait(t, "its end", has("(by name) · failed: out of luck"))
	nested.ends()
}

// TestServersOfSession: the head of a conversation tells of the servers that were started
// for its session, and of no other.
func TestServersOfSession(t *testing.T) {
	t.Parallel()
	const agent = "20250102T030405000-aaaaaa"
	setup := func(at, id int, link, session string) string {
		return fmt.Sprintf(`{"at":%d,"dir":"c2a","frame":{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"files","command":"acptap","args":["proxy","--parent","%s/%s/files","--","files"]}]}}}
{"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"%s"}}}
{"at":%d,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1%d,"method":"session/prompt","params":{"sessionId":"%s","prompt":[{"type":"text","text":"Go on with %s"}]}}}
`, at, id, agent, link, at, id, session, at, id, session, session)
	}
	server := func(name, link string, calls int) string {
		text := fmt.Sprintf(`{"acptap":1,"tape":"20250102T030406000-%s","started":"2025-01-02T03:04:06Z","name":"files","command":["files"],"cwd":"/w","protocol":"mcp","parent":{"tape":"%s","link":"%s","server":"files"}}`+"\n", name, agent, link)
		for i := range calls {
			text += fmt.Sprintf(`{"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read"}}}
{"at":1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":%[1]d,"result":{"content":[]}}}
`, i)
		}
		return text
	}
	store := record.OpenStore(t.TempDir())
	bundle := record.NewImporter(store)
	for _, tape := range []string{
		`{"acptap":1,"tape":"` + agent + `","started":"2025-01-02T03:04:05Z","name":"coder","command":["coder"],"cwd":"/w"}` + "\n" + setup(0, 1, "aaaaaaaa", "s1") + setup(1, 2, "bbbbbbbb", "s2"),
		server("bbbbbb", "aaaaaaaa", 2), server("cccccc", "bbbbbbbb", 3),
	} {
		if _, err := bundle.Import(strings.NewReader(tape), "tape", nil); err != nil {
			t.Fatal(err)
		}
	}
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", agent), 100, 24)
	term.reads(t)
	term.press(t, ":3<Enter>«frame 3 ·»3«Go on with s1»")
	term.wait(t, "the servers of s1", has("servers   files 2 calls"))
	term.press(t, "2:6<Enter>«frame 6 ·»3«Go on with s2»")
	term.wait(t, "the servers of s2", has("servers   files 3 calls"))
}
