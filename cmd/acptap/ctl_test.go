//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

var (
	holdKills = flag.Int("holdkills", 30, "how many users who hold frames TestHoldKill kills or stops")
	ctlStarts = flag.Int("ctlstarts", 60, "how many proxies TestCtlStarts starts")
)

// A heldRun is a proxy whose user holds the session a.
type heldRun struct {
	proxy  *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Closer
	lines  chan string // what the client gets
	store  string
	file   string // what the agent got
	client *control.Client
	user   *exec.Cmd // acptap ctl hold, or acptap inspect
	socket string
}

const heldMany = 200

// startHeld starts a proxy and a user who holds session a, and waits until all of session
// b has passed.
func startHeld(t *testing.T) *heldRun {
	t.Helper()
	r := startHeldProxy(t, "--ctl")
	r.user = exec.Command("acptap", "--store", r.store, "ctl", "hold", "session:a")
	if err := r.user.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until the user holds
		rules, err := r.client.Rules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(rules) > 0 {
			break
		}
	}
	r.talk(t)
	return r
}

// startHeldProxy starts a proxy.
func startHeldProxy(t *testing.T, flags ...string) *heldRun {
	t.Helper()
	dir := t.TempDir()
	r := &heldRun{store: filepath.Join(dir, "store"), file: filepath.Join(dir, "agent"), lines: make(chan string, 4*heldMany)}
	r.proxy = exec.Command("acptap", append(append([]string{"--store", r.store, "proxy"}, flags...), "--", "hold-agent", r.file, fmt.Sprint(heldMany))...)
	r.proxy.Stderr = os.Stderr
	var err error
	if r.stdin, err = r.proxy.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := r.proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdout = stdout
	if err := r.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			r.lines <- in.Text()
		}
	}()
	r.client = dialStore(t, r.store)
	r.socket = control.Path(r.store, r.client.Hello.Tape)
	return r
}

// talk has client and agent talk until all of session b has passed, and all of session a is
// held, in both directions.
func (r *heldRun) talk(t *testing.T) {
	t.Helper()
	fmt.Fprintln(r.stdin, numbered("b", -1))
	for i := range heldMany {
		fmt.Fprintf(r.stdin, "%s\n%s\n", numbered("a", i), numbered("b", i))
	}
	r.expect(t, "b")
	for {
		held, err := r.client.Held(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(held) == 2*heldMany {
			return
		}
		time.Sleep(pollPause)
	}
}

// pollPause is the time between two looks at what tells nobody when it changes: without it, the tests
// would take the processors from what they wait for.
const pollPause = 5 * time.Millisecond

// dialStore connects to the only proxy of a store.
func dialStore(t *testing.T, dir string) *control.Client {
	t.Helper()
	store := record.OpenStore(dir)
	late := time.After(2 * time.Minute)
	for {
		for _, tape := range store.Live() {
			if c, err := control.Dial(t.Context(), control.Path(dir, tape), false, nil); err == nil {
				return c
			}
		}
		select {
		case <-late:
			t.Fatal("no proxy listens")
		case <-time.After(pollPause):
		}
	}
}

// expect reads all updates of a session, in their order, and no other lines.
func (r *heldRun) expect(t *testing.T, session string) {
	t.Helper()
	for i := range heldMany {
		select {
		case line := <-r.lines:
			if line != numbered(session, i) {
				t.Fatalf("got %s, want %d of session %s", line, i, session)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%d of session %s does not come", i, session)
		}
	}
}

// end ends the run, and checks what the agent received and that nothing is left.
func (r *heldRun) end(t *testing.T) {
	t.Helper()
	r.client.Close()
	r.stdin.Close()
	if line, more := <-r.lines; more {
		t.Errorf("one more line: %s", line)
	}
	if err := r.proxy.Wait(); err != nil {
		t.Errorf("the proxy: %v", err)
	}
	r.all(t)
}

// all checks that the agent got all lines, each session in its order, and that no socket is
// left.
func (r *heldRun) all(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]int{"a": 0, "b": -1}
	for line := range strings.Lines(string(text)) {
		session := "a"
		if strings.Contains(line, `"sessionId":"b"`) {
			session = "b"
		}
		if strings.TrimSpace(line) != numbered(session, next[session]) {
			t.Fatalf("the agent got %s, want %d of session %s", line, next[session], session)
		}
		next[session]++
	}
	if next["a"] != heldMany || next["b"] != heldMany {
		t.Errorf("the agent got %v", next)
	}
	if _, err := os.Lstat(r.socket); err == nil {
		t.Errorf("%s is left", r.socket)
	}
}

// reasons returns why frames were released, according to the tape, with the number of frames
// for each reason.
func (r *heldRun) reasons(t *testing.T) map[string]int {
	t.Helper()
	tape, err := record.OpenStore(r.store).Open(r.client.Hello.Tape)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]int{}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind != wire.Mark {
			continue
		}
		if m := wire.ReadMark(f.Frame); m.Rule != nil {
			if _, why, ok := strings.Cut(m.Rule.Did, ", let go: "); ok {
				reasons[why]++
			}
		}
	}
	return reasons
}

// TestHoldKill: a user who is killed or stopped while frames wait for it in both
// directions loses none of them, and they go on in order. Meanwhile another session is
// not affected.
func TestHoldKill(t *testing.T) { killUsers(t, startHeld) }

// killUsers kills and stops users, each of a proxy that start starts, for whom all of session
// a waits.
func killUsers(t *testing.T, start func(t *testing.T) *heldRun) {
	t.Parallel()
	n := *holdKills
	if testing.Short() {
		n = min(n, 4)
	}
	var mu sync.Mutex
	least := map[syscall.Signal]time.Duration{} // the machine may be busy in some of the rounds, not in all of many
	t.Run("all", func(t *testing.T) {
		for i := range n {
			how, why := syscall.SIGKILL, "the user has gone"
			if i%10 == 0 {
				how, why = syscall.SIGSTOP, "the user gave no sign for 10s"
			}
			t.Run(fmt.Sprint(how, " ", i), func(t *testing.T) {
				t.Parallel()
				r := start(t)
				began := time.Now()
				if err := r.user.Process.Signal(how); err != nil {
					t.Fatal(err)
				}
				r.expect(t, "a")
				took := time.Since(began)
				mu.Lock()
				if before, ok := least[how]; !ok || took < before {
					least[how] = took
				}
				mu.Unlock()
				r.user.Process.Kill()
				r.user.Wait()
				r.end(t)
				if got := r.reasons(t); got[why] != 2 || got["what it waited for is gone"] != 2*heldMany-2 {
					t.Errorf("frames went because of %v, want that of %q in both directions", got, why)
				}
			})
		}
	})
	t.Log(least)
	if !testing.Short() && (least[syscall.SIGKILL] > 100*time.Millisecond || least[syscall.SIGSTOP] > 12*time.Second) {
		t.Errorf("until frames went on, it took at least %v", least)
	}
}

// TestCtlSignal: a signal releases all frames.
func TestCtlSignal(t *testing.T) {
	r := startHeld(t)
	began := time.Now()
	r.proxy.Process.Signal(syscall.SIGTERM)
	r.expect(t, "a")
	r.proxy.Wait()
	t.Logf("ended after %v", time.Since(began))
	r.user.Wait() // it ends with the proxy
	if _, err := os.Lstat(r.socket); err == nil {
		t.Errorf("%s is left", r.socket)
	}
}

// TestCtlClientLeaves: if the client leaves while frames wait, they go, and the agent ends.
func TestCtlClientLeaves(t *testing.T) {
	r := startHeld(t)
	r.stdout.Close()
	if err := r.proxy.Wait(); err != nil { // the user still waits
		t.Errorf("the proxy: %v", err)
	}
	if err := r.user.Wait(); err != nil {
		t.Errorf("the user: %v", err)
	}
	r.client.Close()
	r.all(t)
	if got, want := r.reasons(t), map[string]int{"the client has left": 2 * heldMany}; !maps.Equal(got, want) {
		t.Errorf("frames went because of %v, want %v", got, want)
	}
}

// TestCtlKilledProxy: who seals the journal of a proxy that was killed removes its socket,
// also if that is elsewhere because the path of the store is long.
func TestCtlKilledProxy(t *testing.T) {
	for _, name := range []string{"store", strings.Repeat("long", 30)} {
		t.Setenv("TMPDIR", t.TempDir())
		dir := filepath.Join(t.TempDir(), name)
		cmd := exec.Command("acptap", "--store", dir, "proxy", "--ctl", "--", "cat")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c := dialStore(t, dir)
		path := control.Path(dir, c.Hello.Tape)
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != 0o600 || (info.Mode().IsRegular() != (name != "store")) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		stdin.Close()
		<-c.Done()
		c.Close()
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
		if err := record.OpenStore(dir).Recover(func() bool { return false }, nil); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	}
}

// TestCtlStarts: proxies leave no sockets, however they end.
func TestCtlStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for _, tt := range []struct {
		agent  []string
		status int
		finds  bool // its socket
	}{
		{[]string{"sh", "-c", `until find "$0" -name "*.ctl" | grep .; do sleep 0.01; done`, dir}, 0, true}, {[]string{"cat"}, 0, false}, {[]string{"no-such-agent"}, 127, false}, {[]string{"false"}, 1, false},
	} {
		group.Go(func() {
			for range *ctlStarts / 4 {
				cmd := exec.Command("acptap", append([]string{"--store", dir, "proxy", "--ctl", "--"}, tt.agent...)...)
				out, _ := cmd.Output()
				if got := cmd.ProcessState.ExitCode(); got != tt.status || strings.Contains(string(out), ".ctl") != tt.finds {
					t.Errorf("%v: status %d, want %d; it said %q", tt.agent, got, tt.status, out)
				}
			}
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "live", "*.ctl"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCtlOff: without --ctl an agent's tool finds no socket. With it, it could, but nothing
// in the environment names it.
func TestCtlOff(t *testing.T) {
	for _, flags := range [][]string{nil, {"--ctl"}} {
		dir := t.TempDir()
		args := append(append([]string{"--store", dir, "proxy"}, flags...), "--", "sh", "-c", "read line; env; find . -type s")
		cmd := exec.Command("acptap", args...)
		cmd.Dir = dir
		var out strings.Builder
		cmd.Stdout = &out
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if flags != nil {
			dialStore(t, dir).Close()
		}
		stdin.Close()
		cmd.Wait()
		names, sockets := 0, 0
		for line := range strings.Lines(out.String()) {
			switch name, value, ok := strings.Cut(line, "="); {
			case !ok && strings.Contains(line, ".ctl"):
				sockets++
			case ok:
				names++
				if strings.Contains(value, ".ctl") || strings.HasPrefix(strings.ToLower(name), "acptap_ctl") {
					t.Errorf("%s names the socket", name)
				}
			}
		}
		if sockets != len(flags) || names == 0 {
			t.Errorf("with %v the agent finds %d sockets:\n%s", flags, sockets, out.String())
		}
	}
}

// TestCtlInject injects frames and answers a request through acptap ctl.
func TestCtlInject(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("acptap", "--store", dir, "proxy", "--hold", "method:session/request_permission kind:request", "--", "cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dialStore(t, dir).Close()
	lines := bufio.NewScanner(stdout)
	read := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %s, want %s", lines.Text(), want)
		}
	}
	ctl := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("acptap", append([]string{"--store", dir, "ctl"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("ctl %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"inject", "nobody", "-"}, `a frame is sent to the client or to the agent, not to "nobody"`},
		{[]string{"inject", "client", "-"}, "nothing to send: stdin has no line"},
		{[]string{"rules", "ad", "x => drop"}, `unknown action "rules ad", expected one of add load on off remove`},
		{[]string{"rules", "ad"}, `unknown action "rules ad"`},
	} {
		cmd := exec.Command("acptap", append([]string{"--store", dir, "ctl"}, tt.args...)...)
		cmd.Stdin = strings.NewReader("\n")
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), tt.want) {
			t.Errorf("ctl %q: %v: %s", tt.args, err, out)
		}
	}
	ctl(numbered("s", 1), "inject", "client", "-")
	read(numbered("s", 1))
	// cat sends the request back with the injected id, which is then a request of the agent
	if err := os.WriteFile(filepath.Join(dir, "frame"), []byte(numbered("s", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctl("", "inject", "agent", filepath.Join(dir, "frame"))
	read(numbered("s", 2))
	ctl("", "rules", "add", `@x .params.sessionId:s => set params.x 1`)
	if got := ctl("", "rules"); !strings.Contains(got, "set params.x 1") {
		t.Errorf("rules: %s", got)
	}
	ctl("", "rules", "off", "x")
	ctl("", "resend", "client", "3")
	read(numbered("s", 1))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held := make(chan control.Notification, 10)
	c, err := control.Dial(ctx, control.Path(dir, record.OpenStore(dir).Live()[0]), true, func(n control.Notification) { held <- n })
	if err != nil {
		t.Fatal(err)
	}
	ask := `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s"}}`
	fmt.Fprintln(stdin, ask)
	for n := range held {
		if n.Kind == "held" {
			break
		}
	}
	if got := ctl("", "held"); !strings.Contains(got, "session/request_permission") || !strings.Contains(got, "hold-1") {
		t.Errorf("held: %s", got)
	}
	ctl("", "answer", "next", `{"outcome":{"outcome":"cancelled"}}`)
	read(`{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`)
	c.Close()
	stdin.Close()
	cmd.Wait()
	tapes, _ := record.OpenStore(dir).Tapes()
	tape, err := record.OpenStore(dir).Open(tapes[0])
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Request && f.Origin != wire.Withheld {
			t.Errorf("frame %d passed: %s", f.Seq, f.Raw)
		}
	}
}
