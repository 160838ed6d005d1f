package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// odd are streams that a proxy is likely to change.
var odd = []string{
	"",
	"{}\n",
	"no newline at the end",
	"\n\n\r\n \t\n",
	"{\"crlf\":1}\r\n{}\r\n",
	"a\rb\r\r\n\r",
	"\xff\xfe\x00\n\xc3(",
	strings.Repeat("x", 300<<10) + "\n" + strings.Repeat("[", 20_000),
}

// Whatever the client sends comes back from an agent that echoes, byte for byte, with and
// without an Interceptor, and is in the journal before it is forwarded.
func FuzzTransparent(f *testing.F) {
	for i, s := range odd {
		f.Add([]byte(s), uint16(1<<(2*i)), i%2 == 0)
		f.Add([]byte(s), uint16(1<<(2*i)), i%2 != 0)
	}
	f.Fuzz(func(t *testing.T, stream []byte, step uint16, intercepted bool) {
		m := &memory{appended: func(m *memory, dir wire.Direction, _ []byte) {
			if m.sent[wire.AgentToClient].Len() > m.sent[wire.ClientToAgent].Len() {
				t.Error("the agent got bytes that the journal does not have")
			}
		}}
		out := &follower{t: t, m: m}
		in, client := io.Pipe()
		p := &proxy.Proxy{Command: role("echo"), In: in, Out: out, Err: io.Discard, Journal: m}
		if intercepted {
			p.Interceptors = chain(&script{})
		}
		go func() {
			for chunk := range slices.Chunk(stream, int(step)+1) {
				client.Write(chunk)
			}
			client.Close()
		}()
		if err := run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if got := out.Bytes(); !bytes.Equal(got, stream) {
			t.Errorf("got %s, want %s", short(string(got)), short(string(stream)))
		}
		m.check(t, wire.ClientToAgent, string(stream))
		m.check(t, wire.AgentToClient, string(stream))
		n := int64(len(stream))
		if want := [wire.Directions]int64{n, n, 0}; m.delivered != want {
			t.Errorf("got %v bytes delivered, want %v", m.delivered, want)
		}
	})
}

// A follower checks that the bytes it receives are already in the journal.
type follower struct {
	bytes.Buffer
	t testing.TB
	m *memory
}

func (f *follower) Write(p []byte) (int, error) {
	f.Buffer.Write(p)
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if !bytes.HasPrefix(f.m.received[wire.AgentToClient].Bytes(), f.Bytes()) {
		f.t.Error("the client got bytes that the journal does not have")
	}
	return len(p), nil
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []string
		code    int
		out     string
		stderr  string
	}{
		{"nothing", role("say", "", "", "0"), 0, "", ""},
		{"last words", role("say", "out", "err\nerr", "7"), 7, "out", "err\nerr"},
		{"killed", role("suicide"), 137, "", ""},
		{"more than the pipes hold", role("fill", "3000000", "2000000"), 0, strings.Repeat("o", 3e6), strings.Repeat("e", 2e6)},
		{"SIGPIPE and SIGHUP as usual", role("pipe"), 0, "false false\n", ""},
		{"SIGHUP ignored", role("nohup", role("pipe")...), 0, "false true\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.code == 137 {
				t.Skip("no signals")
			}
			in, client := io.Pipe()
			defer client.Close()
			var out, stderr bytes.Buffer
			m := &memory{}
			p := &proxy.Proxy{Command: tt.command, In: in, Out: &out, Err: &stderr, Journal: m}
			status(t, run(t.Context(), p), tt.code)
			if out.String() != tt.out {
				t.Errorf("got stdout %s, want %s", short(out.String()), short(tt.out))
			}
			if stderr.String() != tt.stderr {
				t.Errorf("got stderr %s, want %s", short(stderr.String()), short(tt.stderr))
			}
			m.check(t, wire.AgentToClient, tt.out)
			m.check(t, wire.AgentStderr, tt.stderr)
			if m.code != tt.code || !strings.HasPrefix(m.log[len(m.log)-1], "exit ") {
				t.Errorf("got %q as the last of the journal and code %d, want the exit with %d", m.log[len(m.log)-1], m.code, tt.code)
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	plain, garbage, script := filepath.Join(dir, "plain"), filepath.Join(dir, "garbage"), filepath.Join(dir, "script")
	err := errors.Join(
		os.WriteFile(plain, []byte("text"), 0o600),
		os.WriteFile(garbage, []byte("text"), 0o700),
		os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		command []string
		code    int
		want    string
	}{
		{"not in PATH", []string{"acptap-no-such-agent"}, 127, `starting agent "acptap-no-such-agent": executable file not found in $PATH`},
		{"no such file", []string{"./no-such-agent"}, 127, `starting agent "./no-such-agent": no such file or directory`},
		{"not executable", []string{plain}, 126, `starting agent "` + plain + `": permission denied: it is not executable`},
		{"a directory", []string{dir}, 126, `starting agent "` + dir + `": permission denied: it is a directory`},
		{"no interpreter", []string{script}, 127, `starting agent "` + script + `": no such file or directory: the interpreter that its first line names`},
		{"no program", []string{garbage}, 126, `starting agent "` + garbage + `": exec format error`},
		{"no command", nil, 127, `starting agent "": executable file not found in $PATH`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("says it in other words")
			}
			m := &memory{}
			err := run(t.Context(), &proxy.Proxy{Command: tt.command, Journal: m})
			var start *proxy.StartError
			if !errors.As(err, &start) || start.Code != tt.code || err.Error() != tt.want {
				t.Errorf("got %v (%+v), want %s (code %d)", err, start, tt.want, tt.code)
			}
			if !slices.Equal(m.log, []string{tt.want}) || m.code != tt.code {
				t.Errorf("got %q and code %d in the journal, want the error and %d", m.log, m.code, tt.code)
			}
		})
	}
}

// Recording never breaks the traffic.
func TestJournalFails(t *testing.T) {
	var out bytes.Buffer
	m := &memory{err: errors.New("no space left on device")}
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("{}\n"), Out: &out, Err: io.Discard, Journal: m}
	status(t, run(t.Context(), p), 0)
	if out.String() != "{}\n" {
		t.Errorf("got %q, want the bytes of the client", out.String())
	}
}

func TestNoJournal(t *testing.T) {
	var out bytes.Buffer
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("{}\n"), Out: &out, Err: io.Discard}
	status(t, run(t.Context(), p), 0)
	if out.String() != "{}\n" {
		t.Errorf("got %q, want the bytes of the client", out.String())
	}
}

// An agent that writes before it reads does not block a client that does the same, as far as
// the agent's pipes hold the data.
func TestNobodyReads(t *testing.T) {
	m := &memory{}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("fill", "2000000", "2000000"), Journal: m})
	if _, err := c.in.Write(bytes.Repeat([]byte("i"), 60<<10)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, c.out); n != 2e6 || err != nil {
		t.Errorf("got %d bytes, %v, want 2000000", n, err)
	}
	c.end(t, 0)
}

// The client sees the end of stdout when the agent closes it, not only when it
// exits.
func TestAgentClosesStdout(t *testing.T) {
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("mute")})
	if rest, err := io.ReadAll(c.out); len(rest) > 0 || err != nil {
		t.Errorf("got %q, %v, want the end", rest, err)
	}
	select {
	case err := <-c.done:
		t.Fatalf("Run returned %v before the agent has ended", err)
	default:
	}
	c.in.Close()
	c.end(t, 3)
}

// The client's writes fail once the agent has closed its stdin; later output of the agent
// still arrives.
func TestAgentClosesStdin(t *testing.T) {
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("deaf")})
	c.line(t)
	var err error
	for range 1000 {
		if _, err = c.in.Write([]byte("{}\n")); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("the client can write on and on")
	}
	if got := c.line(t); got != "late" {
		t.Errorf("got %q, want late", got)
	}
	c.end(t, 4)
}

// After the client has left, the agent's remaining output is recorded, and the agent is made
// to end.
func TestClientGone(t *testing.T) {
	l := newLeash(t)
	m := &memory{}
	p := &proxy.Proxy{
		Command:  role("stubborn", l.address),
		In:       blocked(t),
		Out:      broken{},
		Err:      io.Discard,
		Journal:  m,
		Patience: 50 * time.Millisecond,
	}
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), p) }()
	gone, _ := l.held(t)
	status(t, <-done, 137)
	wait(t, "the agent's end", gone)
	m.check(t, wire.AgentToClient, "ready\n")
	if m.delivered[wire.AgentToClient] != 0 {
		t.Errorf("got %d bytes delivered, want none", m.delivered[wire.AgentToClient])
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// blocked returns a reader that gives nothing until the end of the test.
func blocked(t testing.TB) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

func TestContext(t *testing.T) {
	l := newLeash(t)
	for _, tt := range []struct {
		name     string
		command  []string
		patience time.Duration
		code     int
	}{
		{"ends with its stdin", role("echo"), 10 * time.Second, 0},
		{"ends by SIGTERM", role("trap", "9"), time.Second, 9},
		{"must be killed", role("stubborn", l.address), 50 * time.Millisecond, 137},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("no signals")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := begin(t, ctx, &proxy.Proxy{Command: tt.command, Patience: tt.patience})
			if tt.code == 0 {
				c.in.Write([]byte("{}\n"))
			}
			c.line(t)
			cancel()
			c.end(t, tt.code)
		})
	}
}

// Processes that an agent leaves behind may hold its pipes open: all their output passes, but
// the exit status does not wait while they are silent.
func TestOrphan(t *testing.T) {
	l := newLeash(t)
	c := begin(t, t.Context(), &proxy.Proxy{
		Command: role("launch", "5", "drip", "10", l.address),
		Linger:  time.Second, // many times the pause between two drips
	})
	gone, cut := l.held(t)
	out, err := io.ReadAll(c.out)
	if got := strings.Count(string(out), "drip"); got != 10 || err != nil {
		t.Errorf("got %d lines, %v, want 10", got, err)
	}
	c.end(t, 5)
	select {
	case <-gone:
		t.Error("the process that the agent left behind has ended")
	default:
	}
	cut()
	wait(t, "the end of what was left", gone)
}

// If the proxy is killed, so is an agent that would not end by itself.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the parent's death signal")
	}
	l := newLeash(t)
	command := role("proxy", role("stubborn", l.address)...)
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone, _ := l.held(t)
	cmd.Process.Kill()
	cmd.Wait()
	wait(t, "the agent's end", gone)
}

// A client that closes its end of our stdout does not end us by SIGPIPE.
func TestBrokenStdout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	command := role("proxy", role("fill", "100000", "10")...)
	cmd := exec.Command(command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("got %v, want the agent's status", err)
	}
	if stderr.String() != "eeeeeeeeee" {
		t.Errorf("got stderr %q, want what the agent wrote later", stderr.String())
	}
}
