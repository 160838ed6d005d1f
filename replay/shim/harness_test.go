package shim_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A stand holds a shim without a proxy. The test passes the frames of client and agent to
// it one by one.
type stand struct {
	shim  *shim.Shim
	quiet bool // nothing that comes out is stored

	mu   sync.Mutex
	sent [2][]string   // by direction, what came out; guarded by mu
	asks []string      // ids of the shim's own requests that are not answered; guarded by mu
	came chan struct{} // closed and made anew when something comes out; guarded by mu
}

func newStand(t testing.TB, dir string, change func(*shim.Shim)) *stand {
	s := &stand{shim: &shim.Shim{Store: record.OpenStore(dir), Agent: "agent", Tape: "none"}, came: make(chan struct{})}
	if change != nil {
		change(s.shim)
	}
	s.shim.Start(proxy.Handle{Do: func(act func(out []wire.Frame) []wire.Frame) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.take(act(nil))
		return true
	}})
	t.Cleanup(s.shim.Close)
	return s
}

// take stores what the shim sends.
func (s *stand) take(out []wire.Frame) {
	for _, f := range out {
		if s.quiet {
			continue
		}
		s.sent[f.Dir] = append(s.sent[f.Dir], string(f.Raw))
		if id := wire.ValueAt(f.Raw, "id").Raw(); f.Dir == wire.ClientToAgent && strings.HasPrefix(id, `"acptap`) {
			s.asks = append(s.asks, id)
		}
	}
	close(s.came)
	s.came = make(chan struct{})
}

// say passes a line to the shim.
func (s *stand) say(dir wire.Direction, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s.shim.Intercept(wire.Frame{Dir: dir, Raw: []byte(line), End: wire.LF, Size: int64(len(line))}, nil))
}

// asked returns the ids of the shim's own requests since the last call.
func (s *stand) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.asks
	s.asks = nil
	return list
}

// await waits until a line has come out that fits.
func (s *stand) await(t testing.TB, dir wire.Direction, fits func(m wire.Value) bool) wire.Value {
	t.Helper()
	for i := 0; ; {
		s.mu.Lock()
		lines, came := s.sent[dir], s.came
		s.mu.Unlock()
		for ; i < len(lines); i++ {
			if m := wire.ValueOf(lines[i]); fits(m) {
				return m
			}
		}
		select {
		case <-came:
		case <-t.Context().Done():
			t.Fatal("the test is over")
		}
	}
}

// end ends a stream. It returns a channel that is closed when the end may be passed on.
func (s *stand) end(dir wire.Direction) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, ready := s.shim.End(dir, nil)
	s.take(out)
	return ready
}
