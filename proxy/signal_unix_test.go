//go:build unix

package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
)

// Signals are passed on, and that is all: an agent that handles one lives on, and
// so does the proxy.
func TestSignals(t *testing.T) {
	signals := []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT,
	}
	var numbers []string
	for _, sig := range signals {
		numbers = append(numbers, strconv.Itoa(int(sig)))
	}
	m := &memory{}
	c := begin(t, t.Context(), &proxy.Proxy{
		Command:  role("hear", numbers...),
		Journal:  m,
		Patience: time.Millisecond,
		Linger:   time.Millisecond,
	})
	c.line(t)
	for _, sig := range signals {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		if got, want := c.line(t), fmt.Sprint("heard ", int(sig)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if want := "signal " + sig.String(); !m.has(want) {
			t.Errorf("got %q, want %q in it", m.log, want)
		}
	}
	io.WriteString(c.in, "still here\n")
	if got := c.line(t); got != "still here" {
		t.Errorf("got %q, want what the client sent", got)
	}
	c.in.Close()
	c.end(t, 0)
}

// An agent that ends by a signal ends the proxy, with the status of a shell.
func TestDeadlySignals(t *testing.T) {
	for _, tt := range []struct {
		name string
		sig  syscall.Signal
		code int
	}{
		{"a handler", syscall.SIGTERM, 9},
		{"default action", syscall.SIGHUP, 129},
		{"SIGINT", syscall.SIGINT, 130},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(t, t.Context(), &proxy.Proxy{Command: role("trap", "9")})
			c.line(t)
			if err := syscall.Kill(os.Getpid(), tt.sig); err != nil {
				t.Fatal(err)
			}
			c.end(t, tt.code)
		})
	}
}

// Processes started by a launcher get the signal too, and may take some time after the
// launcher has ended, but not forever.
func TestSignalBehindLauncher(t *testing.T) {
	l := newLeash(t)
	for _, tt := range []struct {
		name     string
		command  []string
		patience time.Duration
		last     string
	}{
		{"takes its time", role("launch", "never", "linger"), time.Minute, "bye"},
		{"stubborn", role("launch", "never", "stubborn", l.address), 50 * time.Millisecond, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(t, t.Context(), &proxy.Proxy{Command: tt.command, Patience: tt.patience, Linger: 20 * time.Millisecond})
			c.line(t)
			if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if tt.last != "" {
				if got := c.line(t); got != tt.last {
					t.Errorf("got %q, want %q", got, tt.last)
				}
			}
			c.end(t, 143)
			if tt.last == "" {
				gone, _ := l.held(t)
				select {
				case <-gone:
					t.Error("what ignores the signal was ended")
				default:
				}
			}
		})
	}
}

// A proxy stops if its agent does, and both go on together.
func TestStop(t *testing.T) {
	command := role("proxy", role("echo")...)
	cmd := exec.Command(command[0], command[1:]...)
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
	defer cmd.Process.Kill()
	lines := bufio.NewReader(out)
	for range 3 {
		io.WriteString(in, "at work\n")
		if got, err := lines.ReadString('\n'); got != "at work\n" {
			t.Fatalf("got %q, %v, want what was sent", got, err)
		}
		if err := cmd.Process.Signal(syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("got status %#x, %v, want that the proxy has stopped", status, err)
		}
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("got %v, want the agent's status", err)
	}
}

// If another process makes descriptors non-blocking, no data is lost.
func TestNonblocking(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Fd makes it blocking, and the runtime takes it for that from now on.
	if err := syscall.SetNonblock(int(w.Fd()), true); err != nil {
		t.Fatal(err)
	}
	var got int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(50 * time.Millisecond)
		got, _ = io.Copy(io.Discard, r)
	}()
	p := &proxy.Proxy{Command: role("fill", "2000000", "0"), In: blocked(t), Out: w, Err: io.Discard}
	status(t, run(t.Context(), p), 0)
	wait(t, "the end of stdout", done)
	if got != 2e6 {
		t.Errorf("got %d bytes, want 2000000", got)
	}
}
