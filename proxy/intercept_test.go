package proxy_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A script is an Interceptor made of functions; a nil one passes everything.
type script struct {
	frame func(f wire.Frame, out []wire.Frame) []wire.Frame
	end   func(dir wire.Direction, out []wire.Frame) []wire.Frame
	ready [2]<-chan struct{} // by direction: what End returns
	do    func(act func(out []wire.Frame) []wire.Frame) bool
}

func (s *script) Start(do func(act func(out []wire.Frame) []wire.Frame) bool) { s.do = do }

func (s *script) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	if s.frame == nil {
		return append(out, f)
	}
	return s.frame(f, out)
}

func (s *script) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	if s.end != nil {
		out = s.end(dir, out)
	}
	return out, s.ready[dir]
}

func frame(dir wire.Direction, text string) wire.Frame {
	return wire.Frame{Dir: dir, Raw: []byte(text)}
}

// The agent echoes, so what reaches it comes back.
func TestIntercept(t *testing.T) {
	const (
		c2a = wire.ClientToAgent
		a2c = wire.AgentToClient
	)
	var held []wire.Frame
	is := func(f wire.Frame, dir wire.Direction, text string) bool {
		return f.Dir == dir && string(f.Raw) == text
	}
	for _, tt := range []struct {
		name  string
		frame func(f wire.Frame, out []wire.Frame) []wire.Frame
		end   func(dir wire.Direction, out []wire.Frame) []wire.Frame
		in    string
		out   string
		log   []string // of the journal, without ends and exit
	}{
		{
			name: "change",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if is(f, c2a, "one") {
					f.Raw, f.Origin = []byte("eins"), wire.Rewritten
				}
				return append(out, f)
			},
			in:  "one\r\n",
			out: "eins\r\n",
			log: []string{"c2a withheld one\r", "c2a rewritten eins\r", "a2c wire eins\r"},
		},
		{
			name: "a change that does not say so",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if f.Dir == c2a {
					f.Raw = []byte("eins")
				}
				return append(out, f)
			},
			in:  "one",
			out: "eins",
			log: []string{"c2a withheld one", "c2a injected eins", "a2c wire eins"},
		},
		{
			name: "drop",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if is(f, c2a, "two") {
					return out
				}
				return append(out, f)
			},
			in:  "one\ntwo\nthree\n",
			out: "one\nthree\n",
			log: []string{"c2a wire one", "c2a withheld two", "c2a wire three", "a2c wire one", "a2c wire three"},
		},
		{
			name: "answer",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if is(f, c2a, "ask") {
					return append(out, frame(a2c, "answer"))
				}
				return append(out, f)
			},
			in:  "ask\n",
			out: "answer\n",
			log: []string{"c2a withheld ask", "a2c injected answer"},
		},
		{
			name: "before and after",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if f.Dir == a2c {
					return append(out, f)
				}
				return append(out, frame(c2a, "before"), f, frame(c2a, "after"))
			},
			in:  "one\n",
			out: "before\none\nafter\n",
			log: []string{"c2a injected before", "c2a wire one", "c2a injected after", "a2c wire before", "a2c wire one", "a2c wire after"},
		},
		{
			name: "hold and release",
			frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
				switch {
				case is(f, c2a, "one"):
					f.Raw, f.Origin = bytes.Clone(f.Raw), wire.Rewritten
					held = append(held, f)
					return out
				case is(f, c2a, "two"):
					return append(append(out, f), held...)
				}
				return append(out, f)
			},
			in:  "one\ntwo\n",
			out: "two\none\n",
			log: []string{"c2a withheld one", "c2a wire two", "c2a rewritten one", "a2c wire two", "a2c wire one"},
		},
		{
			name: "last words",
			end: func(dir wire.Direction, out []wire.Frame) []wire.Frame {
				return append(out, frame(dir, "bye "+dir.String()))
			},
			in:  "one\n",
			out: "one\nbye c2a\nbye a2c\n",
			log: []string{"c2a wire one", "c2a injected bye c2a", "a2c wire one", "a2c wire bye c2a", "a2c injected bye a2c"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			m := &memory{}
			p := &proxy.Proxy{
				Command:     role("echo"),
				In:          strings.NewReader(tt.in),
				Out:         &out,
				Err:         io.Discard,
				Journal:     m,
				Interceptor: &script{frame: tt.frame, end: tt.end},
			}
			status(t, p.Run(t.Context()), 0)
			if out.String() != tt.out {
				t.Errorf("got %q, want %q", out.String(), tt.out)
			}
			m.check(t, wire.ClientToAgent, tt.in)
			log := slices.DeleteFunc(m.log, func(s string) bool {
				return strings.HasPrefix(s, "eof") || strings.HasPrefix(s, "exit")
			})
			slices.SortStableFunc(log, func(a, b string) int { // an echo may come early
				return strings.Compare(b[:3], a[:3])
			})
			slices.SortStableFunc(tt.log, func(a, b string) int { return strings.Compare(b[:3], a[:3]) })
			if !slices.Equal(log, tt.log) {
				t.Errorf("got %q in the journal, want %q", log, tt.log)
			}
		})
	}
}

// The end of a stream is passed on when the interceptor has sent what it still
// has to send.
func TestEndKeptBack(t *testing.T) {
	const c2a, a2c = wire.ClientToAgent, wire.AgentToClient
	ready := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	ended := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	m := &memory{}
	s := &script{ready: [2]<-chan struct{}{ready[c2a], ready[a2c]}}
	s.end = func(dir wire.Direction, out []wire.Frame) []wire.Frame {
		close(ended[dir])
		return out
	}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("echo"), Interceptor: s, Journal: m})
	c.in.Close()
	wait(t, "the end of the client's stream", ended[c2a])
	s.do(func(out []wire.Frame) []wire.Frame { return append(out, frame(c2a, "late")) })
	if got := c.line(t); got != "late" {
		t.Errorf("the agent gets %q, want late", got)
	}
	close(ready[c2a])
	wait(t, "the end of the agent's stream", ended[a2c])
	go func() {
		s.do(func(out []wire.Frame) []wire.Frame { return append(out, frame(a2c, "last")) })
		close(ready[a2c])
	}()
	if got := c.line(t); got != "last" {
		t.Errorf("the client gets %q, want last", got)
	}
	c.end(t, 0)
	for _, want := range [][2]string{{"c2a injected late", "eof c2a"}, {"a2c injected last", "eof a2c"}} {
		if i, j := slices.Index(m.log, want[0]), slices.Index(m.log, want[1]); i < 0 || j < i {
			t.Errorf("got %q in the journal, want %q before %q", m.log, want[0], want[1])
		}
	}
}

// An interceptor that never lets the end of the client's stream pass holds up
// neither the end of the agent, nor the news that it takes no more.
func TestEndKeptBackForNobody(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		agent      []string
		status     int
	}{
		{"gone", "", role("say", "", "", "3"), 3},
		{"deaf", strings.Repeat("i\n", 1<<20), role("deaf"), 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{ready: [2]<-chan struct{}{make(chan struct{})}}
			c := begin(t, t.Context(), &proxy.Proxy{Command: tt.agent, Interceptor: s})
			go io.Copy(io.Discard, c.out)
			if _, err := io.WriteString(c.in, tt.sent); tt.sent != "" && err == nil {
				t.Error("the client could send all, want an error")
			}
			c.in.Close()
			c.end(t, tt.status)
		})
	}
}

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
					s.do(func(out []wire.Frame) []wire.Frame {
						return append(out, frame(wire.AgentToClient, strconv.Itoa(i)+" "+text))
					})
					sent <- i
				}
				s.do(func(out []wire.Frame) []wire.Frame {
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
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("echo"), Journal: m, Interceptor: s})
	io.WriteString(c.in, "load\n")
	io.WriteString(c.in, "ping\n") // while nobody reads
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
	if s.do(func([]wire.Frame) []wire.Frame { panic("called") }) {
		t.Error("do says that Run is not over")
	}
}

// A client that answers only after it has got rid of its own frames does not
// stop an agent whose frames must pass first.
func TestNobodyReadsIntercepted(t *testing.T) {
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("fill", "2000000", "0"), Interceptor: &script{}})
	if _, err := c.in.Write(bytes.Repeat([]byte("i\n"), 30<<10)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, c.out); n != 2e6 || err != nil {
		t.Errorf("got %d bytes, %v, want 2000000", n, err)
	}
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
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("shout", strconv.Itoa(lines)), Journal: m, Interceptor: s})
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

// What is sent to the client does not wait for an agent that does not read.
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
		Command:     role("stubborn"),
		Journal:     m,
		Interceptor: s,
		Patience:    10 * time.Millisecond,
	})
	c.line(t)
	if _, err := io.WriteString(c.in, strings.Repeat("i", 1<<20)+"\n"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the frame's way to the agent", noted)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		s.do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "news")) })
	}()
	if got := c.line(t); got != "news" {
		t.Errorf("got %q, want news", got)
	}
	wait(t, "the return of do", sent)
	cancel()
	c.end(t, 137)
}

// A line that is too long to be shown passes in order, and nothing gets between
// its pieces.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20<<16) // 20 MiB
	s := &script{}
	p := &proxy.Proxy{Command: role("echo"), Interceptor: s}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if len(f.Raw) > 16<<20 {
			t.Errorf("a frame of %d bytes was shown", len(f.Raw))
		}
		return append(out, f)
	}
	c := begin(t, t.Context(), p)
	go func() {
		io.WriteString(c.in, "a\n"+long[:18<<20])
		s.do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.ClientToAgent, "between")) })
	}()
	if got := c.line(t); got != "a" {
		t.Fatalf("got %q, want a", got)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		io.WriteString(c.in, long[18<<20:]+"\r\nb\n")
	}()
	if got := c.line(t); got != long+"\r" && got != "between" {
		t.Errorf("got %s, want the long line", short(got))
	}
	got := []string{c.line(t), c.line(t)}
	if slices.Sort(got); !slices.Equal(got, []string{"b", "between"}) {
		t.Errorf("got %d and %d bytes, want b and what was sent in between", len(got[0]), len(got[1]))
	}
	c.in.Close()
	c.end(t, 0)
}

// What is sent to a receiver that is in the middle of such a line comes behind it.
func TestSendIntoLongLine(t *testing.T) {
	const read = 1 << 20
	long := strings.Repeat("0123456789abcdef", 17<<16) // 17 MiB
	s, m := &script{}, &memory{}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if string(f.Raw) == "ready" { // the agent has got the beginning of the line
			out = append(out, frame(wire.ClientToAgent, "between"))
		}
		return append(out, f)
	}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("ready", strconv.Itoa(read)), Interceptor: s, Journal: m})
	go io.WriteString(c.in, long)
	if got := c.line(t); got != "ready" {
		t.Fatalf("got %q, want ready", short(got))
	}
	go func() {
		io.WriteString(c.in, "\r\nb\n")
		c.in.Close()
	}()
	for _, want := range []string{long[read:] + "\r", "between", "b"} {
		if got := c.line(t); got != want {
			t.Errorf("got %s, want %s", short(got), short(want))
		}
	}
	c.end(t, 0)
	m.check(t, wire.ClientToAgent, long+"\r\nb\n") // what the client sent
}

// A deaf writer is a client that reads nothing.
type deaf struct{ begun, released chan struct{} }

func (d deaf) Write(p []byte) (int, error) {
	close(d.begun) // there is one write
	<-d.released
	return len(p), nil
}

// A slow reader gives what it is sent, once; it is told that nobody wants more.
type slow struct{ text, closed chan struct{} }

func (s slow) Read(p []byte) (int, error) {
	<-s.text
	return copy(p, "late\n"), nil
}

func (s slow) Close() error { close(s.closed); return nil }

// When Run has returned, the interceptor is left alone: what it was sending to a
// client that does not read does not hold it, and what still comes is not shown.
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
		p := proxy.Proxy{Command: role("echo"), In: in, Out: client, Err: io.Discard, Interceptor: start, Patience: time.Millisecond, Linger: 10 * time.Millisecond}
		p.Run(ctx)
	}()
	wait(t, "the start", started)
	go func() {
		defer close(sent)
		s.do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "news")) })
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

func (s starter) Start(do func(act func(out []wire.Frame) []wire.Frame) bool) {
	s.script.Start(do)
	close(s.started)
}
