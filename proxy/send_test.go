package proxy_test

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// Thousands of frames from a goroutine of the interceptor leave in order and no
// faster than the client reads, and other frames pass meanwhile.
func TestReplay(t *testing.T) {
	const frames = 5000
	s := &script{}
	text := strings.Repeat("x", 1000)
	sent := make(chan int, frames)
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if f.Dir == wire.ClientToAgent && string(f.Raw) == "load" {
			go func() {
				for i := range frames {
					s.Do(func(out []wire.Frame) []wire.Frame {
						return append(out, frame(wire.AgentToClient, strconv.Itoa(i)+" "+text))
					})
					sent <- i
				}
				s.Do(func(out []wire.Frame) []wire.Frame {
					return append(out, frame(wire.AgentToClient, "loaded"))
				})
			}()
			return out
		}
		return append(out, f)
	}
	passed := make(chan struct{})
	m := &memory{appended: func(_ *memory, dir wire.Direction, p []byte) {
		if dir == wire.ClientToAgent && string(p) == "ping\n" {
			close(passed)
		}
	}}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("echo"), Journal: m, Interceptors: chain(s)})
	io.WriteString(c.in, "load\n")
	io.WriteString(c.in, "ping\n") // while the client does not read
	wait(t, "the ping's way to the agent", passed)
	if n := len(sent); n > 2 {
		t.Errorf("got %d frames sent, want the sender to wait for the client", n)
	}
	next := 0
	for {
		line := c.line(t)
		if line == "loaded" {
			break
		}
		if line == "ping" {
			continue
		}
		if n, _, _ := strings.Cut(line, " "); n != strconv.Itoa(next) {
			t.Fatalf("got frame %s, want %d", n, next)
		}
		next++
	}
	if next != frames {
		t.Errorf("got %d frames, want %d", next, frames)
	}
	c.in.Close()
	go io.Copy(io.Discard, c.out)
	c.end(t, 0)
	if s.Do(func([]wire.Frame) []wire.Frame { panic("called") }) {
		t.Error("do says that Run is not over")
	}
}

// A client that answers only after its own frames were read does not block an agent whose
// frames must pass first.
func TestNobodyReadsIntercepted(t *testing.T) {
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("shout", "1000"), Interceptors: chain(&script{})})
	if _, err := c.in.Write(bytes.Repeat([]byte("i\n"), 30<<10)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, c.out, 2e6); err != nil {
		t.Errorf("got %d bytes, %v, want 2000000", n, err)
	}
	c.in.Close()
	c.end(t, 0)
}

// An agent that speaks before it reads is heard, though a large frame is on its
// way to it and each of its own makes the interceptor send it something.
func TestSendAgainstTheStream(t *testing.T) {
	const lines = 2000
	m := &memory{}
	s := &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
		out = append(out, f)
		if f.Dir == wire.AgentToClient {
			out = append(out, frame(wire.ClientToAgent, "heard"))
		}
		return out
	}}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("shout", strconv.Itoa(lines)), Journal: m, Interceptors: chain(s)})
	if _, err := io.WriteString(c.in, strings.Repeat("i", 8<<20)+"\n"); err != nil {
		t.Fatal(err)
	}
	for range lines {
		c.line(t)
	}
	c.in.Close()
	c.end(t, 0)
	if got := bytes.Count(m.received[wire.ClientToAgent].Bytes(), []byte("heard\n")); got != lines {
		t.Errorf("the agent got %d frames of the interceptor, want %d", got, lines)
	}
}

// Frames sent to the client do not wait for an agent that does not read.
func TestSendPastTheDeaf(t *testing.T) {
	s := &script{}
	noted := make(chan struct{})
	m := &memory{appended: func(_ *memory, dir wire.Direction, _ []byte) {
		if dir == wire.ClientToAgent {
			close(noted) // once: the client sends one frame
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := begin(t, ctx, &proxy.Proxy{
		Command:      role("stubborn"),
		Journal:      m,
		Interceptors: chain(s),
		Patience:     10 * time.Millisecond,
	})
	c.line(t)
	if _, err := io.WriteString(c.in, strings.Repeat("i", 1<<20)+"\n"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the frame's way to the agent", noted)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "news")) })
	}()
	if got := c.line(t); got != "news" {
		t.Errorf("got %q, want news", got)
	}
	wait(t, "the return of do", sent)
	cancel()
	c.end(t, 137)
}

// A deaf writer is a client that reads nothing.
type deaf struct{ begun, released chan struct{} }

func (d deaf) Write(p []byte) (int, error) {
	close(d.begun) // there is one write
	<-d.released
	return len(p), nil
}

// A slow reader gets each frame once; it learns when no more is wanted.
type slow struct{ text, closed chan struct{} }

func (s slow) Read(p []byte) (int, error) {
	<-s.text
	return copy(p, "late\n"), nil
}

func (s slow) Close() error { close(s.closed); return nil }

// After Run has returned, the Interceptor is not called any more: frames that it was sending
// to a client that does not read do not block it, and it sees no further frames.
func TestInterceptorAfterRun(t *testing.T) {
	s := &script{}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		t.Errorf("%q was shown", f.Raw)
		return append(out, f)
	}
	client := deaf{make(chan struct{}), make(chan struct{})}
	defer close(client.released)
	in := slow{make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended, sent := make(chan struct{}), make(chan struct{})
	started := make(chan struct{})
	start := starter{s, started}
	go func() {
		defer close(ended)
		p := &proxy.Proxy{Command: role("echo"), In: in, Out: client, Err: io.Discard, Interceptors: chain(start), Patience: time.Millisecond, Linger: 10 * time.Millisecond}
		run(ctx, p)
	}()
	wait(t, "the start", started)
	go func() {
		defer close(sent)
		s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "news")) })
	}()
	wait(t, "the write", client.begun)
	cancel()
	wait(t, "the end of Run", ended)
	wait(t, "the return of do", sent)
	close(in.text)
	wait(t, "the end of the client's stream", in.closed)
}

// A starter tells when a script has been started.
type starter struct {
	*script
	started chan struct{}
}

func (s starter) Start(h proxy.Handle) {
	s.script.Start(h)
	close(s.started)
}
