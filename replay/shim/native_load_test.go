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
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/shim"
)

// Methods that an agent supports pass unchanged.
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

// If an agent fails to do what it offers, the shim does it, with or without Mend.
func TestMend(t *testing.T) {
	for _, mend := range []bool{false, true} {
		t.Run(fmt.Sprint("Mend ", mend), func(t *testing.T) { testMend(t, mend) })
	}
}

func testMend(t *testing.T, mend bool) {
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
			t.Parallel()
			dir := t.TempDir()
			id := recorded(t, dir, character{Script: []string{hello}, Random: true}, "turn 0")
			tt.c.Log = filepath.Join(dir, "log")
			cl := start(t, dir, tt.c, func(s *shim.Shim) {
				s.Mend = mend
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

// The agent answers a load without history while so many other loads are under way that the
// store is not read before its patience is over. The load waits, and the client gets the history.
func TestNativeLoadWaitsForSlot(t *testing.T) {
	dir := oddStore(t, old)
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, dir, nil)
		load := func(id string) {
			s.say(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"session/load","params":{"sessionId":%[1]q,"cwd":"/w","mcpServers":[]}}`, id))
		}
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)
		for i := range shim.MaxOpening {
			load(fmt.Sprint("unknown-", i))
		}
		synctest.Wait()
		load("old")
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":"old","result":{"_meta":{"native":true}}}`)
		synctest.Wait()
		time.Sleep(time.Second)
		for i := range shim.MaxOpening { // this makes the shim wait longer for the answers to those loads
			s.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"unknown-%d","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}`, i))
		}
		m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Text() == "old" })
		if !m.Get("result._meta.native").Bool() {
			t.Errorf("the load is answered with %s", m.Raw())
		}
		said := strings.Join(s.sent[wire.AgentToClient], "\n")
		if !strings.Contains(said, `"text":"yes"`) {
			t.Errorf("the client does not get the history, but\n%s", said)
		}
		s.shim.Close()
	})
}

// An agent that leaves out tool calls when it loads a session is reported once, on stderr
// and on the tape. With Mend the client gets the recorded history instead, and only then.
func TestNativeLoadLeavesOut(t *testing.T) {
	const (
		said   = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"native"}}`
		called = `{"sessionUpdate":"tool_call","toolCallId":"n1","title":"native","status":"completed"}`
		later  = `{"sessionUpdate":"tool_call","toolCallId":"n2","title":"later","status":"completed"}`
		config = `{"sessionUpdate":"available_commands_update","availableCommands":[]}`
		report = "the agent's own load of session s left out 1 of 1 tool calls; --sessions=mend shows what was recorded"
		mark   = `{"load":{"session":"s","missing":1,"recorded":1}}`
	)
	for _, tt := range []struct {
		name          string
		mend          bool
		before, after []string // what the agent sends before and after its answer
		prompt        bool     // the client prompts then, and the agent calls a tool
		told          string   // on stderr
		has, lacks    []string // what the client must and must not get
	}{
		{"whole", false, []string{said, called}, nil, false, "", []string{said, called}, nil},
		{"whole after the answer", false, []string{said}, []string{config, called}, false, "", []string{said, called}, nil},
		{"no tool call", false, []string{said, config}, nil, false, report, []string{said}, nil},
		{"no tool call before the prompt", false, []string{said}, nil, true, report, []string{said, later}, nil},
		{"mends", true, []string{said}, []string{config}, false, "", []string{`"title":"recorded"`, config}, []string{said}},
		{"mends before the prompt", true, []string{said}, nil, true, "", []string{`"title":"recorded"`, later}, []string{said}},
		{"nothing to mend", true, []string{said}, []string{called}, true, "", []string{said, called, later}, []string{`"title":"recorded"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := oddStore(t, []string{
				`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
				`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
				`> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`,
				`> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"begin"}]}}`,
				`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"recorded","status":"completed"}}}`,
				`< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`,
			})
			synctest.Test(t, func(t *testing.T) {
				told := ""
				s := newStand(t, dir, func(s *shim.Shim) {
					s.Mend, s.Complain = tt.mend, func(text string) { told += text }
				})
				update := func(list []string) {
					for _, u := range list {
						s.say(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+u+`}}`)
					}
				}
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
				s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)
				s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}`)
				synctest.Wait() // until the store is read
				update(tt.before)
				s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"native":true}}`)
				update(tt.after)
				if tt.prompt {
					s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}`)
					s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("id").Raw() == "2" })
					update([]string{later})
				}
				time.Sleep(time.Minute)
				if m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == "1" }); !m.Get("result.native").Bool() {
					t.Errorf("the load is answered with %s", m.Raw())
				}
				if told != tt.told {
					t.Errorf("reported %q, want %q", told, tt.told)
				}
				got := strings.Join(s.sent[wire.AgentToClient], "\n")
				for _, want := range tt.has {
					if strings.Count(got, want) != 1 {
						t.Errorf("want %s once, in\n%s", want, got)
					}
				}
				for _, not := range tt.lacks {
					if strings.Contains(got, not) {
						t.Errorf("got %s in\n%s", not, got)
					}
				}
				if marked := strings.Contains(got, mark); marked != (tt.told != "") {
					t.Errorf("marked on the tape: %t, in\n%s", marked, got)
				}
				s.shim.Close()
			})
		})
	}
}

// With Mend, an agent that begins with the history and then refuses the load is replaced: the
// client gets the recorded history alone, and the prompt that waited is passed on.
func TestMendReplacesRefusedLoad(t *testing.T) {
	dir := oddStore(t, old)
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, dir, func(s *shim.Shim) { s.Mend = true })
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"go on"}]}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"native"}}}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
		m := s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("method").Text() == "session/new" })
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+m.Get("id").Raw()+`,"result":{"sessionId":"new"}}`)
		m = s.await(t, wire.ClientToAgent, func(m wire.Value) bool { return m.Get("id").Raw() == "2" })
		if m.Get("params.sessionId").Text() != "new" {
			t.Errorf("the agent gets the prompt %s", m.Raw())
		}
		got := strings.Join(s.sent[wire.AgentToClient], "\n")
		if strings.Contains(got, "native") || strings.Count(got, `"text":"yes"`) != 1 || strings.Contains(got, "error") {
			t.Errorf("the client gets\n%s", got)
		}
		s.shim.Close()
	})
}

// Frames that wait when the agent ends reach the client: with Mend the history, and always
// the answer.
func TestAgentEndsAfterNativeLoad(t *testing.T) {
	const (
		update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"native"}}}}`
		answer = `{"jsonrpc":"2.0","id":1,"result":{"native":true}}`
	)
	for _, tt := range []struct {
		mend bool
		said []string
	}{{true, []string{update, answer}}, {true, []string{update}}, {false, []string{answer}}, {false, []string{update, answer}}} {
		dir := oddStore(t, old)
		synctest.Test(t, func(t *testing.T) {
			s := newStand(t, dir, func(s *shim.Shim) { s.Mend = tt.mend })
			s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
			s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)
			s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
			synctest.Wait() // until the store is read
			for _, line := range tt.said {
				s.say(wire.AgentToClient, line)
			}
			<-s.end(wire.AgentToClient)
			if got := s.sent[wire.AgentToClient][1:]; !slices.Equal(got, tt.said) {
				t.Errorf("Mend %t: the client gets\n%s\nwant\n%s", tt.mend, strings.Join(got, "\n"), strings.Join(tt.said, "\n"))
			}
			s.shim.Close()
		})
	}
}

// A resume that is settled while a load of the same session is being watched leaves that load
// alone: the client gets the history that the agent replays for it, and nothing twice.
func TestOverlappingNativeLoads(t *testing.T) {
	dir := oddStore(t, old)
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, dir, nil)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}}`)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
		s.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`)
		synctest.Wait() // until the store is read
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"native"}}}}`)
		s.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":2,"result":{"native":true}}`)
		m := s.await(t, wire.AgentToClient, func(m wire.Value) bool { return m.Get("id").Raw() == "2" })
		if !m.Get("result.native").Bool() {
			t.Errorf("the load is answered with %s", m.Raw())
		}
		got := strings.Join(s.sent[wire.AgentToClient], "\n")
		if strings.Count(got, `"text":"native"`) != 1 || strings.Contains(got, `"text":"yes"`) {
			t.Errorf("the client gets\n%s", got)
		}
		s.shim.Close()
	})
}
