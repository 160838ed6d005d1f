package proxy

import (
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// ask has the Interceptor do something, and returns what is to be sent. It
// reports whether that has not panicked. Called with mu held.
func (p *pipeline) ask(call func(out []wire.Frame) []wire.Frame) (out []wire.Frame, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			out, ok = p.fail(panicked(v)), false
		}
	}()
	out = call(p.out[:0])
	for _, f := range out {
		_ = &p.queues[f.Dir] // nothing else can be sent anywhere
	}
	return out, true
}

// fail leaves the Interceptor alone from now on. It returns what that has held.
func (p *pipeline) fail(why error) (held []wire.Frame) {
	i := p.interceptor
	p.interceptor = nil
	close(p.failed)
	p.cond.Broadcast()
	p.gate.fault(fmt.Errorf("interceptor: %w", why))
	defer func() {
		if recover() != nil {
			held = nil // it has failed once
		}
	}()
	for _, f := range i.Held() {
		f.Origin = wire.Rewritten // on the tape it stands as withheld
		_ = &p.queues[f.Dir]
		held = append(held, f)
	}
	return held
}

// spill passes on the beginnings of lines that were kept for the Interceptor,
// once there is none.
func (p *pipeline) spill() {
	if p.interceptor != nil {
		return
	}
	for i := range p.queues {
		q := &p.queues[i]
		q.buf = append(q.buf, q.splitter.Pending...)
		q.splitter.Pending = nil
		p.note(q, wire.Wire)
	}
}
