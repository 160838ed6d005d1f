package shim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A slash command stays in front, and after a failed prompt the next one includes the context
// again.
func TestHandover(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello, "error -32603"}, Log: filepath.Join(dir, "log")}
	id := recorded(t, dir, c, "turn 0")
	os.Remove(c.Log)
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.load(id)
	cl.fails(-32603, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1"}]}`, id))
	cl.prompt(id, "/do it")
	cl.prompt(id, "more")
	cl.stop()
	prompts := c.prompts(t)
	for i, want := range []int{2, 2, 1} {
		if len(prompts[i]) != want {
			t.Errorf("prompt %d has %d blocks, want %d", i, len(prompts[i]), want)
		}
	}
	if got := prompts[1][0].Get("text").Text(); got != "/do it" {
		t.Errorf("the first block is %q, want the command", got)
	}
	text := prompts[0][0].Get("text").Text()
	for _, want := range []string{"User: turn 0\n", "Assistant: Hello, world\n", "Tool Read (read, completed):\n  | data\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent is not told %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hm") {
		t.Errorf("the agent is told a thought:\n%s", text)
	}
}

// If a conversation is too long for the transcript, tool output is cut first; then the oldest
// turns are dropped, and the transcript says so.
func TestHandoverIsShort(t *testing.T) {
	const limit = 96 << 10
	text := func(n int) string { return strings.Repeat("wörd ", n/6) }
	say := func(text string) string {
		return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%q}}`, text[:3], text)
	}
	tool := fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Build","status":"completed","content":[{"type":"content","content":{"type":"text","text":%q}}]}`, "first "+text(110<<10))
	for _, tt := range []struct {
		name         string
		script       []string
		want, wanted string // the first is in the record, the second is not
	}{
		{"short", []string{say("one"), say("two")}, "Assistant: two\n", "left out"},
		{"a tool that says much", []string{tool, say("two")}, "Tool Build (other, completed):\n  | first ", "left out"},
		{"many turns", []string{say("one " + text(52<<10)), say("two " + text(52<<10)), say("three")}, "[the oldest 1 turns are left out]", "Assistant: one"},
		{"one long turn", []string{say("one " + text(110<<10))}, "User: turn 0\nAssistant: one ", "left out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := character{Script: tt.script}
			var turns []string
			for i := range tt.script {
				turns = append(turns, fmt.Sprint("turn ", i))
			}
			id := recorded(t, dir, c, turns...)
			cl := start(t, dir, character{Log: filepath.Join(dir, "log")}, nil)
			cl.initialize()
			cl.load(id)
			cl.prompt(id, "and now")
			cl.stop()
			got := character{Log: filepath.Join(dir, "log")}.prompts(t)[0][0].Get("text").Text()
			if len(got) > limit+1<<10 || !strings.Contains(got, tt.want) || strings.Contains(got, tt.wanted) || strings.ContainsRune(got, '\ufffd') {
				t.Errorf("got %d bytes: %.200q … %q; want at most %d, with %q and without %q", len(got), got, got[max(len(got)-200, 0):], limit, tt.want, tt.wanted)
			}
		})
	}
}

// The client gets every turn again. The agent learns only what it should know: not the turns
// that it refused or never began; and it learns how each turn ended.
func TestHandoverOfTurnsWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello, hello + "stop refusal", "error -32603", "wait"}}
	cl := start(t, dir, c, nil)
	cl.initialize()
	id := cl.new()
	cl.prompt(id, "turn 0")
	cl.prompt(id, "turn 1, refused")
	cl.fails(-32603, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 2, failed"}]}`, id))
	prompt := cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 3, cancelled"}]}`, id))
	cl.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
	cl.response(prompt)
	cl.stop()

	c.Log = filepath.Join(dir, "log")
	cl = start(t, dir, c, nil)
	cl.initialize()
	lines, _ := cl.load(id)
	cl.prompt(id, "turn 0")
	cl.stop()
	shown, told := strings.Join(lines, "\n"), c.prompts(t)[0][0].Get("text").Text()
	for _, tt := range []struct {
		text        string
		shown, told bool
	}{
		{"turn 0", true, true},
		{"turn 1, refused", true, false},
		{"turn 2, failed", true, false},
		{"turn 3, cancelled", true, true},
		{"[cancelled by the user]", false, true},
	} {
		if strings.Contains(shown, tt.text) != tt.shown || strings.Contains(told, tt.text) != tt.told {
			t.Errorf("%s: want it shown %t and told %t; the client gets\n%s\nand the agent\n%s", tt.text, tt.shown, tt.told, shown, told)
		}
	}
}

// A session that was recorded in one dialect is loaded in another.
func TestHandoverBetweenDialects(t *testing.T) {
	const diff1 = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","kind":"edit","status":"completed","content":[{"type":"diff","path":"/w/x","oldText":null,"newText":"new"}]}`
	const diff2 = `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Edit","kind":"edit","status":"cancelled","content":[{"type":"diff","changes":[{"operation":"add","path":"/w/x"}],"patch":{"format":"git_patch","text":"+new"}}]}`
	for _, tt := range []struct{ from, to, update, want string }{
		{"v1", "v2", diff1, `{"sessionUpdate":"tool_call_update","toolCallId":"h0.c","title":"Edit","kind":"edit","status":"completed","content":[{"type":"diff","changes":[{"operation":"add","path":"/w/x"}]}]}`},
		{"v2", "v1", diff2, `{"sessionUpdate":"tool_call","toolCallId":"h0.c","title":"Edit","kind":"edit","status":"failed","content":[{"type":"content","content":{"type":"text","text":"+new"}}]}`},
		{"v1", "early", diff1, `{"sessionUpdate":"tool_call_update","toolCallId":"h0.c","title":"Edit","kind":"edit","status":"completed","content":[{"type":"diff","path":"/w/x","oldText":null,"newText":"new"}]}`},
	} {
		t.Run(tt.from+" to "+tt.to, func(t *testing.T) {
			dir := t.TempDir()
			id := recorded(t, dir, character{Dialect: tt.from, Script: []string{tt.update + "\n" + `{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"done"}}`}}, "turn 0")
			cl := start(t, dir, character{Dialect: tt.to}, nil)
			cl.initialize()
			lines, _ := cl.load(id)
			if len(lines) != 3 || !strings.Contains(lines[1], tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), tt.want)
			}
		})
	}
}

// The context of a session is dropped when the session is closed.
func TestMemoryOfClosed(t *testing.T) {
	const times = 40
	var calls strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&calls, `{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"x"}`+"\n", i)
	}
	text := fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, strings.Repeat("word ", 20<<10))
	for _, script := range []string{text, calls.String()} {
		dir := t.TempDir()
		id := recorded(t, dir, character{Script: []string{script}}, "turn 0")
		cl := start(t, dir, character{Random: true}, nil)
		cl.initialize()
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		for range times {
			cl.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
			cl.must("session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
		}
		if grown := heap() - before; grown > times*50<<10 {
			t.Errorf("%d bytes more are in use after %d sessions were opened and closed that began with %.40s", grown, times, script)
		}
		cl.stop()
	}
}
