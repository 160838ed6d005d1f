package shim_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// A fork has all turns up to the last one that has ended, including those after a turn that
// was cut off.
func TestForkBehindTurnCutOff(t *testing.T) {
	half := `{"sessionUpdate":"agent_message_chunk","messageId":"m9","content":{"type":"text","text":"half an answer"}}` + "\n"
	for _, d := range dialects {
		t.Run(d, func(t *testing.T) {
			dir := t.TempDir()
			c := character{Dialect: d, Script: []string{hello, half + "exit"}, Log: filepath.Join(dir, "log")}
			cl := start(t, dir, c, nil)
			cl.initialize()
			source := cl.new()
			cl.prompt(source, "turn 0")
			cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1"}]}`, source))
			cl.await(0, "half an answer", func(m wire.Value) bool {
				return m.Get("params.update.content.text").Text() == "half an answer"
			})
			cl.stop()

			cl = start(t, dir, c, func(s *shim.Shim) { s.Fork = true })
			cl.initialize()
			cl.load(source)
			cl.prompt(source, "the third")
			cl.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn 1, again"}]}`, source))
			cl.stop() // the agent has gone in the fourth

			cl = start(t, dir, c, func(s *shim.Shim) { s.Fork = true })
			cl.initialize()
			fork := cl.must("session/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, source)).Get("sessionId").Text()
			cl.prompt(fork, "what was it")
			cl.stop()
			prompts := c.prompts(t)
			told := prompts[len(prompts)-1][0].Get("text").Text()
			cl = start(t, dir, character{Dialect: d}, nil)
			cl.initialize()
			lines, _ := cl.load(fork)
			shown := strings.Join(lines, "\n")
			for _, want := range []string{"turn 0", "Hello, world", "turn 1", "half an answer", "the third"} {
				if !strings.Contains(told, want) || !strings.Contains(shown, want) {
					t.Errorf("%q is not in what the agent or the client is told:\n%s\n%s", want, told, shown)
				}
			}
			if !strings.Contains(told, "half an answer\n[interrupted]") {
				t.Errorf("the agent is not told that a turn was cut off:\n%s", told)
			}
			if !slices.ContainsFunc(lines, func(line string) bool {
				return strings.Contains(line, "half an answer") && wire.ValueAt(line, "params.update._meta.acptap.cutOff").Bool()
			}) {
				t.Errorf("the client is not told that a turn was cut off:\n%s", shown)
			}
			if strings.Contains(told, "again") || strings.Contains(shown, "turn 1, again") {
				t.Errorf("the fork has a turn that has not ended:\n%s\n%s", told, shown)
			}
		})
	}
}
