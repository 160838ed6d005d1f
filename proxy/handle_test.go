package proxy_test

import (
	"bufio"
	"context"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// An Interceptor sends the agent a signal.
func TestHandleSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	s, m := &script{}, &memory{}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if string(f.Raw) == "kill" {
			s.Signal(syscall.SIGTERM)
		}
		return append(out, f)
	}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("trap", "9"), Journal: m, Interceptors: chain(s)})
	c.line(t)
	io.WriteString(c.in, "kill\n")
	c.end(t, 9)
	if !m.has("signal terminated") {
		t.Errorf("got %q in the journal, want the signal", m.log)
	}
	s.Signal(syscall.SIGTERM) // to nobody
}

// The client sees the end of stdout after the frame at which the Interceptor hangs up. The
// agent continues, and its output is on the tape.
func TestHandleHangUp(t *testing.T) {
	for _, within := range []bool{true, false} {
		s, m := &script{}, &memory{}
		s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
			if f.Dir == wire.AgentToClient && string(f.Raw) == "bye" {
				s.HangUp()
			}
			return append(out, f)
		}
		c := begin(t, t.Context(), &proxy.Proxy{Journal: m, Interceptors: chain(s), Peer: peer(func(in *bufio.Reader, out, _ io.Writer) int {
			if within {
				io.WriteString(out, "one\nbye\ntwo\n")
			} else {
				io.WriteString(out, "one\n")
				in.ReadString('\n')
				s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "bye")) })
				s.HangUp()
			}
			io.Copy(io.Discard, in)
			io.WriteString(out, "three\n")
			return 3
		})})
		if !within {
			c.line(t)
			io.WriteString(c.in, "go on\n")
		}
		got, err := io.ReadAll(c.out)
		if err != nil || !strings.HasSuffix(string(got), "bye\n") {
			t.Errorf("got %q, %v, want nothing behind bye", got, err)
		}
		io.WriteString(c.in, "still here\n")
		select {
		case <-c.done:
			t.Error("Run has returned")
		default:
		}
		c.in.Close()
		c.end(t, 3)
		if !m.has("a2c wire three") || m.delivered[wire.AgentToClient] != int64(len("one\nbye\n")) {
			t.Errorf("got %q in the journal and %d bytes delivered, want all that the agent said, and 8", m.log, m.delivered[wire.AgentToClient])
		}
	}
}

// An agent dies in the middle of a frame, with any status.
func TestHandleExit(t *testing.T) {
	for _, tt := range []struct {
		name string
		code int
		sig  syscall.Signal
	}{
		{"a status", 7, 0},
		{"no trouble", 0, 0},
		{"a signal", 139, syscall.SIGSEGV},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLeash(t)
			s, m := &script{}, &memory{}
			s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if f.Dir == wire.AgentToClient && string(f.Raw) == "ready" {
					f.Raw, f.End, f.Origin = f.Raw[:3], wire.None, wire.Rewritten
					if tt.sig != 0 {
						s.Exit(tt.code, tt.sig)
					} else {
						s.Exit(tt.code, nil)
					}
				}
				return append(out, f)
			}
			c := begin(t, t.Context(), &proxy.Proxy{Command: role("stubborn", l.address), Journal: m, Interceptors: chain(s)})
			gone, _ := l.held(t)
			if got, err := io.ReadAll(c.out); string(got) != "rea" || err != nil {
				t.Errorf("got %q, %v, want the beginning of the frame", got, err)
			}
			wait(t, "the agent's end", gone)
			c.end(t, tt.code)
			if m.code != tt.code || m.delivered[wire.AgentToClient] != 3 {
				t.Errorf("got status %d and %d bytes delivered in the journal, want %d and 3", m.code, m.delivered[wire.AgentToClient], tt.code)
			}
		})
	}
}

// So it does though an Interceptor keeps the end of its stream back.
func TestHandleExitAtEnd(t *testing.T) {
	s := &script{ready: [2]<-chan struct{}{wire.AgentToClient: make(chan struct{})}}
	s.end = func(dir wire.Direction, out []wire.Frame) []wire.Frame {
		if dir == wire.AgentToClient {
			s.Exit(7, nil)
		}
		return out
	}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("say", "bye\n", "", "0"), Interceptors: chain(s)})
	if got := c.line(t); got != "bye" {
		t.Errorf("got %q, want bye", got)
	}
	c.end(t, 7)
}

// Calls of the Handle after Run has returned do nothing.
func TestHandleAfterRun(t *testing.T) {
	s := &script{}
	c := begin(t, context.Background(), &proxy.Proxy{Command: role("say", "", "", "4"), Interceptors: chain(s)})
	c.end(t, 4)
	s.HangUp()
	s.Exit(5, nil)
	s.Signal(syscall.SIGTERM)
}
