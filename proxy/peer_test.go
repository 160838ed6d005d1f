package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// An agent within the process is like a program: bytes, ends and status pass.
func TestPeer(t *testing.T) {
	var out, stderr bytes.Buffer
	m := &memory{}
	p := &proxy.Proxy{In: strings.NewReader("one\ntwo"), Out: &out, Err: &stderr, Journal: m, Peer: peer(func(in *bufio.Reader, out, err io.Writer) int {
		io.Copy(out, in)
		io.WriteString(err, "done")
		return 7
	})}
	status(t, run(t.Context(), p), 7)
	if out.String() != "one\ntwo" || stderr.String() != "done" {
		t.Errorf("got %q and %q on stderr", out.String(), stderr.String())
	}
	m.check(t, wire.ClientToAgent, "one\ntwo")
	m.check(t, wire.AgentToClient, "one\ntwo")
	m.check(t, wire.AgentStderr, "done")
	if m.code != 7 || !m.has("eof c2a") || !m.has("eof a2c") {
		t.Errorf("got %q in the journal", m.log)
	}
}

// It may write before it reads, as much as a pipe holds, and both sides may write large
// amounts at once.
func TestPeerNobodyReads(t *testing.T) {
	const size = 2e6
	c := begin(t, t.Context(), &proxy.Proxy{Peer: peer(func(in *bufio.Reader, out, err io.Writer) int {
		out.Write(bytes.Repeat([]byte("o"), size))
		err.Write(bytes.Repeat([]byte("e"), size))
		io.Copy(io.Discard, in)
		return 0
	})})
	if _, err := c.in.Write(bytes.Repeat([]byte("i\n"), 25<<10)); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	if n, err := io.Copy(io.Discard, c.out); n != size || err != nil {
		t.Errorf("got %d bytes, %v, want %d", n, err, int(size))
	}
	c.end(t, 0)
}

// It is made to end as a program is.
func TestPeerEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		peer *proxy.Peer
		code int
		sig  os.Signal
	}{
		{"with its stdin", peer(func(in *bufio.Reader, out, _ io.Writer) int {
			io.WriteString(out, "ready\n")
			io.Copy(io.Discard, in)
			return 3
		}), 3, nil},
		{"by SIGTERM", &proxy.Peer{Run: func(ctx context.Context, _ io.Reader, out, _ io.Writer) int {
			io.WriteString(out, "ready\n")
			<-ctx.Done()
			return 3
		}}, 143, syscall.SIGTERM},
		{"by SIGKILL", &proxy.Peer{
			Run: func(ctx context.Context, _ io.Reader, out, _ io.Writer) int {
				io.WriteString(out, "ready\n")
				for { // until its output is no longer read
					if _, err := io.WriteString(out, "still here\n"); err != nil {
						return 3
					}
				}
			},
			Signal: func(os.Signal) {},
		}, 137, syscall.SIGKILL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := begin(t, ctx, &proxy.Proxy{Peer: tt.peer, Patience: 10 * time.Millisecond})
			c.line(t)
			cancel()
			go io.Copy(io.Discard, c.out)
			err := <-c.done
			var exit *proxy.ExitError
			if !errors.As(err, &exit) || exit.Code != tt.code || exit.Signal != tt.sig {
				t.Errorf("got %v (%+v), want status %d", err, exit, tt.code)
			}
		})
	}
}

// It receives signals if it wants to.
func TestPeerSignal(t *testing.T) {
	s := &script{}
	heard := make(chan os.Signal, 1)
	c := begin(t, t.Context(), &proxy.Proxy{Interceptors: chain(s), Peer: &proxy.Peer{
		Run: func(_ context.Context, in io.Reader, out, _ io.Writer) int {
			io.WriteString(out, "ready\n")
			io.WriteString(out, (<-heard).String()+"\n")
			return 0
		},
		Signal: func(sig os.Signal) { heard <- sig },
	}})
	c.line(t)
	s.Signal(syscall.SIGTERM)
	if got := c.line(t); got != "terminated" {
		t.Errorf("got %q, want terminated", got)
	}
	c.end(t, 0)
}

// One that panics has crashed.
func TestPeerPanics(t *testing.T) {
	var stderr bytes.Buffer
	p := &proxy.Proxy{In: blocked(t), Out: io.Discard, Err: &stderr, Peer: peer(func(*bufio.Reader, io.Writer, io.Writer) int { panic("boom") })}
	status(t, run(t.Context(), p), 2)
	if got := stderr.String(); !strings.HasPrefix(got, "panic: boom (peer_test.go:") {
		t.Errorf("got %q on stderr, want the panic", got)
	}
}
