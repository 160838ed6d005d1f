package shim_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// What an agent leaves out of a replay, changes in it or sends twice is found.
func TestReloads(t *testing.T) {
	const (
		user    = `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"turn 0"}}`
		thought = `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`
		text    = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, world"}}`
		tool    = `{"sessionUpdate":"tool_call","toolCallId":"other","title":"Read","kind":"read","status":"completed","content":[{"type":"content","content":{"type":"text","text":"data"}}]}`
		again   = `{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read again","status":"completed"}`
	)
	for _, tt := range []struct {
		name    string
		more    string // that was live
		history []string
		want    string
	}{
		{"whole", "", []string{user, thought, text, tool}, ""},
		{"no thought", "", []string{user, text, tool}, `missing thought "hm"`},
		{"a shorter answer", "", []string{user, thought, strings.Replace(text, ", world", "", 1), tool}, `changed agent "Hello, world": text`},
		{"a tool call without output", "", []string{user, thought, text, strings.Replace(tool, `"data"`, `""`, 1)}, `changed tool "Read": content`},
		{"twice", "", []string{user, thought, text, tool, text}, `doubled agent "Hello, world"`},
		{"an id that two have", again, []string{user, thought, text, strings.Replace(again, "completed", "failed", 1)}, `missing tool "Read"` + "\n" + `changed tool "Read again": status`},
		{"more than was recorded", "", []string{`{"sessionUpdate":"agent_message_chunk","messageId":"x","content":{"type":"text","text":"before"}}`, user, thought, text, tool}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			live := strings.Replace(hello, "tool_call_update", "tool_call", 1) + tt.more
			c := character{Script: []string{live}, Native: []string{"load"}, History: tt.history, Late: 1, Random: true}
			id := recorded(t, dir, c, "turn 0")
			cl := start(t, dir, c, nil)
			cl.initialize()
			from := cl.count()
			cl.load(id)
			for range tt.history { // the last of them comes behind the answer
				_, from = cl.await(from, "history", func(m gjson.Result) bool { return m.Get("method").Str == "session/update" })
				from++
			}
			cl.prompt(id, "next")
			cl.stop()

			store := record.OpenStore(dir)
			ids, err := store.Tapes()
			if err != nil {
				t.Fatal(err)
			}
			var tapes []*record.Tape
			for _, tape := range ids {
				open, err := store.Open(tape)
				if err != nil {
					t.Fatal(err)
				}
				tapes = append(tapes, open)
			}
			got, err := shim.Reloads(tapes, id)
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
