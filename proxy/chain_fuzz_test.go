package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// Whatever Interceptors do, the tape has everything that each side sent and received, and
// nothing is lost in between.
func FuzzChain(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed%5), uint16(1+37*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, members uint8, step uint16) {
		random := rand.New(rand.NewPCG(seed, 1))
		var all []proxy.Interceptor
		for range members % 5 {
			all = append(all, newGambler(random))
		}
		var in, out, heard bytes.Buffer
		for i := range 40 {
			fmt.Fprintf(&in, "%d %s%s", i, strings.Repeat("x", random.IntN(50)), []string{"\n", "\r\n"}[random.IntN(2)])
		}
		client, m := in.String(), &memory{}
		p := &proxy.Proxy{In: &chunked{in.Bytes(), int(step) + 1}, Out: &out, Err: io.Discard, Journal: m, Interceptors: all}
		p.Peer = peer(func(in *bufio.Reader, out, _ io.Writer) int {
			io.Copy(out, io.TeeReader(in, &heard))
			return 0
		})
		status(t, run(t.Context(), p), 0)
		m.check(t, wire.ClientToAgent, client)
		// Frames sent to an agent after the end of its stream do not arrive.
		got, want := heard.String(), m.received[wire.ClientToAgent].String()
		if !strings.HasPrefix(want, got) || int64(len(got)) != m.delivered[wire.ClientToAgent] {
			t.Errorf("the agent got %s, and the journal has %s, and %d bytes as delivered", short(got), short(want), m.delivered[wire.ClientToAgent])
		}
		m.check(t, wire.AgentToClient, heard.String())
		if got, want := out.String(), m.received[wire.AgentToClient].String(); got != want {
			t.Errorf("the client got %s, and the journal has %s", short(got), short(want))
		}
	})
}

// A chunked reader returns at most a given number of bytes at a time.
type chunked struct {
	rest []byte
	size int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// newGambler returns an Interceptor that does anything at random.
func newGambler(random *rand.Rand) *script {
	random = rand.New(rand.NewPCG(random.Uint64(), 2))
	s := &script{}
	s.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
		switch random.IntN(8) {
		case 0:
			return out
		case 1:
			f.Raw, f.Origin = append([]byte("changed "), f.Raw...), wire.Rewritten
		case 2:
			out = append(out, frame(f.Dir, "before"), note(f.Dir, "note"))
		case 3:
			return append(out, f, frame(1-f.Dir, "against"), frame(wire.AgentStderr, "noise"))
		case 4:
			f.Raw, f.Origin = bytes.Clone(f.Raw), wire.Rewritten
			s.held = append(s.held, f)
			return out
		case 5:
			out, s.held = append(append(out, f), s.held...), nil
			return out
		}
		return append(out, f)
	}
	s.end = func(dir wire.Direction, out []wire.Frame) []wire.Frame {
		out, s.held = append(out, s.held...), nil
		return append(out, frame(dir, "end"))
	}
	return s
}
