package compare_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// Anything that an agent omits from a replay, changes in it or sends twice is found.
func TestCheckLoads(t *testing.T) {
	const (
		user    = `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"turn 0"}}`
		thought = `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`
		text    = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, world"}}`
		tool    = `{"sessionUpdate":"tool_call","toolCallId":"other","title":"Read","kind":"read","status":"completed","content":[{"type":"content","content":{"type":"text","text":"data"}}]}`
		search  = `{"sessionUpdate":"tool_call","toolCallId":"call_2","title":"grep bean","kind":"search","status":"completed","rawInput":{"pattern":"bean","path":"/w"}}`
		again   = `{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read again","status":"completed"}`
		live    = `c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"turn 0"}]}}
`
		ended = `a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`
		load = `c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
c {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
`
		loaded = `a {"jsonrpc":"2.0","id":1,"result":{}}
`
		next = `c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"next"}]}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`
	)
	updates := func(list ...string) string {
		var b strings.Builder
		for _, u := range list {
			b.WriteString(`a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + "}}\n")
		}
		return b.String()
	}
	for _, tt := range []struct {
		name    string
		more    []string // that was live
		history []string
		want    string
	}{
		{"whole", nil, []string{user, thought, text, tool}, ""},
		{"no thought", nil, []string{user, text, tool}, `missing thought "hm"`},
		{"a shorter answer", nil, []string{user, thought, strings.Replace(text, ", world", "", 1), tool}, `changed agent "Hello, world": text`},
		{"a tool call without output", nil, []string{user, thought, text, strings.Replace(tool, `"data"`, `""`, 1)}, `changed tool "Read": content`},
		{"twice", nil, []string{user, thought, text, tool, text}, `doubled agent "Hello, world"`},
		{"an id that two have", []string{again}, []string{user, thought, text, strings.Replace(again, "completed", "failed", 1)}, `missing tool "Read"` + "\n" + `changed tool "Read again": status`},
		{"a tool call under another id and title", []string{search}, []string{user, thought, text, tool, strings.NewReplacer("call_2", "t9", "grep bean", "Search").Replace(search)}, `changed tool "grep bean": title`},
		{"one of two calls alike", []string{search, strings.Replace(search, "call_2", "call_3", 1)},
			[]string{user, thought, text, tool, strings.Replace(search, "grep bean", "Search", 1)}, `changed tool "grep bean": title` + "\n" + `missing tool "grep bean"`},
		{"a tool call of another input", []string{search}, []string{user, thought, text, tool, strings.NewReplacer("call_2", "t9", "grep bean", "Search", `"bean"`, `"pea"`).Replace(search)}, `missing tool "grep bean"`},
		{"a tool call of another kind", []string{search}, []string{user, thought, text, tool, strings.NewReplacer("call_2", "t9", "grep bean", "Search", `"search"`, `"read"`).Replace(search)}, `missing tool "grep bean"`},
		{"the same id before the same input", []string{search, strings.NewReplacer("call_2", "call_3", "grep bean", "Look").Replace(search)},
			[]string{user, thought, text, tool, strings.NewReplacer("call_2", "call_3", "grep bean", "Search").Replace(search)}, `missing tool "grep bean"` + "\n" + `changed tool "Look": title`},
		{"more than was recorded", nil, []string{`{"sessionUpdate":"agent_message_chunk","messageId":"x","content":{"type":"text","text":"before"}}`, user, thought, text, tool}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun := []string{
				thought,
				strings.Replace(text, ", world", ", ", 1),
				strings.Replace(text, "Hello, ", "", 1),
				strings.Replace(tool, "other", "call_1", 1),
			}
			n := len(tt.history) - 1 // the last one comes after the answer
			tapes := []*record.Tape{
				replaytest.Tape(t, live+updates(append(begun, tt.more...)...)+ended),
				replaytest.Tape(t, load+updates(tt.history[:n]...)+loaded+updates(tt.history[n:]...)+next),
			}
			got, err := compare.CheckLoads(tapes, "s")
			if err != nil || len(got) != 1 {
				t.Fatalf("got %v, %v", got, err)
			}
			var lines []string
			for _, l := range got[0].Losses {
				lines = append(lines, l.String())
			}
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
