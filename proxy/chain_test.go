package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// on returns an Interceptor that does something with the frames of a direction
// that have a text.
func on(dir wire.Direction, text string, do func(f wire.Frame) []wire.Frame) *script {
	return &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if f.Dir == dir && string(f.Raw) == text {
			return append(out, do(f)...)
		}
		return append(out, f)
	}}
}

// changed returns an Interceptor that gives frames of a direction another text.
func changed(dir wire.Direction, from, to string) *script {
	return on(dir, from, func(f wire.Frame) []wire.Frame {
		f.Raw, f.Origin = []byte(to), wire.Rewritten
		return []wire.Frame{f}
	})
}

// thrifty returns an Interceptor that changes each frame of a direction, in bytes
// that it uses again for the next one.
func thrifty(dir wire.Direction) *script {
	var scratch []byte
	return &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if f.Dir == dir {
			scratch = append(append(scratch[:0], '-'), f.Raw...)
			f.Raw, f.Origin = scratch, wire.Rewritten
		}
		return append(out, f)
	}}
}

func note(dir wire.Direction, text string) wire.Frame {
	return wire.Frame{Dir: dir, Kind: wire.Mark, Raw: wire.Marked{Fault: text}.JSON()}
}

// Frames that one Interceptor returns pass through those between it and the receiver. The
// agent echoes.
func TestChain(t *testing.T) {
	const c2a, a2c = wire.ClientToAgent, wire.AgentToClient
	for _, tt := range []struct {
		name  string
		chain []proxy.Interceptor // from the client's end
		in    string
		out   string
		log   []string // of the journal, without ends and exit
	}{
		{
			name:  "two change one frame",
			chain: chain(changed(c2a, "one", "two"), changed(c2a, "two", "three")),
			in:    "one\n",
			out:   "three\n",
			log:   []string{"c2a withheld one", "c2a rewritten three", "a2c wire three"},
		},
		{
			name:  "from the agent's end back",
			chain: chain(changed(a2c, "two", "three"), changed(a2c, "one", "two")),
			in:    "one\n",
			out:   "three\n",
			log:   []string{"c2a wire one", "a2c withheld one", "a2c rewritten three"},
		},
		{
			name:  "changed and changed back",
			chain: chain(changed(c2a, "one", "two"), changed(c2a, "two", "one")),
			in:    "one\n",
			out:   "one\n",
			log:   []string{"c2a withheld one", "c2a rewritten one", "a2c wire one"},
		},
		{
			name: "a change of what another one made",
			chain: chain(on(c2a, "one", func(f wire.Frame) []wire.Frame {
				return []wire.Frame{f, frame(c2a, "made"), frame(c2a, "more")}
			}), changed(c2a, "made", "changed")),
			in:  "one\n",
			out: "one\nchanged\nmore\n",
			log: []string{"c2a wire one", "c2a injected changed", "c2a injected more", "a2c wire one", "a2c wire changed", "a2c wire more"},
		},
		{
			name: "an answer passes those before it only",
			chain: chain(
				changed(a2c, "answer", "changed"),
				on(c2a, "ask", func(wire.Frame) []wire.Frame { return []wire.Frame{frame(a2c, "answer")} }),
				on(c2a, "ask", func(wire.Frame) []wire.Frame { panic("the request comes through") }),
				on(a2c, "answer", func(wire.Frame) []wire.Frame { panic("the answer goes back") }),
			),
			in:  "ask\n",
			out: "changed\n",
			log: []string{"c2a withheld ask", "a2c injected changed"},
		},
		{
			name: "one that uses the same bytes for each frame",
			chain: chain(on(c2a, "one", func(wire.Frame) []wire.Frame {
				return []wire.Frame{frame(c2a, "two"), frame(c2a, "six")}
			}), thrifty(c2a)),
			in:  "one\n",
			out: "-two\n-six\n",
			log: []string{"c2a withheld one", "c2a injected -two", "c2a injected -six", "a2c wire -two", "a2c wire -six"},
		},
		{
			name: "withheld behind a copy",
			chain: chain(
				on(c2a, "one", func(f wire.Frame) []wire.Frame { return []wire.Frame{f, f} }),
				on(c2a, "two", func(f wire.Frame) []wire.Frame { return nil }),
			),
			in:  "one\ntwo\n",
			out: "one\none\n",
			log: []string{"c2a wire one", "c2a injected one", "c2a withheld two", "a2c wire one", "a2c wire one"},
		},
		{
			name: "notes",
			chain: chain(
				on(c2a, "one", func(f wire.Frame) []wire.Frame {
					f.Raw, f.Origin = []byte("two"), wire.Rewritten
					return []wire.Frame{note(c2a, "first"), f}
				}),
				on(c2a, "two", func(f wire.Frame) []wire.Frame {
					f.Raw = []byte("three")
					return []wire.Frame{note(c2a, "second"), f, note(a2c, "third"), frame(a2c, "hello")}
				}),
			),
			in:  "zero\none\n",
			out: "hello\nzero\nthree\n",
			log: []string{
				"c2a wire zero", `note c2a {"fault":"first"}`, `note c2a {"fault":"second"}`, "c2a withheld one", "c2a rewritten three",
				`note a2c {"fault":"third"}`, "a2c injected hello", "a2c wire zero", "a2c wire three",
			},
		},
		{
			name: "a note alone",
			chain: chain(on(c2a, "one", func(f wire.Frame) []wire.Frame {
				return []wire.Frame{note(c2a, "about"), f}
			})),
			in:  "one\n",
			out: "one\n",
			log: []string{`note c2a {"fault":"about"}`, "c2a wire one", "a2c wire one"},
		},
		{
			name: "two that answer each other for ever",
			chain: chain(
				on(a2c, "pong", func(wire.Frame) []wire.Frame { return []wire.Frame{frame(c2a, "ping")} }),
				on(c2a, "ping", func(wire.Frame) []wire.Frame { return []wire.Frame{frame(a2c, "pong")} }),
			),
			in:  "begin\nping\nend\n", // rules note their beginning, which would count
			out: "begin\nping\nend\n",
			log: []string{"c2a wire begin", "c2a withheld ping", "c2a injected ping", "c2a wire end", "a2c wire begin", "a2c wire ping", "a2c wire end"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			m := &memory{}
			p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader(tt.in), Out: &out, Err: io.Discard, Journal: m, Interceptors: tt.chain}
			status(t, run(t.Context(), p), 0)
			if out.String() != tt.out {
				t.Errorf("got %q, want %q", out.String(), tt.out)
			}
			m.check(t, wire.ClientToAgent, tt.in)
			if log := m.traffic(); !slices.Equal(log, byDirection(tt.log)) {
				t.Errorf("got %q in the journal, want %q", log, byDirection(tt.log))
			}
		})
	}
}

// If no Interceptor wants to see a direction, its bytes pass as they come, and frames sent
// there are placed between its lines.
func TestOneDirection(t *testing.T) {
	withoutOthers(t)
	const c2a, a2c = wire.ClientToAgent, wire.AgentToClient
	t.Run("c2a", func(t *testing.T) {
		m := &memory{}
		s := &oneWay{*on(c2a, "go", func(f wire.Frame) []wire.Frame { return []wire.Frame{frame(a2c, "between"), f} }), c2a}
		c := begin(t, t.Context(), &proxy.Proxy{Journal: m, Interceptors: chain(s), Peer: peer(func(in *bufio.Reader, out, _ io.Writer) int {
			io.WriteString(out, "par")
			in.ReadString('\n')
			io.WriteString(out, "tial\nlast")
			return 0
		})})
		if b, err := c.out.Peek(3); string(b) != "par" {
			t.Fatalf("got %q, %v, want the beginning of a line", b, err)
		}
		io.WriteString(c.in, "go\n")
		if got, err := io.ReadAll(c.out); string(got) != "partial\nbetween\nlast" {
			t.Errorf("got %q, %v", got, err)
		}
		c.end(t, 0)
		if want := []string{"c2a wire go", "a2c wire par", "a2c wire tial", "a2c injected between", "a2c wire last"}; !slices.Equal(m.traffic(), want) {
			t.Errorf("got %q in the journal, want %q", m.traffic(), want)
		}
	})
	t.Run("a2c", func(t *testing.T) {
		m := &memory{}
		s := &oneWay{*on(a2c, "go", func(f wire.Frame) []wire.Frame { return []wire.Frame{frame(c2a, "between"), f} }), a2c}
		c := begin(t, t.Context(), &proxy.Proxy{Journal: m, Interceptors: chain(s), Peer: peer(func(in *bufio.Reader, out, _ io.Writer) int {
			if b, err := in.Peek(3); string(b) != "par" {
				t.Errorf("got %q, %v, want the beginning of a line", b, err)
			}
			io.WriteString(out, "go\n")
			if got, err := io.ReadAll(in); string(got) != "partial\nbetween\n" {
				t.Errorf("got %q, %v", got, err)
			}
			return 0
		})})
		io.WriteString(c.in, "par")
		c.line(t)
		io.WriteString(c.in, "tial\n")
		c.in.Close()
		c.end(t, 0)
	})
}

// A oneWay Interceptor wants one direction.
type oneWay struct {
	script
	wants wire.Direction
}

func (o *oneWay) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	if f.Dir != o.wants {
		panic("shown " + f.Dir.String())
	}
	return o.script.Intercept(f, out)
}

func (o *oneWay) Wants(dir wire.Direction) bool { return dir == o.wants }

// Frames sent to the client's stderr are placed between the agent's lines.
func TestSendToStderr(t *testing.T) {
	m := &memory{}
	s := on(wire.AgentToClient, "go", func(f wire.Frame) []wire.Frame { return []wire.Frame{frame(wire.AgentStderr, "noise"), f} })
	var stderr bytes.Buffer
	begun := make(chan struct{})
	first := true
	m.appended = func(_ *memory, dir wire.Direction, p []byte) {
		if dir == wire.AgentStderr && first {
			first = false
			close(begun)
		}
	}
	c := begin(t, t.Context(), &proxy.Proxy{Journal: m, Err: &stderr, Interceptors: chain(s), Peer: peer(func(in *bufio.Reader, out, err io.Writer) int {
		io.WriteString(err, "par")
		<-begun
		io.WriteString(out, "go\n")
		in.ReadString('\n')
		io.WriteString(err, "tial\nlast")
		return 0
	})})
	c.line(t)
	io.WriteString(c.in, "\n")
	c.end(t, 0)
	if got := stderr.String(); got != "partial\nnoise\nlast" {
		t.Errorf("got %q on stderr", got)
	}
	m.check(t, wire.AgentStderr, "partial\nlast") // what the agent wrote
}

// peer returns an agent within this process.
func peer(act func(in *bufio.Reader, out, err io.Writer) int) *proxy.Peer {
	return &proxy.Peer{Run: func(_ context.Context, in io.Reader, out, err io.Writer) int {
		return act(bufio.NewReader(in), out, err)
	}}
}

// The end of a stream passes from one Interceptor to the next, in the stream's direction,
// once each has let it pass.
func TestEndInOrder(t *testing.T) {
	var mu sync.Mutex
	var ends []string
	member := func(name string) *script {
		s := &script{}
		s.ending = func(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
			ready := make(chan struct{})
			mu.Lock()
			ends = append(ends, dir.String()+" "+name)
			mu.Unlock()
			go func() {
				s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(dir, "last of "+name)) })
				mu.Lock()
				ends = append(ends, dir.String()+" "+name+" done")
				mu.Unlock()
				close(ready)
			}()
			return out, ready
		}
		return s
	}
	var out bytes.Buffer
	// Interceptors further on still change frames that an earlier one sends at the end.
	b := member("b")
	b.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if string(f.Raw) == "last of a" {
			f.Raw = []byte("changed")
		}
		return append(out, f)
	}
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("one\n"), Out: &out, Err: io.Discard, Interceptors: chain(member("a"), b)}
	status(t, run(t.Context(), p), 0)
	if want := "one\nchanged\nlast of b\nlast of b\nlast of a\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	want := []string{"c2a a", "c2a a done", "c2a b", "c2a b done", "a2c b", "a2c b done", "a2c a", "a2c a done"}
	if !slices.Equal(ends, want) {
		t.Errorf("got the ends %q, want %q", ends, want)
	}
}

// An Interceptor that panics is bypassed, the frames that it held pass through the others,
// and these continue to work.
func TestOnePanics(t *testing.T) {
	const c2a = wire.ClientToAgent
	var out bytes.Buffer
	var told complaints
	m, failing := &memory{}, &script{}
	failing.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		switch {
		case f.Dir == c2a && string(f.Raw) == "held":
			f.Raw = bytes.Clone(f.Raw)
			failing.held = append(failing.held, f)
			return out
		case string(f.Raw) == "boom":
			panic("boom")
		}
		return append(out, f)
	}
	upper := func() *script {
		return &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
			if f.Dir == c2a && bytes.ContainsAny(f.Raw, "abcdefghijklmnopqrstuvwxyz") {
				f.Raw, f.Origin = bytes.ToUpper(f.Raw), wire.Rewritten
			}
			return append(out, f)
		}}
	}
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("held\none\nboom\ntwo\n"), Out: &out, Err: io.Discard, Journal: m, Interceptors: chain(failing, upper()), Complain: told.add}
	status(t, run(t.Context(), p), 0)
	if want := "ONE\nHELD\nBOOM\nTWO\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	m.check(t, c2a, "held\none\nboom\ntwo\n")
	told.check(t, "interceptor: panic: boom (chain_test.go:")
}

// traffic returns the journal's frames and notes, the client's first.
func (m *memory) traffic() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return byDirection(slices.DeleteFunc(slices.Clone(m.log), func(s string) bool {
		return strings.HasPrefix(s, "eof") || strings.HasPrefix(s, "exit")
	}))
}

// byDirection sorts the client's direction first: an echo may come early.
func byDirection(log []string) []string {
	rank := func(s string) int {
		if strings.Contains(s[:min(len(s), 9)], "c2a") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(log, func(a, b string) int { return rank(a) - rank(b) })
	return log
}
