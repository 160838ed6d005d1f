package proxy_test

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A line that is too long to be shown passes in order, and nothing gets between
// its pieces.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20<<16) // 20 MiB
	s := &script{}
	p := &proxy.Proxy{Command: role("echo"), Interceptors: chain(s)}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if len(f.Raw) > 16<<20 {
			t.Errorf("a frame of %d bytes was shown", len(f.Raw))
		}
		return append(out, f)
	}
	c := begin(t, t.Context(), p)
	go func() {
		io.WriteString(c.in, "a\n"+long[:18<<20])
		go s.Do(func(out []wire.Frame) []wire.Frame { // waits for the end of the line
			return append(out, frame(wire.ClientToAgent, "between"))
		})
		io.WriteString(c.in, long[18<<20:]+"\r\nb\n")
	}()
	if got := c.line(t); got != "a" {
		t.Fatalf("got %q, want a", got)
	}
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

// Frames sent to a receiver in the middle of such a line come after it.
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
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("ready", strconv.Itoa(read)), Interceptors: chain(s), Journal: m})
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

// Frames that an Interceptor sends during such a line are kept until its end, up to a limit:
// then the stream that they answer waits.
func TestFloodIntoLongLine(t *testing.T) {
	const (
		size  = 17 << 20
		asks  = 200
		large = 64 << 10 // an answer
		bound = 2 << 20 / large
	)
	asked, early, ended := 0, 0, false
	s := &script{frame: func(f wire.Frame, out []wire.Frame) []wire.Frame {
		if f.Dir == wire.AgentToClient {
			return append(out, f)
		}
		if asked++; asked == 1 {
			out = append(out, f) // the agent may go on
		}
		return append(out, frame(wire.AgentToClient, strings.Repeat("a", large)))
	}}
	m := &memory{appended: func(_ *memory, dir wire.Direction, p []byte) {
		if dir == wire.AgentToClient && !ended {
			ended = p[len(p)-1] == '\n'
			early = asked
		}
	}}
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("half", strconv.Itoa(size)), Interceptors: chain(s), Journal: m})
	if _, err := c.out.Peek(1); err != nil { // the line has begun to pass
		t.Fatal(err)
	}
	go func() {
		for range asks {
			io.WriteString(c.in, "ask\n")
		}
		c.in.Close()
	}()
	if got := c.line(t); len(got) != size+len("end") {
		t.Errorf("got %s, want the long line", short(got))
	}
	for range asks {
		if got := c.line(t); len(got) != large {
			t.Fatalf("got %s, want an answer", short(got))
		}
	}
	c.end(t, 0)
	if early > bound {
		t.Errorf("%d answers were kept, want at most %d", early, bound)
	}
}
