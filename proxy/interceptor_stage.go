package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A stage is the place of one Interceptor in the chain.
type stage struct {
	place       int           // from the client's end
	interceptor Interceptor   // nil once it has panicked
	failed      chan struct{} // closed when it has panicked
	pacer       Pacer         // nil if the Interceptor is not a Pacer
	wants       [2]bool       // by direction: whether the Interceptor is shown its frames
	out         []wire.Frame  // reused by the next call; nil during a call and until its frames are sent
}

// shown reports whether the Interceptor is shown frames of dir.
func (s *stage) shown(dir wire.Direction) bool { return s.interceptor != nil && s.wants[dir] }

// keep keeps the slice returned by a call for the next one.
func (s *stage) keep(out []wire.Frame) {
	clear(out) // may hold large frames
	s.out = out[:0]
}

// ask calls the Interceptor and returns what it sends, and whether it returned without a
// panic. The caller holds mu.
func (p *pipeline) ask(s *stage, call func(i Interceptor, out []wire.Frame) []wire.Frame) (out []wire.Frame, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			out, ok = p.fail(s, panicked(v)), false
		}
	}()
	out, s.out = s.out, nil
	out = call(s.interceptor, out)
	for i := range out {
		f := &out[i]
		_ = &p.queues[f.Dir] // panics, and is recovered above, for a direction without a queue
	}
	return out, true
}

// intercept shows f to the Interceptor. It returns what to send, with origins, and the
// index of f itself in that, or -1 if f is withheld.
func (p *pipeline) intercept(s *stage, f wire.Frame) (out []wire.Frame, passed int) {
	out, ok := p.ask(s, func(i Interceptor, out []wire.Frame) []wire.Frame { return i.Intercept(f, out) })
	if !ok {
		return append(out, f), len(out)
	}
	passed = slices.IndexFunc(out, func(g wire.Frame) bool {
		return g.Kind == f.Kind && g.Origin == f.Origin && g.Dir == f.Dir && g.End == f.End && bytes.Equal(g.Raw, f.Raw)
	})
	for i := range out {
		g := &out[i]
		switch {
		case i == passed, g.Kind == wire.Mark:
		case g.Origin != wire.Rewritten, f.Origin == wire.Injected && g.Dir == f.Dir:
			g.Origin = wire.Injected
		}
	}
	return out, passed
}

// act calls the Interceptor outside of any frame. It returns what to send, with origins.
func (p *pipeline) act(s *stage, call func(i Interceptor, out []wire.Frame) []wire.Frame) (out []wire.Frame, ok bool) {
	out, ok = p.ask(s, call)
	for i := range out {
		if out[i].Origin != wire.Rewritten {
			out[i].Origin = wire.Injected
		}
	}
	return out, ok
}

// fail excludes an Interceptor from now on. It returns the frames that it held.
func (p *pipeline) fail(s *stage, why error) (held []wire.Frame) {
	i := s.interceptor
	s.interceptor = nil
	close(s.failed)
	p.cond.Broadcast()
	name := "interceptor"
	if n := len(p.stages); n > 1 {
		name = fmt.Sprintf("interceptor %d of %d", s.place+1, n)
	}
	p.gate.fault(fmt.Errorf("%s: %w", name, why))
	defer func() {
		if recover() != nil {
			held = nil // it panicked again
		}
	}()
	for _, f := range i.Held() {
		if f.Origin != wire.Injected {
			f.Origin = wire.Rewritten // the tape has it as withheld
		}
		_ = &p.queues[f.Dir]
		held = append(held, f)
	}
	return held
}
