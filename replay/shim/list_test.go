package shim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Sessions are listed in pages, the latest first, and not those without a
// prompt.
func TestList(t *testing.T) {
	dir := t.TempDir()
	cl := start(t, dir, character{Random: true}, nil)
	cl.initialize()
	var want []string
	for range 60 {
		id := cl.new()
		cl.prompt(id, "a question\nin two lines")
		want = append(want, id)
	}
	empty := cl.new()
	slices.Reverse(want)
	var got []string
	params, pages := `{"cwd":"/w"}`, 0
	for ; ; pages++ {
		page := cl.must("session/list", params)
		for _, one := range page.Get("sessions").Array() {
			got = append(got, one.Get("sessionId").Str)
			if title := one.Get("title").Str; title != "a question" {
				t.Errorf("got the title %q", title)
			}
			if _, err := time.Parse(time.RFC3339, one.Get("updatedAt").Str); err != nil {
				t.Error(err)
			}
		}
		next := page.Get("nextCursor")
		if !next.Exists() {
			break
		}
		cl.fails(-32602, "session/list", fmt.Sprintf(`{"cwd":"/v","cursor":%q}`, next.Str))
		params = fmt.Sprintf(`{"cwd":"/w","cursor":%q}`, next.Str)
	}
	if !slices.Equal(got, want) || pages != 1 {
		t.Errorf("got %d sessions on %d pages\n%v\nwant\n%v", len(got), pages+1, got, want)
	}
	if got := cl.must("session/list", `{"cwd":"/elsewhere"}`).Raw; got != `{"sessions":[]}` {
		t.Errorf("elsewhere: got %s", got)
	}
	cl.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, want[0]))
	cl.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, want[0]))
	if first := cl.must("session/list", `{}`).Get("sessions.0.sessionId").Str; first != want[1] {
		t.Errorf("after the first was deleted, %s is first, want %s", first, want[1])
	}
	cl.stop()

	again := start(t, dir, character{Random: true}, nil)
	again.initialize()
	again.fails(-32002, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, want[0]))
	if lines, _ := again.load(empty); len(lines) != 0 {
		t.Errorf("a session without a prompt gives %v", lines)
	}
}

// An agent that lists its sessions but cannot open them: those in the store
// follow behind its own pages, each under the name that the client knows, and
// none twice.
func TestListGoesOn(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello}}
	id := recorded(t, dir, c, "turn 0")
	other := recorded(t, dir, c, "turn 0") // session-1 too, for the agent
	c.Native, c.Lists = []string{"list"}, [][]string{{"session-1"}, {"abroad"}}
	cl := start(t, dir, c, nil)
	cl.initialize()
	mine := cl.new() // session-1 once more
	cl.prompt(mine, "turn 0")
	for range 2 {
		var got []string
		params := `{"cwd":"/w"}`
		for pages := 0; pages < 10; pages++ {
			page := cl.must("session/list", params)
			for _, one := range page.Get("sessions").Array() {
				got = append(got, one.Get("sessionId").Str)
			}
			next := page.Get("nextCursor")
			if !next.Exists() {
				break
			}
			params = fmt.Sprintf(`{"cwd":"/w","cursor":%q}`, next.Str)
		}
		if want := []string{mine, "abroad", other, id}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
