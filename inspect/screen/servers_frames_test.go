package screen_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// TestServersInFrames: keys that go from frame to frame include the frames of an agent and
// its servers.
func TestServersInFrames(t *testing.T) {
	t.Parallel()
	store := nestedStore(t)
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", "20250102T030405000-aaaaaa"), 120, 40)
	term.reads(t)
	term.press(t, ":6<Enter>«frame 6 ·»S«files:6»«frame 6 ·»")
	term.reads(t)                                           // E needs the findings
	term.press(t, "j«frame clock~2:1 ·»j«frame files:6 ·»") // by time
	term.press(t, "%«frame files:7 ·»%«frame files:6 ·»")   // request and response
	term.press(t, "}«frame files:7 ·»{«frame files:6 ·»")
	term.press(t, ":8<Enter>«frame 8 ·»:files:4<Enter>«frame files:4 ·»")
	term.press(t, ":clock~2:1<Enter>«frame clock~2:1 ·»")
	term.press(t, "E«frame clock:2 ·»E«frame 2 ·»e«frame clock:2 ·»e«frame clock~2:1 ·»")
	term.press(t, ":files:6<Enter>«frame files:6 ·»yp«reference 20250102T030405300-bbbbbb:6»")
	term.press(t, "m«1 bookmark»a<Enter>")
	term.press(t, ":files:5<Enter>«frame files:5 ·»o«filter session=m1»<Esc>:6<Enter>«frame 6 ·»")
	term.press(t, "S")
	term.wait(t, "the agent's frames", func(s string) bool { return !strings.Contains(s, "files:") && strings.Contains(s, "frame 6 ·") })
	l, err := store.Notes("20250102T030405300-bbbbbb")
	if err != nil || len(l.Notes) != 1 || l.Notes[0].Frame != 6 {
		t.Errorf("got notes %+v and %v on the tape of the server, want one on frame 6", l, err)
	}
}

// all reports whether all words are on the screen.
func all(words ...string) func(string) bool {
	return func(screen string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(screen, w) })
	}
}

// TestServersInFramesLive: frames of servers appear among those of the agent as they are
// recorded, including those of a server that starts later.
func TestServersInFramesLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	agent := begin(t, store, "coder", "")
	agent.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	agent.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	agent.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"slow","command":"acptap","args":["proxy","--parent","`+agent.Tape()+`/aaaaaaaa/slow","--","x"]}]}}`)
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", agent.Tape()), 120, 40)
	term.wait(t, "the agent's frames", has("frame 3 ·"))
	term.press(t, "S")
	server := recordtest.Record(t, store, record.Start{Command: []string{"x"}, Parent: record.Parent{Tape: agent.Tape(), Link: "aaaaaaaa", Server: "slow"}})
	nested := run{t, server}
	nested.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	term.wait(t, "the server's first frame", has("frame slow:1 ·"))
	nested.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"slow"}}}`)
	term.wait(t, "its answer", all("frame slow:2 ·", "answers slow:1 after"))
	agent.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	term.wait(t, "the agent's answer", all("frame 4 ·", "answers 3 after"))
	nested.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}`)
	term.wait(t, "a call that waits", all("frame slow:3 ·", "no answer yet"))
	term.press(t, "/session:s<Enter>«filter session:s»«frame slow:3 ·»")
	nested.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	term.wait(t, "its answer", has("answers slow:3 after"))
	term.press(t, "<Esc>")
	nested.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}}`)
	nested.ends()
	term.wait(t, "the call without an answer", has("failure 1 of 1"))
	term.press(t, ":slow:4<Enter>«frame slow:4 ·»e«frame slow:5 ·»«no answer»") // from slow:5, where it follows, e would go round to a finding
	agent.ends()
}

// TestKeysWithServers: with servers' frames among the agent's, keys that concern one tape use
// the right one.
func TestKeysWithServers(t *testing.T) {
	t.Parallel()
	store, sub := withServers(t)
	term := start(t, screen.Inspector{Store: store}, sub, 120, 40)
	term.reads(t)
	term.press(t, "gS«everything:1»")
	term.press(t, "/kind:request<Enter>«filter kind:request»/<^U>server:everything<Enter>«filter server:everything»")
	term.press(t, "<Backspace>«filter kind:request»<Backspace>« of 56 ·»<Backspace>«there was no other filter»")
	term.press(t, ":4<Enter>«frame 4 ·»d«frame 3 against frame 4»")
	path := filepath.Join(t.TempDir(), "agent.jsonl")
	term.press(t, "<Esc>X«export what the filter shows of the agent to: »<^U>"+path+"<Enter>«frames of the agent written to»")
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil || info.Lines != 28 || info.Connection.Protocol != dialect.ACP {
		t.Errorf("got %d frames of %v and %v, want 28 of ACP", info.Lines, info.Connection.Protocol, err)
	}
}

// TestRestartWithServers: the next tape of the agent opens with its servers' frames if those
// of the previous tape were shown.
func TestRestartWithServers(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	first := begin(t, store, "/opt/agent", "/w")
	first.prompts("the first")
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", first.Tape()), 120, 24)
	term.press(t, "«frame 1 ·»S")
	serve := func(of run) run {
		t.Helper()
		server := recordtest.Record(t, store, record.Start{Command: []string{"x"}, Parent: record.Parent{Tape: of.Tape(), Link: "aaaaaaaa", Server: "slow"}})
		started := run{t, server}
		started.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"ping"}`)
		return started
	}
	server := serve(first)
	term.wait(t, "the frame of its server", has("frame slow:1 ·"))
	server.ends()
	first.ends()
	second := begin(t, store, "/opt/agent", "/w")
	second.prompts("the second")
	term.press(t, "«a new tape of agent has begun: R opens it»R«the second»")
	server = serve(second)
	s := term.wait(t, "the frame of the other server", has("frame slow:1 ·"))
	if strings.Contains(s, "the first") {
		t.Errorf("got\n%s\nwant the second tape only", s)
	}
	server.ends()
	second.ends()
}
