package shim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// The proxy is killed in the middle of a turn: the next process loads the session, with the
// unfinished call closed.
func TestKill(t *testing.T) {
	for _, d := range dialects {
		dir := t.TempDir()
		first := "tool_call_update"
		if d == "v1" {
			first = "tool_call"
		}
		c := character{Dialect: d, Script: []string{fmt.Sprintf(`
{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"I begin"}}
{"sessionUpdate":%q,"toolCallId":"call","title":"Build","kind":"execute","status":"in_progress"}
wait`, first)}}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "role:proxy", dir, string(text))
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
		fmt.Fprintln(in, initialize(d))
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
		id := ""
		for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "in_progress"); {
			if made := wire.ValueAt(lines.Text(), "result.sessionId"); made.Exists() {
				id = made.Text()
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"turn 0"}]}}`+"\n", id)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()

		cl := start(t, dir, character{Dialect: d, Log: filepath.Join(dir, "log")}, nil)
		cl.initialize()
		lines, _ := cl.load(id)
		want := "cancelled"
		if d == "v1" {
			want = "failed"
		}
		if len(lines) != 3 {
			t.Fatalf("%s: got\n%s", d, strings.Join(lines, "\n"))
		}
		u := wire.ValueAt(lines[2], "params.update")
		if u.Get("status").Text() != want || !u.Get("_meta.acptap.cutOff").Bool() {
			t.Errorf("%s: the call is %s, want it %s and marked", d, u.Raw(), want)
		}
		cl.prompt(id, "go on")
		cl.stop()
		prompts := character{Log: filepath.Join(dir, "log")}.prompts(t)
		if !strings.Contains(prompts[0][0].Get("text").Text(), "[interrupted]") {
			t.Errorf("%s: the agent is told %s", d, prompts[0][0].Raw())
		}
	}
}

// Several proxies load the same sessions while another reader lists the whole store.
func TestManyProxies(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello}, Random: true}
	cl := start(t, dir, c, nil)
	cl.initialize()
	var ids []string
	for range 5 {
		id := cl.new()
		cl.prompt(id, "turn 0")
		ids = append(ids, id)
	}
	cl.stop()
	done := make(chan struct{})
	var looking, loading sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if l, err := record.OpenStore(dir).List(); err != nil || len(l.Broken) > 0 {
				t.Errorf("looking: %v %v", l.Broken, err)
			}
		}
	})
	for range 2 {
		loading.Go(func() {
			cl := start(t, dir, c, nil)
			cl.initialize()
			for _, id := range ids {
				if lines, _ := cl.load(id); len(lines) != 4 {
					t.Errorf("%s: got %d updates", id, len(lines))
				}
				cl.must("session/close", fmt.Sprintf(`{"sessionId":%q}`, id)) // the other one waits for it
			}
			cl.stop()
		})
	}
	loading.Wait()
	close(done)
	looking.Wait()

	// A session that another proxy has continued cannot be opened.
	a, b := start(t, dir, c, nil), start(t, dir, c, nil)
	a.initialize()
	b.initialize()
	a.load(ids[0])
	a.prompt(ids[0], "mine")
	b.fails(-32600, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, ids[0]), "another client")
	a.stop()
	b.load(ids[0])
}

// If the store cannot be read, load says so and the traffic continues; if a tape is damaged,
// the rest of the session is loaded.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello}}
	id := recorded(t, dir, c, "turn 0")
	cl := start(t, dir, c, nil)
	cl.initialize()
	other := cl.new()
	tapes := filepath.Join(dir, "tapes")
	if err := os.Rename(tapes, tapes+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tapes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cl.fails(-32603, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	cl.fails(-32603, "session/list", `{}`)
	cl.prompt(other, "turn 0")
	if err := os.Remove(tapes); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tapes+".away", tapes); err != nil {
		t.Fatal(err)
	}
	cl.load(id)
	cl.stop()

	files, err := filepath.Glob(filepath.Join(tapes, "*.db"))
	if err != nil || len(files) == 0 {
		t.Fatalf("tapes %v, %v", files, err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 9000); err != nil {
			t.Fatal(err)
		}
	}
	cl = start(t, dir, c, nil)
	cl.initialize()
	m := cl.call("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id))
	if code := m.Get("error.code").Int(); code != -32603 && code != -32002 {
		t.Errorf("got %s", m.Raw())
	}
	cl.prompt(cl.new(), "turn 0")
}

// Sessions of other agents are offered only on request.
func TestAnyAgent(t *testing.T) {
	dir := t.TempDir()
	c := character{Script: []string{hello}}
	id := recorded(t, dir, c, "turn 0")
	params := fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]}`, id)
	cl := start(t, dir, c, func(s *shim.Shim) { s.Agent = "another" })
	cl.initialize()
	cl.fails(-32002, "session/load", params)
	cl.stop()
	for _, odd := range []string{"zzzzzzzx", "zzzzzzzy", "zzzzzzzz"} { // such ids precede the others
		if err := os.WriteFile(filepath.Join(dir, "live", odd+".lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cl = start(t, dir, c, func(s *shim.Shim) {
		s.Agent, s.AnyAgent = "another", true
		s.Called = func(i record.Info) string { return "the one called " + i.Start.Name }
	})
	cl.initialize()
	one := cl.must("session/list", "{}").Get("sessions.0")
	if one.Get("title").Text() != "turn 0 · the one called agent" || one.Get("_meta.acptap.agent").Text() != "agent" {
		t.Errorf("got %s", one.Raw())
	}
	if lines, _ := cl.load(id); len(lines) != 4 {
		t.Errorf("got %d updates", len(lines))
	}
}
