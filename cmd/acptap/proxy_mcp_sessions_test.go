package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A server made with the official SDK, which has no sessions, gets the sessions of each
// proposal. The tapes say so, and no rule has findings on them.
func TestMCPSessions(t *testing.T) {
	const hello = `"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`
	for _, tt := range []struct {
		proposal     string
		make, use    string // members of requests; ID and STATE stand for those of the session
		end, renewed string
	}{
		{"dls", `"method":"sessions/create"`, `"_meta":{"io.modelcontextprotocol/session":{"sessionId":"ID","state":"STATE"}}`,
			`"method":"sessions/delete","params":{"_meta":{"io.modelcontextprotocol/session":{"sessionId":"ID"}}}`, "state"},
		{"sep1364-a1", `"method":"session/create","params":{"capabilities":{}}`, `ID`, `"method":"session/delete","params":{"sessionId":"ID"}`, ""},
		{"sep1364-a2", `"method":"initialize",` + hello, `ID`, `"method":"terminate","params":{"sessionId":"ID"}`, ""},
	} {
		t.Run(tt.proposal, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			c := startSessions(t, store, "--mcp-sessions="+tt.proposal)
			c.ask(`"method":"initialize",` + hello)
			fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			var ids []string
			for range 2 {
				answer := c.ask(tt.make)
				id := textAt(answer, "sessionId", "result.sessionId", "result.session.sessionId")
				state := textAt(answer, "result.session.state")
				if id == "" {
					t.Fatalf("no session in %s", answer)
				}
				ids = append(ids, id)
				for range 2 {
					params := `"name":"echo","arguments":{"message":"hi"}`
					call := `"method":"tools/call","sessionId":"` + id + `","params":{` + params + `}`
					if tt.renewed != "" {
						call = `"method":"tools/call","params":{` + params + `,` + strings.NewReplacer("ID", id, "STATE", state).Replace(tt.use) + `}`
					}
					answer = c.ask(call)
					state = textAt(answer, `result._meta.io\.modelcontextprotocol/session.state`)
					if got := textAt(answer, "sessionId", `result._meta.io\.modelcontextprotocol/session.sessionId`); got != id || !strings.Contains(answer, "Echo: hi") {
						t.Errorf("%s: got session %q, want %q", answer, got, id)
					}
				}
			}
			if answer := c.ask(strings.ReplaceAll(tt.end, "ID", ids[0])); !strings.Contains(answer, `"result":{}`) {
				t.Errorf("the end of a session: %s", answer)
			}
			c.in.Close()
			if err := c.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			c.checkTapes(tt.proposal, ids)
		})
	}
}

// A sessionsRun is a client of a server with sessions.
type sessionsRun struct {
	t     *testing.T
	store *record.Store
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
}

func startSessions(t *testing.T, store *record.Store, flags ...string) *sessionsRun {
	t.Helper()
	c := &sessionsRun{t: t, store: store}
	c.cmd = exec.Command("acptap", append(append([]string{"--store", store.Dir(), "proxy", "--name", "tools"}, flags...), "--", "tool-server")...)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a request with these members, and returns the answer.
func (c *sessionsRun) ask(members string) string {
	c.t.Helper()
	c.id++
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", c.id, members)
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			c.t.Fatalf("%s is not answered: %v", members, err)
		}
		if e := wire.Scan(line); e.Kind == wire.Response && string(e.ID) == fmt.Sprint(c.id) {
			return string(line)
		}
	}
}

// checkTapes looks at what was recorded.
func (c *sessionsRun) checkTapes(proposal string, sessions []string) {
	c.t.Helper()
	list, err := exec.Command("acptap", "--store", c.store.Dir(), "ls", "--json").Output()
	if err != nil {
		c.t.Fatal(err)
	}
	links := map[string]bool{}
	outer := ""
	for line := range strings.Lines(string(list)) {
		var tape struct {
			Tape, Proposal, Name string
			Parent               record.Parent
		}
		if err := json.Unmarshal([]byte(line), &tape); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case tape.Parent.Tape == "" && tape.Proposal == proposal:
			outer = tape.Tape
		case tape.Parent.Tape == "" || tape.Proposal != "" || tape.Parent.Server != "tools":
			c.t.Errorf("got the tape %s", line)
		}
		links[tape.Parent.Link] = true
		if out, err := exec.Command("acptap", "--store", c.store.Dir(), "check", tape.Tape).CombinedOutput(); err != nil || !strings.Contains(string(out), "nothing found") {
			c.t.Errorf("check: %v\n%s", err, out)
		}
	}
	if outer == "" {
		c.t.Errorf("no tape says %s:\n%s", proposal, list)
	}
	for _, id := range sessions {
		if !links[id] {
			c.t.Errorf("no tape of the session %s:\n%s", id, list)
		}
	}
}

// textAt returns the first text that there is at one of some paths.
func textAt(message string, paths ...string) string {
	for _, path := range paths {
		for _, at := range wire.Find([]byte(message), path) {
			if text, ok := wire.Unquote([]byte(message[at.Start:at.End])); ok {
				return string(text)
			}
		}
	}
	return ""
}
