package proxy_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// complaints are what Run complains of.
type complaints struct {
	mu  sync.Mutex
	got []string
}

func (c *complaints) add(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, alone(err.Error()))
}

// check wants one complaint, which begins so.
func (c *complaints) check(t *testing.T, want string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.got) != 1 || !strings.HasPrefix(c.got[0], want) || !strings.HasSuffix(c.got[0], ")") {
		t.Errorf("got the complaints %q, want one that begins with %q and ends with a place", c.got, want)
	}
}

// Whatever method of an Interceptor panics, the traffic continues, including frames held
// before, none of them twice. The agent echoes.
func TestInterceptorPanics(t *testing.T) {
	const c2a, a2c = wire.ClientToAgent, wire.AgentToClient
	hold := func(s *script, f wire.Frame, out []wire.Frame) []wire.Frame {
		if f.Dir == c2a && string(f.Raw) == "held" {
			f.Raw = bytes.Clone(f.Raw)
			s.held = append(s.held, f)
			return out
		}
		return append(out, f)
	}
	const in = "one\nheld\r\ntwo\nthree"
	for _, tt := range []struct {
		name  string
		frame func(s *script, f wire.Frame, out []wire.Frame) []wire.Frame
		end   func(dir wire.Direction)
		out   string
	}{
		{
			name: "at a frame of the client",
			frame: func(s *script, f wire.Frame, out []wire.Frame) []wire.Frame {
				if string(f.Raw) == "two" {
					_ = append(out, frame(c2a, "never"), f)
					panic("boom")
				}
				return hold(s, f, out)
			},
			out: in,
		},
		{
			name: "at a frame of the agent",
			frame: func(s *script, f wire.Frame, out []wire.Frame) []wire.Frame {
				if f.Dir == a2c && string(f.Raw) == "three" { // all of the client's has been shown
					panic("boom")
				}
				return hold(s, f, out)
			},
			out: "one\ntwo\nthree",
		},
		{
			name: "a frame that goes nowhere",
			frame: func(s *script, f wire.Frame, out []wire.Frame) []wire.Frame {
				if string(f.Raw) == "two" {
					return append(out, f, frame(wire.Directions, "boom"))
				}
				return hold(s, f, out)
			},
			out: in,
		},
		{
			name: "at the end of the client's stream",
			end: func(dir wire.Direction) {
				if dir == c2a {
					panic("boom")
				}
			},
			frame: hold,
			out:   "one\ntwo\nthree" + "held\r\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			var c complaints
			m, s := &memory{}, &script{}
			s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if m.faults() {
					t.Errorf("%q is shown", f.Raw)
				}
				return tt.frame(s, f, out)
			}
			s.end = func(dir wire.Direction, out []wire.Frame) []wire.Frame {
				if tt.end != nil {
					tt.end(dir)
				}
				return out
			}
			p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader(in), Out: &out, Err: io.Discard, Journal: m, Interceptors: chain(s), Complain: c.add}
			status(t, run(t.Context(), p), 0)
			if out.String() != tt.out {
				t.Errorf("got %q, want %q", out.String(), tt.out)
			}
			m.check(t, c2a, in)
			c.check(t, "interceptor: panic: ")
			if !m.faults() {
				t.Errorf("got %q in the journal, want the fault in it", m.log)
			}
			if n := strings.Count(m.received[c2a].String(), "held"); n > 1 {
				t.Errorf("the agent got what was held %d times", n)
			}
		})
	}
}

// faults reports whether a fault was noted.
func (m *memory) faults() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.log, func(line string) bool { return strings.HasPrefix(line, "fault ") })
}

// The beginning of a line is not kept for an interceptor that is not there any
// more, and an end of a stream that it kept back is passed on.
func TestInterceptorPanicsByItself(t *testing.T) {
	withoutOthers(t)
	shown, ended := make(chan struct{}), make(chan struct{})
	s, m := &script{ready: [2]<-chan struct{}{make(chan struct{})}}, &memory{}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if string(f.Raw) == "x" {
			close(shown)
		}
		return append(out, f)
	}
	s.end = func(dir wire.Direction, out []wire.Frame) []wire.Frame {
		close(ended)
		return out
	}
	boom := func([]wire.Frame) []wire.Frame { panic("boom") }
	for _, tt := range []struct {
		name string
		act  func(t *testing.T, c *client)
	}{
		{"in a line", func(t *testing.T, c *client) {
			io.WriteString(c.in, "x\npar")
			wait(t, "the sight of the frame", shown)
			if s.Do(boom) {
				t.Error("do says that the act was sent")
			}
			if got := c.line(t); got != "ready" {
				t.Errorf("got %q, want that the agent has the beginning of the line", got)
			}
			io.WriteString(c.in, "tial\n")
			if got := c.line(t); got != "tial" {
				t.Errorf("got %q, want the rest of the line", got)
			}
			c.in.Close()
		}},
		{"at the end", func(t *testing.T, c *client) {
			io.WriteString(c.in, "x\npar")
			c.in.Close()
			wait(t, "the end of the client's stream", ended)
			s.Do(boom)
			c.line(t)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown, ended = make(chan struct{}), make(chan struct{})
			var told complaints
			c := begin(t, t.Context(), &proxy.Proxy{Command: role("ready", "5"), Journal: m, Interceptors: chain(s), Complain: told.add})
			tt.act(t, c)
			c.end(t, 0)
			told.check(t, "interceptor: panic: boom (interceptor_panic_test.go:")
			if s.Do(boom) {
				t.Error("do says that an act was sent later")
			}
		})
	}
}

// So it is if the last frame of the client, which has no end, is too much.
func TestInterceptorPanicsAtLast(t *testing.T) {
	withoutOthers(t)
	hello := make(chan struct{})
	s := &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
		switch string(f.Raw) {
		case "hello": // and the beginning of the next line came with it
			close(hello)
		case "x":
			panic("boom")
		}
		return append(out, f)
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := begin(t, ctx, &proxy.Proxy{Command: role("ask"), Interceptors: chain(s), Patience: time.Millisecond})
	wait(t, "the sight of the agent's line", hello)
	io.WriteString(c.in, "x")
	c.in.Close()
	c.line(t)
	begun := make(chan struct{})
	go func() {
		c.out.Peek(1)
		close(begun)
	}()
	wait(t, "the beginning of the agent's next line", begun)
	cancel()
	<-c.done // it is killed, if it does not take SIGTERM in time
}

// An Interceptor that panics in Start or Held is bypassed.
func TestInterceptorPanicsTwice(t *testing.T) {
	var out bytes.Buffer
	var c complaints
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("one\n"), Out: &out, Err: io.Discard, Interceptors: chain(hopeless{}), Complain: c.add}
	status(t, run(t.Context(), p), 0)
	if out.String() != "one\n" {
		t.Errorf("got %q, want what the client sent", out.String())
	}
	c.check(t, "interceptor: panic: Start (interceptor_panic_test.go:")
}

// A hopeless interceptor panics whatever it is asked.
type hopeless struct{}

func (hopeless) Start(proxy.Handle)                              { panic("Start") }
func (hopeless) Intercept(wire.Frame, []wire.Frame) []wire.Frame { panic("Intercept") }
func (hopeless) Held() []wire.Frame                              { panic("Held") }
func (hopeless) End(wire.Direction, []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	panic("End")
}

// A Journal that panics ends the recording, not the traffic.
func TestJournalPanics(t *testing.T) {
	for _, at := range []string{"Append", "EOF", "Exit"} {
		for _, intercepted := range []bool{false, true} {
			t.Run(at, func(t *testing.T) {
				var out bytes.Buffer
				var c complaints
				j := &brittle{at: at}
				p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("one\ntwo\n"), Out: &out, Err: io.Discard, Journal: j, Complain: c.add}
				if intercepted {
					p.Interceptors = chain(&script{})
				}
				status(t, run(t.Context(), p), 0)
				if out.String() != "one\ntwo\n" {
					t.Errorf("got %q, want what the client sent", out.String())
				}
				c.check(t, "recording: panic: "+at+" (interceptor_panic_test.go:")
				if n := len(j.log); n == 0 || !strings.HasPrefix(j.log[n-1], "fault ") {
					t.Errorf("got %q in the journal, want the fault as the last", j.log)
				}
			})
		}
	}
	var c complaints
	err := run(t.Context(), &proxy.Proxy{Command: []string{"acptap-no-such-agent"}, Journal: &brittle{at: "StartFailed"}, Complain: c.add})
	if _, ok := err.(*proxy.StartError); !ok {
		t.Errorf("got %v, want a StartError", err)
	}
	c.check(t, "recording: panic: StartFailed (")
}

// A brittle journal panics at one of its methods.
type brittle struct {
	memory
	at string
}

func (b *brittle) reach(method string) {
	if method == b.at {
		panic(method)
	}
}

func (b *brittle) Append(dir wire.Direction, origin wire.Origin, p []byte) error {
	b.reach("Append")
	return b.memory.Append(dir, origin, p)
}

func (b *brittle) EOF(dir wire.Direction) {
	b.reach("EOF")
	b.memory.EOF(dir)
}

func (b *brittle) Exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	b.reach("Exit")
	b.memory.Exit(code, sig, delivered)
}

func (b *brittle) StartFailed(code int, err error) {
	b.reach("StartFailed")
	b.memory.StartFailed(code, err)
}

// A stream that cannot be read has not been closed by its writer.
func TestReadFails(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	p := &proxy.Proxy{Command: role("echo"), In: dir, Out: io.Discard, Err: io.Discard, Journal: m}
	status(t, run(t.Context(), p), 0)
	if m.has("eof c2a") || !slices.ContainsFunc(m.log, func(line string) bool { return strings.HasPrefix(line, "cannot read c2a: ") }) {
		t.Errorf("got %q in the journal, want that the client cannot be read", m.log)
	}
}
