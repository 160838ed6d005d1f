package shim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
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
			got = append(got, one.Get("sessionId").Text())
			if title := one.Get("title").Text(); title != "a question" {
				t.Errorf("got the title %q", title)
			}
			if _, err := time.Parse(time.RFC3339, one.Get("updatedAt").Text()); err != nil {
				t.Error(err)
			}
		}
		next := page.Get("nextCursor")
		if !next.Exists() {
			break
		}
		cl.fails(-32602, "session/list", fmt.Sprintf(`{"cwd":"/v","cursor":%q}`, next.Text()))
		params = fmt.Sprintf(`{"cwd":"/w","cursor":%q}`, next.Text())
	}
	if !slices.Equal(got, want) || pages != 1 {
		t.Errorf("got %d sessions on %d pages\n%v\nwant\n%v", len(got), pages+1, got, want)
	}
	if got := cl.must("session/list", `{"cwd":"/elsewhere"}`).Raw(); got != `{"sessions":[]}` {
		t.Errorf("elsewhere: got %s", got)
	}
	cl.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, want[0]))
	cl.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, want[0]))
	if first := cl.must("session/list", `{}`).Get("sessions.0.sessionId").Text(); first != want[1] {
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

// If an agent lists its sessions but cannot open them, those in the store follow on the pages
// after its own, each under the client's id and only once.
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
				got = append(got, one.Get("sessionId").Text())
			}
			next := page.Get("nextCursor")
			if !next.Exists() {
				break
			}
			params = fmt.Sprintf(`{"cwd":"/w","cursor":%q}`, next.Text())
		}
		if want := []string{mine, "abroad", other, id}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// An agent that was recorded without the shim used the same id for several sessions. The
// client gets the one that was used last, and nothing of the others; after the client deletes
// it, the id is gone.
func TestIDsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	for i, prompt := range []string{"the first", "the second", ""} {
		tape := fmt.Sprintf(`{"acptap":1,"protocol":"acp","name":"agent","started":"2025-01-02T03:04:0%dZ"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"session-1"}}}
`, i)
		if prompt != "" {
			tape += fmt.Sprintf(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":%q}]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`, prompt)
		}
		if _, err := record.OpenStore(dir).Import(strings.NewReader(tape), "tape", nil); err != nil {
			t.Fatal(err)
		}
	}
	cl := start(t, dir, character{}, imported)
	cl.initialize()
	if got := cl.must("session/list", "{}").Get("sessions.#.title").Raw(); got != `["the second"]` {
		t.Errorf("got the sessions %s", got)
	}
	if lines, _ := cl.load("session-1"); len(lines) != 1 || !strings.Contains(lines[0], "the second") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	cl.stop()
	cl = start(t, dir, character{}, imported)
	cl.initialize()
	cl.must("session/delete", `{"sessionId":"session-1"}`)
	if got := cl.must("session/list", "{}").Get("sessions").Raw(); got != "[]" {
		t.Errorf("after the delete, got %s", got)
	}
	cl.fails(-32002, "session/load", `{"sessionId":"session-1","cwd":"/w","mcpServers":[]}`)
}
