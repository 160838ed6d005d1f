package shim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// What an agent supports passes as it is.
func TestNative(t *testing.T) {
	history := []string{
		`{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"turn 0"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"native"}}`,
	}
	native := []string{"load", "resume", "list", "delete", "close", "fork"}
	for _, late := range []int{0, 1, 2} {
		dir := t.TempDir()
		c := character{Script: []string{hello}, Native: native, History: history, Late: late, Random: true}
		id := recorded(t, dir, c, "turn 0")
		cl := start(t, dir, c, nil)
		cl.initialize()
		cl.load(id)
		cl.await(0, "history", func(m wire.Value) bool { return strings.Contains(m.Raw(), "native\"}}") })
		if n := len(slices.DeleteFunc(cl.got(0), func(l string) bool { return !strings.Contains(l, "native\"}}") })); n != 1 {
			t.Errorf("%d late: the history came %d times", late, n)
		}
	}
}

// With an agent that supports everything the same bytes pass as without a shim,
// both ways.
func TestTransparent(t *testing.T) {
	for _, d := range dialects {
		var got [2][]string
		var agent [2]string
		for i, name := range []string{"role:relay", "role:proxy"} {
			dir := t.TempDir()
			c := character{
				Dialect: d, Script: []string{hello}, Native: []string{"load", "resume", "list", "delete", "close", "fork"}, Greets: true,
				History: []string{`{"sessionUpdate":"agent_message_chunk" , "messageId":"m","content":{"type":"text","text":"n\u00e4tive"}}`},
				Log:     filepath.Join(dir, "log"),
			}
			got[i] = converse(t, name, dir, c)
			text, err := os.ReadFile(c.Log)
			if err != nil {
				t.Fatal(err)
			}
			agent[i] = string(text)
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s: to the client, without and with the shim\n%s", d, diff)
		}
		if diff := cmp.Diff(agent[0], agent[1]); diff != "" {
			t.Errorf("%s: to the agent, without and with the shim\n%s", d, diff)
		}
	}
}

// converse sends the script to an agent that runs as a process, line by line, and returns
// the output.
func converse(t *testing.T, role, dir string, c character) []string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], role, dir, string(text))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	open, ended := "session/load", `"stopReason"`
	if d := c.Dialect; d == "v2" {
		open = "session/resume"
	}
	if c.Dialect == "v2" || c.Dialect == "early" {
		ended = `"idle"`
	}
	lines := bufio.NewScanner(out)
	var got []string
	for _, say := range []struct{ line, until string }{
		{initialize(c.Dialect), `"id":0`},
		{`{"jsonrpc":"2.0", "id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, `"id":1`},
		{`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"turn 0"}]}}`, ended},
		{`{"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}`, `"id":3`},
		{`{"jsonrpc":"2.0","id":"4","method":"session/close","params":{ "sessionId":"session-1"}}`, `"id":"4"`},
		{`{"jsonrpc":"2.0","id":5,"method":"` + open + `","params":{"sessionId":"session-1","cwd":"/w","mcpServers":[],"replayFrom":{"type":"start"}}}`, `"id":5`},
		{`{"jsonrpc":"2.0","id":6,"method":"_vendor/x","params":{"sessionId":"other"}}`, `"id":6`},
		{`{"jsonrpc":"2.0","id":7,"method":"session/delete","params":{"sessionId":"session-1"}}`, `"id":7`},
		{`no JSON`, ""},
	} {
		if _, err := fmt.Fprintln(in, say.line); err != nil {
			t.Fatal(err)
		}
		for say.until != "" && lines.Scan() {
			got = append(got, lines.Text())
			if strings.Contains(lines.Text(), say.until) {
				break
			}
		}
	}
	in.Close()
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v", role, err)
	}
	return got
}

// Where an agent fails to do what it offers, the shim does it.
func TestMend(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    character
		anew bool // the agent makes another session
	}{
		{"replays nothing", character{Native: []string{"load"}}, false},
		{"refuses", character{Native: []string{"load"}, Errors: map[string]int{"session/load": -32603}}, true},
		{"does not have it", character{Native: []string{"load"}, Errors: map[string]int{"session/load": -32601}}, true},
		{"is silent", character{Native: []string{"load"}, Silent: []string{"session/load"}}, true},
		{"resumes", character{Native: []string{"resume"}}, false},
		{"is silent when it resumes", character{Native: []string{"resume"}, Silent: []string{"session/resume"}}, true},
		{"resumes badly", character{Native: []string{"resume"}, Errors: map[string]int{"session/resume": -32002}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			id := recorded(t, dir, character{Script: []string{hello}, Random: true}, "turn 0")
			tt.c.Log = filepath.Join(dir, "log")
			cl := start(t, dir, tt.c, func(s *shim.Shim) {
				if tt.c.Silent != nil {
					s.Patience = 100 * time.Millisecond
				}
			})
			cl.initialize()
			lines, _ := cl.load(id)
			if len(lines) != 4 {
				t.Errorf("got\n%s", strings.Join(lines, "\n"))
			}
			cl.prompt(id, "go on")
			cl.stop()
			prompts := tt.c.prompts(t)
			if want := map[bool]int{true: 2, false: 1}[tt.anew]; len(prompts) != 1 || len(prompts[0]) != want {
				t.Errorf("the prompt is %v, want %d blocks", prompts, want)
			}
		})
	}
}

// An agent that only loads can resume: its history is withheld.
func TestResumeByLoad(t *testing.T) {
	history := []string{
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old"}}`,
	}
	dir := t.TempDir()
	c := character{Script: []string{hello}, Native: []string{"load"}, History: history, Late: 1, Random: true}
	id := recorded(t, dir, c, "turn 0")
	cl := start(t, dir, c, nil)
	cl.initialize()
	cl.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	cl.prompt(id, "turn 0")
	for _, line := range cl.got(0) {
		if strings.Contains(line, `"old"`) {
			t.Errorf("the client gets %s", line)
		}
	}
	if !strings.Contains(strings.Join(cl.got(0), ""), "Hello, ") {
		t.Error("the turn's own updates are missing")
	}
}
