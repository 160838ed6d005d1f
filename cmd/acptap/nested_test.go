package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A nestedRun is an agent with two MCP servers behind acptap proxy --mcp. Between each server
// and its proxy the bytes are kept.
type nestedRun struct {
	t     *testing.T
	store *record.Store
	dirs  []string // what passed at each server: files c2a and a2c
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
}

// startNested starts the agent, and has it call tools.
func startNested(t *testing.T) *nestedRun {
	t.Helper()
	if _, err := exec.LookPath("tee"); err != nil {
		t.Skip("no tee to compare with")
	}
	dir := t.TempDir()
	tee := filepath.Join(dir, "tee.sh")
	script := "#!/bin/sh\ndir=$1\nshift\ntee \"$dir/c2a\" | \"$@\" | tee \"$dir/a2c\"\n"
	if err := os.WriteFile(tee, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &nestedRun{t: t, store: record.OpenStore(filepath.Join(dir, "store"))}
	var entries []string
	for _, name := range []string{"one", "two"} {
		d := filepath.Join(dir, name)
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		r.dirs = append(r.dirs, d)
		entries = append(entries, fmt.Sprintf(`{"name":%q,"command":%q,"args":[%q,"tool-server",%q],"env":[]}`, name, tee, d, name))
	}
	r.start("acptap", "--store", r.store.Dir(), "proxy", "--mcp", "--", "tool-agent")
	r.ask(0, "initialize", `{"protocolVersion":1}`)
	r.ask(1, "session/new", `{"cwd":"/w","mcpServers":[`+strings.Join(entries, ",")+`]}`)
	r.ask(2, "session/prompt", `{"sessionId":"tools-1","prompt":[{"type":"text","text":"one/echo {\"message\":\"h\u00e9llo\"} && two/add {\"a\":1,\"b\":2}\none/work {\"message\":\"done\"}\ntwo/fail {\"message\":\"no\"}"}]}`)
	return r
}

// start starts the agent.
func (r *nestedRun) start(command ...string) {
	t := r.t
	t.Helper()
	r.cmd = exec.Command(command[0], command[1:]...)
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request, and returns when it is answered with a result.
func (r *nestedRun) ask(id int, method, params string) {
	r.t.Helper()
	fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	for {
		line, err := r.out.ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("%s is not answered: %v", method, err)
		}
		if e := wire.Scan(line); e.Kind == wire.Response && string(e.ID) == fmt.Sprint(id) {
			if e.Result == nil {
				r.t.Fatalf("%s: %s", method, line)
			}
			return
		}
	}
}

// nested waits until the tapes of the servers have ended, and returns them by name.
func (r *nestedRun) nested() map[string]record.Info {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		l, err := r.store.List()
		tapes := map[string]record.Info{}
		for _, info := range l.Tapes {
			if info.Start.Parent.Tape != "" && info.Exit != nil && !info.Live {
				tapes[info.Start.Parent.Server] = info
			}
		}
		if err == nil && len(tapes) == len(r.dirs) {
			return tapes
		}
		if time.Now().After(end) {
			r.t.Fatalf("the tapes have not ended: %+v, %v", l, err)
		}
	}
}

// check compares the tapes of the servers with what passed there.
func (r *nestedRun) check() {
	r.t.Helper()
	tapes := r.nested()
	links := map[string]bool{}
	for _, dir := range r.dirs {
		name := filepath.Base(dir)
		info := tapes[name]
		links[info.Start.Parent.Link] = true
		if parent := r.parent(info); parent.Start.Command[0] != "tool-agent" {
			r.t.Errorf("%s: the parent is %+v", name, parent)
		}
		if info.Start.Name != name || info.Start.Proto != "mcp" || info.Invalid > 0 || info.Lost > 0 {
			r.t.Errorf("%s: the tape is %+v", name, info)
		}
		for d, part := range map[wire.Direction]string{wire.ClientToAgent: "tools/call", wire.AgentToClient: "content"} {
			want := read(r.t, filepath.Join(dir, d.String()))
			if got := bytesOf(r.t, r.store, info.Tape, d); !bytes.Equal(got, want) || !strings.Contains(string(want), part) {
				r.t.Errorf("%s %v: the tape has\n%s\nthe server\n%s", name, d, got, want)
			}
		}
	}
	if len(links) != len(r.dirs) {
		r.t.Errorf("the links are %v", links)
	}
}

// parent returns the tape on which the agent of a server was recorded.
func (r *nestedRun) parent(info record.Info) record.Info {
	r.t.Helper()
	tape, err := r.store.Open(info.Start.Parent.Tape)
	if err != nil {
		r.t.Fatal(err)
	}
	parent, err := tape.Info()
	if err != nil {
		r.t.Fatal(err)
	}
	return parent
}

// The traffic between an agent and its servers is on separate tapes, byte for byte.
func TestNested(t *testing.T) {
	r := startNested(t)
	r.in.Close()
	if _, err := io.Copy(io.Discard, r.out); err != nil {
		t.Error(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Error(err)
	}
	r.check()
}
