package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// The test binary is every other process too: called with role:NAME it plays
// that part.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], "role:"); ok {
			roles[name](os.Args[2:])
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each agent takes a second to exit
	signal.Stop(warm())                      // the runtime's goroutine for signals, once started, stays
	// nohup has SIGHUP ignored, a shell the others in the background: every agent would
	// inherit that.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(runAll(m))
}

func warm() chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return c
}

// role returns the command that plays a part.
func role(name string, args ...string) []string {
	return append([]string{os.Args[0], "role:" + name}, args...)
}

var roles = map[string]func(args []string){
	"echo": func([]string) { io.Copy(os.Stdout, os.Stdin) },

	// ready N: reads N bytes, says "ready", and echoes the rest.
	"ready": func(args []string) {
		n, _ := strconv.ParseInt(args[0], 10, 64)
		io.CopyN(io.Discard, os.Stdin, n)
		fmt.Println("ready")
		io.Copy(os.Stdout, os.Stdin)
	},

	// say OUT ERR STATUS
	"say": func(args []string) {
		fmt.Fprint(os.Stdout, args[0])
		fmt.Fprint(os.Stderr, args[1])
		code, _ := strconv.Atoi(args[2])
		os.Exit(code)
	},

	// fill N M: writes N bytes to stdout and M to stderr, reading nothing.
	"fill": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		m, _ := strconv.Atoi(args[1])
		os.Stdout.Write(bytes.Repeat([]byte("o"), n))
		os.Stderr.Write(bytes.Repeat([]byte("e"), m))
	},

	// shout N: writes N lines of 2000 bytes before it reads anything.
	"shout": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		for range n {
			fmt.Println(strings.Repeat("x", 1999))
		}
		io.Copy(io.Discard, os.Stdin)
	},

	"suicide": func([]string) {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	},

	// trap STATUS: says "ready", and at SIGTERM exits with STATUS.
	"trap": func(args []string) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	},

	// ask: says "hello", begins a line, and ends at a signal only.
	"ask": func([]string) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		os.Stdout.WriteString("hello\n> ")
		<-c
	},

	// half N: writes N bytes of a line, and the end of it a while after it has
	// read one; then it reads on.
	"half": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		os.Stdout.Write(bytes.Repeat([]byte("x"), n))
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		time.Sleep(300 * time.Millisecond)
		fmt.Println("end")
		io.Copy(io.Discard, in)
	},

	// hear NUMBER...: catches these signals, says which come, and echoes.
	"hear": func(args []string) {
		c := make(chan os.Signal, len(args))
		for _, arg := range args {
			n, _ := strconv.Atoi(arg)
			signal.Notify(c, syscall.Signal(n))
		}
		fmt.Println("ready")
		go func() {
			for sig := range c {
				fmt.Println("heard", int(sig.(syscall.Signal)))
			}
		}()
		io.Copy(os.Stdout, os.Stdin)
	},

	// linger: at SIGTERM says "bye" after a while, and exits.
	"linger": func([]string) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		time.Sleep(200 * time.Millisecond)
		fmt.Println("bye")
	},

	// stubborn ADDRESS: ends neither at EOF nor at SIGTERM.
	"stubborn": func(args []string) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		leashed(args)
		fmt.Println("ready")
		select {}
	},

	// deaf: closes stdin, says "deaf", and a while later "late".
	"deaf": func([]string) {
		os.Stdin.Close()
		fmt.Println("deaf")
		time.Sleep(200 * time.Millisecond)
		fmt.Println("late")
		os.Exit(4)
	},

	// mute: closes stdout at once and lives until the end of stdin.
	"mute": func([]string) {
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	},

	// launch STATUS NAME ARGS...: starts another role with the same streams, and
	// exits or, if STATUS is "never", does not.
	"launch": func(args []string) {
		cmd := exec.Command(os.Args[0], append([]string{"role:" + args[1]}, args[2:]...)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		if args[0] == "never" {
			cmd.Wait()
		}
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	},

	// drip N ADDRESS: a line each 20 ms, N of them, then silence.
	"drip": func(args []string) {
		leashed(args[1:])
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			time.Sleep(20 * time.Millisecond)
			fmt.Println("drip", i)
		}
		select {}
	},

	// pipe: says whether SIGPIPE and SIGHUP are ignored.
	"pipe": func([]string) { fmt.Println(signal.Ignored(syscall.SIGPIPE), signal.Ignored(syscall.SIGHUP)) },

	// proxy COMMAND...
	"proxy": through,

	// nohup COMMAND...: the same with SIGHUP ignored.
	"nohup": func(args []string) {
		signal.Ignore(syscall.SIGHUP)
		through(args)
	},

	// intercept CHAIN COMMAND...: with interceptors that pass everything: idle ones,
	// some that see the client's frames only, and blind ones that see nothing.
	"intercept": func(args []string) {
		var all []proxy.Interceptor
		for name := range strings.SplitSeq(args[0], ",") {
			all = append(all, map[string]proxy.Interceptor{
				"idle":   idle{},
				"client": selective{wants: [2]bool{wire.ClientToAgent: true}},
				"blind":  selective{},
			}[name])
		}
		(&proxy.Proxy{Command: args[1:], Interceptors: all}).Run(context.Background())
	},

	// stream SIZE: lines without end, each with one write.
	"stream": func(args []string) {
		size, _ := strconv.Atoi(args[0])
		line := append(bytes.Repeat([]byte("x"), size-1), '\n')
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				os.Exit(1)
			}
		}
	},
}

func through(args []string) {
	err := run(context.Background(), &proxy.Proxy{Command: args})
	var exit *proxy.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.Code)
	}
}

// leashed ties a process to whoever listens on the address args[0], if there
// is one: the connection lives as long as the process, and the process no
// longer than the connection.
func leashed(args []string) {
	if len(args) == 0 {
		return
	}
	c, err := net.Dial("unix", args[0])
	if err != nil {
		os.Exit(98)
	}
	go func() {
		io.Copy(io.Discard, c)
		os.Exit(97)
	}()
}

// A leash tells of the end of a process that holds its other end, and can end
// it.
type leash struct {
	address string
	l       net.Listener
}

func newLeash(t testing.TB) *leash {
	t.Helper()
	dir, err := os.MkdirTemp("", "leash") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := filepath.Join(dir, "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &leash{address, l}
}

// held waits for the process to take its end. It returns a channel that is
// closed when the process has gone, and a function that makes it go.
func (l *leash) held(t testing.TB) (gone <-chan struct{}, cut func()) {
	t.Helper()
	c, err := l.l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.Close()
		io.Copy(io.Discard, c)
	}()
	cut = func() { c.(*net.UnixConn).CloseWrite() }
	t.Cleanup(cut)
	return done, cut
}

// A memory is a Journal.
type memory struct {
	mu        sync.Mutex
	sent      [wire.Directions]bytes.Buffer // what the writers wrote
	received  [wire.Directions]bytes.Buffer // what was forwarded
	log       []string                      // everything but Wire
	code      int
	delivered [wire.Directions]int64
	appended  func(m *memory, dir wire.Direction, p []byte) // called under mu; may be nil
	err       error                                         // of Append
}

func (m *memory) Append(dir wire.Direction, origin wire.Origin, p []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if origin.Sent() {
		m.sent[dir].Write(p)
	}
	if origin.Received() {
		m.received[dir].Write(p)
	}
	if m.appended != nil {
		m.appended(m, dir, p)
	}
	for line := range bytes.Lines(p) {
		if dir != wire.AgentStderr {
			m.log = append(m.log, fmt.Sprintf("%v %v %s", dir, origin, bytes.TrimRight(line, "\n")))
		}
	}
	return m.err
}

func (m *memory) EOF(dir wire.Direction) { m.note("eof %v", dir) }

func (m *memory) ReadFailed(dir wire.Direction, err error) { m.note("cannot read %v: %v", dir, err) }

func (m *memory) Fault(err error) { m.note("fault %v", err) }

func (m *memory) Signal(sig os.Signal) { m.note("signal %v", sig) }

func (m *memory) Note(dir wire.Direction, mark wire.Marked) {
	if mark.Rule != nil && mark.Rule.Name == "rules" {
		return // the first and the last mark of idleRules
	}
	m.note("note %v %s", dir, mark.JSON())
}

func (m *memory) Exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	m.note("exit %d %v", code, sig)
	m.code, m.delivered = code, delivered
}

func (m *memory) StartFailed(code int, err error) {
	m.note("%v", err)
	m.code = code
}

func (m *memory) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *memory) has(line string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.log, line)
}

func (m *memory) check(t testing.TB, dir wire.Direction, want string) {
	t.Helper()
	if got := m.sent[dir].String(); got != want {
		t.Errorf("the journal has %s %s, want %s", dir, short(got), short(want))
	}
}

func short(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%d bytes %.80q…%q", len(s), s, s[len(s)-40:])
	}
	return fmt.Sprintf("%q", s)
}

// A client is a proxy that runs, from the client's side.
type client struct {
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error // what Run returned
}

// begin runs p between pipes, and checks at the end that no goroutine is left.
func begin(t testing.TB, ctx context.Context, p *proxy.Proxy) *client {
	t.Helper()
	before := runtime.NumGoroutine()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p.In, p.Out = inR, outW
	if p.Err == nil {
		p.Err = io.Discard
	}
	c := &client{in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		settle(t, before)
	})
	go func() { c.done <- run(ctx, p) }()
	return c
}

func (c *client) line(t testing.TB) string {
	t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("got %q, %v, want a line", s, err)
	}
	return strings.TrimSuffix(s, "\n")
}

// end waits for Run to return and for the status that it gives.
func (c *client) end(t testing.TB, code int) {
	t.Helper()
	select {
	case err := <-c.done:
		status(t, err, code)
	case <-time.After(time.Minute):
		t.Fatal("Run does not return")
	}
}

func status(t testing.TB, err error, want int) {
	t.Helper()
	got := 0
	if exit := (*proxy.ExitError)(nil); errors.As(err, &exit) {
		got = exit.Code
	} else if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got status %d (%v), want %d", got, err, want)
	}
}

func settle(t testing.TB, goroutines int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Fatalf("got %d goroutines, want %d:\n%s", runtime.NumGoroutine(), goroutines, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func wait(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not happen", what)
	}
}
