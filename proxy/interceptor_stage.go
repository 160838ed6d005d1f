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
	interceptor Interceptor   // nil when it has panicked
	failed      chan struct{} // closed then
	pacer       Pacer         // nil if it is none
	wants       [2]bool       // by direction: whether it is shown frames of that
	out         []wire.Frame  // for what its next call returns; nil during a call and until that is sent
}

// shown reports whether frames of a direction are shown to the Interceptor.
func (s *stage) shown(dir wire.Direction) bool { return s.interceptor != nil && s.wants[dir] }

// keep keeps what a call returned for the next one.
func (s *stage) keep(out []wire.Frame) {
	clear(out) // may hold large frames
	s.out = out[:0]
}

// ask has the Interceptor do something, and returns what is to be sent. It
// reports whether that has not panicked. Called with mu held.
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
		_ = &p.queues[f.Dir] // nothing else can be sent anywhere
	}
	return out, true
}

// intercept shows f to the Interceptor. It returns what is to be sent, with its
// origins, and which of that is f itself; -1 if it is withheld.
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

// act has the Interceptor do something that is about no frame. It returns what is
// to be sent, with its origins.
func (p *pipeline) act(s *stage, call func(i Interceptor, out []wire.Frame) []wire.Frame) (out []wire.Frame, ok bool) {
	out, ok = p.ask(s, call)
	for i := range out {
		if out[i].Origin != wire.Rewritten {
			out[i].Origin = wire.Injected
		}
	}
	return out, ok
}

// fail leaves an Interceptor alone from now on. It returns what that has held.
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
			held = nil // it has failed once
		}
	}()
	for _, f := range i.Held() {
		if f.Origin != wire.Injected {
			f.Origin = wire.Rewritten // on the tape it stands as withheld
		}
		_ = &p.queues[f.Dir]
		held = append(held, f)
	}
	return held
}
