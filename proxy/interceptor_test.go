package proxy_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A script is an Interceptor made of functions; a nil one passes everything.
type script struct {
	frame func(f wire.Frame, out []wire.Frame) []wire.Frame
	end   func(dir wire.Direction, out []wire.Frame) []wire.Frame
	ready [2]<-chan struct{} // by direction: what End returns
	held  []wire.Frame

	ending func(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) // in place of end and ready

	proxy.Handle
}

func (s *script) Start(h proxy.Handle) { s.Handle = h }

func (s *script) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	if s.frame == nil {
		return append(out, f)
	}
	return s.frame(f, out)
}

func (s *script) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	if s.ending != nil {
		return s.ending(dir, out)
	}
	if s.end != nil {
		out = s.end(dir, out)
	}
	return out, s.ready[dir]
}

func (s *script) Held() []wire.Frame { return s.held }

func chain(interceptors ...proxy.Interceptor) []proxy.Interceptor { return interceptors }

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
				Command:      role("echo"),
				In:           strings.NewReader(tt.in),
				Out:          &out,
				Err:          io.Discard,
				Journal:      m,
				Interceptors: chain(&script{frame: tt.frame, end: tt.end}),
			}
			status(t, run(t.Context(), p), 0)
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

// The end of a stream passes once the Interceptor has sent its remaining frames.
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
	c := begin(t, t.Context(), &proxy.Proxy{Command: role("echo"), Interceptors: chain(s), Journal: m})
	c.in.Close()
	wait(t, "the end of the client's stream", ended[c2a])
	s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(c2a, "late")) })
	if got := c.line(t); got != "late" {
		t.Errorf("the agent gets %q, want late", got)
	}
	close(ready[c2a])
	wait(t, "the end of the agent's stream", ended[a2c])
	go func() {
		s.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(a2c, "last")) })
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

// An Interceptor that never lets the end of the client's stream pass delays neither the end
// of the agent nor the report that the agent reads no more.
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
			c := begin(t, t.Context(), &proxy.Proxy{Command: tt.agent, Interceptors: chain(s)})
			go io.Copy(io.Discard, c.out)
			if _, err := io.WriteString(c.in, tt.sent); tt.sent != "" && err == nil {
				t.Error("the client could send all, want an error")
			}
			c.in.Close()
			c.end(t, tt.status)
		})
	}
}
