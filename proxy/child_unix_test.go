//go:build unix

package proxy_test

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
)

func TestSignals(t *testing.T) {
	l := newLeash(t)
	for _, tt := range []struct {
		name    string
		command []string
		sig     syscall.Signal
		code    int
		leashed bool
	}{
		{"a handler", role("trap", "9"), syscall.SIGTERM, 9, false},
		{"default action", role("trap", "9"), syscall.SIGHUP, 129, false},
		{"SIGINT", role("trap", "9"), syscall.SIGINT, 130, false},
		{"stubborn", role("stubborn", l.address), syscall.SIGTERM, 137, true},
		{"stubborn behind a launcher", role("launch", "never", "stubborn", l.address), syscall.SIGTERM, 143, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &memory{}
			patience := 10 * time.Second // to end, however busy the machine
			if tt.leashed {
				patience = 50 * time.Millisecond // it does not
			}
			c := begin(t, t.Context(), &proxy.Proxy{
				Command:  tt.command,
				Journal:  m,
				Patience: patience,
				Linger:   200 * time.Millisecond,
			})
			c.line(t)
			if err := syscall.Kill(os.Getpid(), tt.sig); err != nil {
				t.Fatal(err)
			}
			if tt.leashed {
				gone, _ := l.held(t)
				wait(t, "the agent's end", gone)
			}
			c.end(t, tt.code)
			if want := "signal " + tt.sig.String(); !m.has(want) {
				t.Errorf("got %q, want %q in it", m.log, want)
			}
		})
	}
}

// Descriptors that somebody else made non-blocking lose nothing.
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
	status(t, p.Run(t.Context()), 0)
	wait(t, "the end of stdout", done)
	if got != 2e6 {
		t.Errorf("got %d bytes, want 2000000", got)
	}
}
