package proxy

import (
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// ask has the Interceptor do something, and returns what is to be sent. It
// reports whether that has not panicked. Called with mu held.
func (j *junction) ask(call func(out []wire.Frame) []wire.Frame) (out []wire.Frame, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			out, ok = j.fail(panicked(v)), false
		}
	}()
	out = call(j.out[:0])
	for _, f := range out {
		_ = &j.lanes[f.Dir] // nothing else can be sent anywhere
	}
	return out, true
}

// fail leaves the Interceptor alone from now on. It returns what that has held.
func (j *junction) fail(why error) (held []wire.Frame) {
	i := j.interceptor
	j.interceptor = nil
	close(j.failed)
	j.cond.Broadcast()
	j.tape.fault(fmt.Errorf("interceptor: %w", why))
	defer func() {
		if recover() != nil {
			held = nil // it has failed once
		}
	}()
	for _, f := range i.Held() {
		f.Origin = wire.Rewritten // on the tape it stands as withheld
		_ = &j.lanes[f.Dir]
		held = append(held, f)
	}
	return held
}

// spill passes on the beginnings of lines that were kept for the Interceptor,
// once there is none.
func (j *junction) spill() {
	if j.interceptor != nil {
		return
	}
	for i := range j.lanes {
		l := &j.lanes[i]
		l.buf = append(l.buf, l.splitter.Pending...)
		l.splitter.Pending = nil
		j.note(l, wire.Wire)
	}
}
