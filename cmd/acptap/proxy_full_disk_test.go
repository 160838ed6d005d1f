//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/record"
)

// TestFullDiskNested: if neither the agent's proxy nor its servers' can write to the disk,
// calls still work, each tape says that something is missing, and recording resumes once
// there is space.
func TestFullDiskNested(t *testing.T) {
	r := &nestedRun{t: t, store: record.OpenStore(filepath.Join(t.TempDir(), "store"))}
	r.start("acptap", "--store", r.store.Dir(), "proxy", "--mcp", "--", "tool-agent")
	r.ask(0, "initialize", `{"protocolVersion":1}`)
	r.ask(1, "session/new", `{"cwd":"/w","mcpServers":[{"name":"one","command":"tool-server","args":[],"env":[]},{"name":"two","command":"tool-server","args":[],"env":[]}]}`)
	call := func(id int, text string) {
		t.Helper()
		prompt := fmt.Sprintf(`one/echo {\"message\":\"%s\"}\ntwo/echo {\"message\":\"%[1]s\"}`, text)
		r.ask(id, "session/prompt", `{"sessionId":"tools-1","prompt":[{"type":"text","text":"`+prompt+`"}]}`)
	}
	call(2, "before")
	recorders := recordersOf(t, r.store.Dir())
	if len(recorders) != 3 {
		t.Fatalf("%d processes record, want 3", len(recorders))
	}
	room := noRoom(t, recorders...)
	call(3, "full")
	room()
	call(4, "after")
	r.in.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	lacking(t, r.store, 3)
}

// TestFullDiskHosted: the same for the tapes of sessions that acptap makes.
func TestFullDiskHosted(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	c := startSessions(t, store, "--mcp-sessions")
	c.ask(`"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	made := c.ask(`"method":"sessions/create"`)
	id, state := textAt(made, "result.session.sessionId"), textAt(made, "result.session.state")
	call := func(text string) {
		t.Helper()
		answer := c.ask(fmt.Sprintf(`"method":"tools/call","params":{"name":"echo","arguments":{"message":%q},"_meta":{"io.modelcontextprotocol/session":{"sessionId":%q,"state":%q}}}`, text, id, state))
		if !strings.Contains(answer, "Echo: "+text) {
			t.Fatalf("got %s, want the echo of %s", answer, text)
		}
		state = textAt(answer, `result._meta.io\.modelcontextprotocol/session.state`)
	}
	call("before")
	room := noRoom(t, c.cmd.Process.Pid)
	call("full")
	room()
	call("after")
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	lacking(t, store, 2)
}

// noRoom makes all writes of processes to files fail until room is called, as on a full disk,
// without needing a separate disk.
func noRoom(t *testing.T, pids ...int) (room func()) {
	t.Helper()
	limit := func(pid int, cur uint64) (before uint64) {
		t.Helper()
		var old unix.Rlimit
		err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &old)
		if err == nil {
			err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: cur, Max: old.Max}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return old.Cur
	}
	before := map[int]uint64{}
	for _, pid := range pids {
		before[pid] = limit(pid, 1)
	}
	return func() {
		t.Helper()
		for pid, cur := range before {
			limit(pid, cur)
		}
	}
}

// recordersOf returns the processes of acptap with this store.
func recordersOf(t *testing.T, store string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		program, args, _ := bytes.Cut(line, []byte{0})
		if strings.HasPrefix(filepath.Base(string(program)), "acptap") && bytes.Contains(args, []byte(store)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// lacking checks that n tapes lack something, and that each of them has what passed before
// and after the gap.
func lacking(t *testing.T, store *record.Store, n int) {
	t.Helper()
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?s)before.*"gap":[1-9].*after`)
	for _, i := range l.Tapes {
		if i.Lost == 0 {
			continue
		}
		n--
		out, err := exec.Command("acptap", "--store", store.Dir(), "export", "--raw", i.Tape).CombinedOutput()
		if err != nil || !want.Match(out) || bytes.Contains(out, []byte("full")) {
			t.Errorf("tape %s of %v: %v, %d bytes lost:\n%.3000s", i.Tape, i.Start.Command, err, i.Lost, out)
		}
	}
	if n != 0 {
		t.Errorf("%d tapes more should lack something; there are %d tapes", n, len(l.Tapes))
	}
}
