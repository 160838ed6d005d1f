package shim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// counting is the script of an agent that counts from 1 in each turn.
func counting(turn string) string {
	return strings.ReplaceAll(`
{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"N says"}}
{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"N reads","status":"pending"}
{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}
{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":" so"}}
{"sessionUpdate":"tool_call","toolCallId":"call_2","title":"N asks","status":"pending"}
ask session/request_permission "options":[{"optionId":"y","name":"Yes","kind":"allow_once"}],"toolCall":{"toolCallId":"call_2","title":"N edits"}
{"sessionUpdate":"tool_call_update","toolCallId":"call_2","status":"failed"}
`, "N", turn)
}

// shown returns what a client shows if it treats equal ids as the same entity.
func shown(lines []string) (list []string) {
	type thing struct{ title, status string }
	things := map[string]*thing{}
	var order []*thing
	at := func(id string) *thing {
		if things[id] == nil {
			things[id] = &thing{}
			order = append(order, things[id])
		}
		return things[id]
	}
	for _, line := range lines {
		m := wire.ValueOf(line)
		call := m.Get("params.toolCall")
		u := m.Get("params.update")
		switch kind := u.Get("sessionUpdate").Text(); {
		case strings.HasSuffix(kind, "_message_chunk"):
			at(kind + u.Get("messageId").Text()).title += u.Get("content.text").Text()
		case strings.HasPrefix(kind, "tool_call"):
			call = u
		}
		if !call.Exists() {
			continue
		}
		t := at(call.Get("toolCallId").Text())
		if title := call.Get("title"); title.Exists() {
			t.title = title.Text()
		}
		if status := call.Get("status"); status.Exists() {
			t.status = " " + status.Text()
		}
	}
	for _, t := range order {
		list = append(list, t.title+t.status)
	}
	return list
}

// done returns what the client shows for a turn.
func done(turn string) []string {
	return []string{turn + " says so", turn + " reads completed", turn + " edits failed"}
}

// The ids that a client gets after a load are unique in the session and the same at each
// load, even if the agent uses them again.
func TestIDsOfAgentThatCounts(t *testing.T) {
	for _, native := range [][]string{nil, {"resume"}} {
		t.Run(fmt.Sprint(native), func(t *testing.T) {
			dir := t.TempDir()
			c := character{Native: native}
			for _, name := range []string{"A", "B", "C", "D", "E"} {
				c.Script = append(c.Script, counting(name))
			}
			id := recorded(t, dir, c, "turn 0", "turn 1")
			cl := start(t, dir, c, nil)
			cl.initialize()
			first, _ := cl.load(id)
			want := slices.Concat([]string{"turn 0"}, done("A"), []string{"turn 1"}, done("B"))
			if diff := cmp.Diff(want, shown(first)); diff != "" {
				t.Errorf("after the load (+)\n%s\n%s", diff, strings.Join(first, "\n"))
			}
			second, _ := cl.load(id)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the second load differs from the first\n%s", diff)
			}
			from := cl.count()
			cl.prompt(id, "turn 2")
			want = append(want, done("C")...)
			if diff := cmp.Diff(want, shown(append(second, cl.got(from)...))); diff != "" {
				t.Errorf("after a further turn (+)\n%s", diff)
			}

			cl.prompt(id, "turn 3")
			want = append(want, done("D")...)
			if diff := cmp.Diff(want, shown(append(second, cl.got(from)...))); diff != "" {
				t.Errorf("after two further turns (+)\n%s", diff)
			}

			// While the session is active.
			lines, _ := cl.load(id)
			want = slices.Concat(want[:len(want)-6], []string{"turn 2"}, done("C"), []string{"turn 3"}, done("D"))
			if diff := cmp.Diff(want, shown(lines)); diff != "" {
				t.Errorf("after a load of what is active (+)\n%s", diff)
			}
			from = cl.count()
			cl.prompt(id, "turn 4")
			want = append(want, done("E")...)
			if diff := cmp.Diff(want, shown(append(lines, cl.got(from)...))); diff != "" {
				t.Errorf("after a further turn in it (+)\n%s", diff)
			}
			cl.stop()

			// All of it is history now, and was recorded as the client saw it.
			want = slices.Concat(want[:len(want)-3], []string{"turn 4"}, done("E"))
			for _, raw := range []bool{false, true} {
				cl = start(t, dir, c, func(s *shim.Shim) { s.Raw = raw })
				cl.initialize()
				lines, _ = cl.load(id)
				if diff := cmp.Diff(want, shown(lines)); diff != "" {
					t.Errorf("after a load by the next process, raw %t (+)\n%s", raw, diff)
				}
				cl.stop()
			}
		})
	}
}

// A client that resumes a session keeps the ids of its entities.
func TestIDsAfterResume(t *testing.T) {
	for _, native := range [][]string{nil, {"load"}} {
		dir := t.TempDir()
		c := character{Script: []string{counting("A"), counting("B"), counting("C")}, Native: native}
		cl := start(t, dir, c, nil)
		cl.initialize()
		id := cl.new()
		cl.prompt(id, "turn 0")
		cl.stop()
		before := cl.got(0)
		cl = start(t, dir, c, nil)
		cl.initialize()
		cl.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
		cl.prompt(id, "turn 1")
		cl.prompt(id, "turn 2")
		if diff := cmp.Diff(slices.Concat(done("A"), done("B"), done("C")), shown(append(before, cl.got(0)...))); diff != "" {
			t.Errorf("%v: after two further turns (+)\n%s", native, diff)
		}
		cl.stop()
	}
}

// A cancelled tool call is over, so an agent that uses its id again in the same turn means
// another one.
func TestIDOfCancelledCall(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{counting("A"), `
{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"B reads","status":"pending"}
{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"cancelled"}
{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"B reads again","status":"pending"}
{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}
`}}
	id := recorded(t, dir, c, "turn 0")
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.load(id)
	from := cl.count()
	cl.prompt(id, "turn 1")
	if diff := cmp.Diff([]string{"B reads cancelled", "B reads again completed"}, shown(cl.got(from))); diff != "" {
		t.Errorf("after the turn (+)\n%s", diff)
	}
}
