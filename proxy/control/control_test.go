//go:build unix

package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

// A run is a proxy in this process whose agent writes the lines from says.
type run struct {
	path  string
	says  chan string
	lines chan string // what the client gets
	stdin io.WriteCloser
	done  chan error
}

func start(t testing.TB, rules string) *run {
	t.Helper()
	set, err := rule.Parse("rules", rules)
	if err != nil {
		t.Fatal(err)
	}
	desk := rule.NewDesk()
	set.Attend(desk)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &run{path: control.Path(dir, "20261121T114000000-abc123"), says: make(chan string), lines: make(chan string, 100), done: make(chan error, 1)}
	s, err := control.Serve(r.path, "20261121T114000000-abc123", desk)
	if err != nil {
		t.Fatal(err)
	}
	in, stdin := io.Pipe()
	r.stdin = stdin
	got, out := io.Pipe()
	go func() {
		defer close(r.lines)
		lines := bufio.NewScanner(got)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			r.lines <- lines.Text()
		}
	}()
	p := &proxy.Proxy{In: in, Out: out, Err: io.Discard, Interceptors: set.Chain(1), Peer: &proxy.Peer{
		Run: func(ctx context.Context, in io.Reader, out, _ io.Writer) int {
			go io.Copy(io.Discard, in)
			for line := range r.says {
				io.WriteString(out, line+"\n")
			}
			return 0
		},
	}}
	go func() {
		err := p.Run(context.Background())
		s.Close()
		stacks := make([]byte, 1<<20)
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(stack, "rule.(*Desk)") || strings.Contains(stack, "control.(*conn)") || strings.Contains(stack, "control.(*Server)") {
				t.Errorf("a goroutine is left:\n%s", stack)
			}
		}
		out.Close()
		r.done <- err
	}()
	t.Cleanup(func() {
		close(r.says)
		stdin.Close()
		for range r.lines {
		}
		<-r.done
		if _, err := os.Lstat(r.path); err == nil {
			t.Errorf("%s is left", r.path)
		}
	})
	return r
}

func dial(t testing.TB, r *run, attend bool) (*control.Client, chan control.Notification) {
	t.Helper()
	told := make(chan control.Notification, 10_000)
	c, err := control.Dial(t.Context(), r.path, attend, func(n control.Notification) { told <- n })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, told
}

// next waits for a notification of a kind.
func next(t testing.TB, told chan control.Notification, kind string) control.Notification {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		select {
		case n := <-told:
			if n.Kind == kind {
				return n
			}
		case <-late:
			t.Fatalf("no %s", kind)
		}
	}
}

// TestConversation does everything to a held frame that a user can do.
func TestConversation(t *testing.T) {
	r := start(t, "@ask kind:request => hold")
	c, told := dial(t, r, true)
	other, _ := dial(t, r, false)
	ask := func(id int) control.Held {
		r.says <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x/y","params":{"text":"<&>"}}`, id)
		return *next(t, told, "held").Held
	}
	h := ask(1)
	if h.ID != 1 || h.Rule != "ask" || string(h.Frame) != `{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"text":"<&>"}}` {
		t.Errorf("got %+v", h)
	}
	ctx := t.Context()
	if err := other.Release(ctx, 1, []byte("{ not JSON")); err != nil {
		t.Error(err)
	}
	if n := next(t, told, "gone"); n.ID != 1 || !strings.HasPrefix(n.Why, "edited, and let go after ") {
		t.Errorf("got %+v", n)
	}
	if got := <-r.lines; got != "{ not JSON" {
		t.Errorf("the client got %s", got)
	}
	ask(2)
	if err := c.Drop(ctx, 2); err != nil {
		t.Error(err)
	}
	next(t, told, "gone")
	ask(3)
	if err := c.Answer(ctx, 3, []byte(`{"a":1}`), nil); err != nil {
		t.Error(err)
	}
	next(t, told, "gone")
	if err := c.Release(ctx, 3, nil); err == nil || err.Error() != "no frame waits as 3" {
		t.Error(err)
	}
	large := fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"x/y","params":{"text":%q}}`, strings.Repeat("x", 100<<10))
	r.says <- large
	if h := *next(t, told, "held").Held; h.Frame != nil || h.Size != len(large) {
		t.Errorf("got %d bytes of %d", len(h.Frame), h.Size)
	}
	if got, err := other.Frame(ctx, 4); err != nil || string(got) != large {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	answered := make(chan string, 1)
	go func() {
		answer, err := other.Inject(ctx, wire.AgentToClient, []byte(`{"jsonrpc":"2.0","id":9,"method":"x/z"}`))
		answered <- fmt.Sprint(string(answer), err)
	}()
	if got := <-r.lines; got != `{"jsonrpc":"2.0","id":"acptap-rule:1","method":"x/z"}` {
		t.Errorf("the client got %s", got)
	}
	if err := c.Release(ctx, 0, nil); err != nil {
		t.Error(err)
	}
	if got := <-r.lines; got != large {
		t.Errorf("the client got %.100s", got)
	}
	for _, wrong := range []func() error{
		func() error { return c.Call(ctx, "nonsense", nil, nil) },
		func() error { return c.Call(ctx, "held/answer", nil, nil) },
		func() error { return c.Call(ctx, "hello", nil, nil) },
		func() error { return c.Hold(ctx, "nonsense:x", 0, 0) },
		func() error { _, err := c.Inject(ctx, wire.AgentStderr, []byte("{}")); return err },
		func() error { return c.AddRules(ctx, "", "x") },
		func() error { return c.EnableRule(ctx, "nothing", true) },
	} {
		if err := wrong(); err == nil {
			t.Error("no error")
		}
	}
}

// TestInjectAnswered: the answer to an injected request arrives unchanged. An answer that
// cannot be passed on is reported as an error, and does not harm the proxy.
func TestInjectAnswered(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, tt := range []struct{ answer, want string }{
		{`{"jsonrpc":"2.0","id":"acptap-rule:1","result":{"a" : "<&>"}}`, `{"jsonrpc":"2.0","id":"acptap-rule:1","result":{"a" : "<&>"}} <nil>`},
		{`{"jsonrpc":"2.0","id":"acptap-rule:1","result":` + deep + `}`, fmt.Sprintf(" the answer, of %d bytes, is broken or too deep: the tape has it", len(deep)+48)},
	} {
		t.Run("", func(t *testing.T) {
			r := start(t, "@all update:* => mark seen")
			c, _ := dial(t, r, false)
			answered := make(chan string, 1)
			go func() {
				answer, err := c.Inject(t.Context(), wire.AgentToClient, []byte(`{"jsonrpc":"2.0","id":9,"method":"x/z"}`))
				answered <- fmt.Sprint(string(answer), " ", err)
			}()
			<-r.lines
			fmt.Fprintln(r.stdin, tt.answer)
			select {
			case got := <-answered:
				if got != tt.want {
					t.Errorf("got %.200s, want %s", got, tt.want)
				}
			case <-time.After(2 * time.Minute):
				t.Error("no answer")
			}
			if _, err := c.Rules(t.Context()); err != nil {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// TestEnds: closing the server ends all of its goroutines; start checks that.
func TestEnds(t *testing.T) {
	for range 100 {
		t.Run("", func(t *testing.T) {
			r := start(t, "@ask kind:request => hold")
			_, told := dial(t, r, true)
			r.says <- `{"jsonrpc":"2.0","id":1,"method":"x/y"}`
			next(t, told, "held")
		})
	}
}

// TestRefused: at most eight users can connect.
func TestRefused(t *testing.T) {
	r := start(t, "")
	for range 8 {
		dial(t, r, false)
	}
	_, err := control.Dial(t.Context(), r.path, false, nil)
	if err == nil || !strings.Contains(err.Error(), "8 users are connected already") {
		t.Errorf("got %v", err)
	}
}

// TestRaw: a line that is not a request is answered with an error, or not at all.
func TestRaw(t *testing.T) {
	r := start(t, "")
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "nonsense\n{}\n[1]\n"+`{"jsonrpc":"2.0","id":1,"method":"held/list"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"hello","params":{"version":7}}`+"\n"+`{"jsonrpc":"2.0","id":3,"method":"hello","params":[]}`+"\n"+`{"jsonrpc":"2.0","id":4,"method":"ping"}`+"\n")
	lines := bufio.NewScanner(conn)
	got := map[int]string{}
	for len(got) < 4 && lines.Scan() {
		var m struct {
			ID    int
			Error struct{ Message string }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		got[m.ID] = m.Error.Message
	}
	for id, want := range map[int]string{1: "hello comes first", 2: "version 1 of the protocol, not 7", 3: "cannot unmarshal", 4: ""} {
		if !strings.Contains(got[id], want) || want == "" && got[id] != "" {
			t.Errorf("%d: got %q, want %q", id, got[id], want)
		}
	}
}

// TestHalfClose: a client that sends all requests at once and closes its side gets all
// answers.
func TestHalfClose(t *testing.T) {
	r := start(t, "")
	for i := range 100 {
		conn, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1}}`+"\n")
		for id := 2; id <= 20; id++ {
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":"rules/list"}`+"\n", id)
		}
		conn.(*net.UnixConn).CloseWrite()
		text, err := io.ReadAll(conn)
		conn.Close()
		if n := strings.Count(string(text), "\n"); n != 20 || err != nil {
			t.Fatalf("in run %d, %d requests of 20 were answered: %v", i, n, err)
		}
	}
}

// TestLost: a user who does not read learns how much it missed, and blocks nothing.
func TestLost(t *testing.T) {
	r := start(t, "@x update:x => hold")
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,"attend":true}}`+"\n")
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	sign := func(i int) { // the user is there, however slow the machine is
		if i%100 == 0 {
			fmt.Fprint(conn, `{"jsonrpc":"2.0","id":3,"method":"ping"}`+"\n")
		}
	}
	for i := range 5000 { // of other sessions: all pass
		sign(i)
		r.says <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"x","n":%d,"pad":%q}}}`, i, strings.Repeat("x", 1000))
	}
	r.says <- `{"jsonrpc":"2.0","method":"last","params":{"sessionId":"t"}}`
	if got := <-r.lines; got != `{"jsonrpc":"2.0","method":"last","params":{"sessionId":"t"}}` {
		t.Errorf("got %s", got)
	}
	fmt.Fprint(conn, `{"jsonrpc":"2.0","id":2,"method":"held/release"}`+"\n")
	for i := range 5000 {
		sign(i)
		<-r.lines
	}
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"method":"lost"`) {
			return
		}
	}
	t.Error("it was not told")
}

// TestTorn: a connection is not used again after a request was only partly written.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctl")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan net.Conn, 1)
	go func() { // a proxy that reads only hello
		conn, err := l.Accept()
		if err != nil {
			return
		}
		bufio.NewReaderSize(conn, 16).ReadString('\n')
		io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")
		served <- conn
	}()
	c, err := control.Dial(t.Context(), path, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer (<-served).Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.AddRules(ctx, "", strings.Repeat("x", 16<<20)); err == nil || err.Error() != "the proxy does not read what it is sent" {
		t.Errorf("got %v", err)
	}
	select {
	case <-c.Done():
	default:
		t.Error("the connection goes on")
	}
}

// TestDead: connecting to the socket of a killed proxy reports that nothing listens.
func TestDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctl")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := control.Dial(t.Context(), path, false, nil); err != control.ErrNobody {
		t.Errorf("got %v", err)
	}
}

// TestOtherUser: another user cannot connect, even where the file system would allow it.
// It needs root.
func TestOtherUser(t *testing.T) {
	if os.Getenv("ACPTAP_TEST_DIAL") != "" {
		c, err := control.Dial(t.Context(), os.Getenv("ACPTAP_TEST_DIAL"), false, nil)
		if err == nil {
			c.Close()
		}
		fmt.Printf("dialed: %v\n", err)
		conn, err := net.Dial("unix", os.Getenv("ACPTAP_TEST_DIAL"))
		if err != nil {
			fmt.Printf("raw: %v\n", err)
			return
		}
		fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1}}`+"\n")
		text, _ := io.ReadAll(conn)
		fmt.Printf("raw: %s\n", text)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	r := start(t, "")
	as := func(want ...string) {
		t.Helper()
		program := filepath.Join(t.TempDir(), "dial")
		text, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, text, 0o755); err != nil {
			t.Fatal(err)
		}
		for dir := filepath.Dir(program); dir != "/"; dir = filepath.Dir(dir) {
			os.Chmod(dir, 0o777)
		}
		cmd := exec.Command(program, "-test.run", "TestOtherUser")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "ACPTAP_TEST_DIAL="+r.path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("another user got %v\n%s\nwant %s", err, out, w)
			}
		}
	}
	as("permission denied")
	for dir := filepath.Dir(r.path); dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o005 != 0o005 {
			os.Chmod(dir, 0o755)
		}
	}
	os.Chmod(r.path, 0o666)
	as("dialed: the proxy belongs to another user", `raw: {"jsonrpc":"2.0","method":"refused","params":{"why":"this proxy belongs to another user"}}`)
}

// TestPrivate: the socket is not made in a directory that others may enter.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "live"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := control.Serve(control.Path(dir, "t"), "t", rule.NewDesk())
	if err == nil || !strings.Contains(err.Error(), "others may enter") {
		t.Errorf("got %v", err)
	}
}
