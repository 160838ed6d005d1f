package shim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

const hello = `
{"sessionUpdate":"agent_thought_chunk","messageId":"t0","content":{"type":"text","text":"hm"}}
{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Hello, "}}
{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"world"}}
{"sessionUpdate":"tool_call_update","toolCallId":"call_1","title":"Read","kind":"read","status":"completed","content":[{"type":"content","content":{"type":"text","text":"data"}}]}
`

// An agent without any session support: new, prompt, restart, load, prompt.
func TestRestart(t *testing.T) {
	for _, dialect := range []string{"v1", "early1", "early", "v2"} {
		for _, embeds := range []bool{false, true} {
			t.Run(dialect, func(t *testing.T) {
				dir := t.TempDir()
				c := character{Dialect: dialect, Embeds: embeds, Echoes: true, Greets: true, Script: []string{hello}}
				first := start(t, dir, c, nil)
				first.initialize()
				id := first.new()
				first.prompt(id, "turn 0")
				first.stop()

				c.Log = filepath.Join(dir, "log")
				second := start(t, dir, c, nil)
				second.initialize()
				lines, _ := second.load(id)
				t.Log(strings.Join(lines, "\n"))
				if len(lines) != 4 {
					t.Errorf("got %d updates, want 4", len(lines))
				}
				second.await(0, "greeting", func(m wire.Value) bool { // it comes after the answer
					return m.Get("params.update.sessionUpdate").Text() == "available_commands_update"
				})
				again, _ := second.load(id)
				if got, want := strings.Join(again, "\n"), strings.Join(lines, "\n"); got != want {
					t.Errorf("a second load gives\n%s\nthe first gave\n%s", got, want)
				}
				second.prompt(id, "turn 0")
				second.prompt(id, "what now")
				second.stop()
				log, err := os.ReadFile(c.Log)
				if err != nil {
					t.Fatal(err)
				}
				var given []int
				for line := range strings.Lines(string(log)) {
					m := wire.ValueOf(line)
					if m.Get("method").Text() == "session/prompt" {
						given = append(given, len(m.Get("params.prompt").Array()))
					}
				}
				if len(given) != 2 || given[0] != 2 || given[1] != 1 {
					t.Errorf("the prompts have %v blocks, want 2 and 1\n%s", given, log)
				}
				for _, line := range second.got(0) {
					if strings.Contains(line, "record of the earlier") {
						t.Errorf("the client sees the record: %s", line)
					}
				}
			})
		}
	}
}
