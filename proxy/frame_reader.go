package proxy

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A frameReader cuts one direction into frames and shows them to the Interceptor.
type frameReader struct {
	*pipeline
	queue *outputQueue // where the direction leads
	other *outputQueue
}

func newFrameReader(p *pipeline, dir wire.Direction) *frameReader {
	return &frameReader{pipeline: p, queue: &p.queues[dir], other: &p.queues[1-dir]}
}

func (r *frameReader) take(p []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gate.open() {
		return false
	}
	before := r.other.put
	s := &r.queue.splitter
	s.Feed(p, r.frame)
	r.spill()
	if cap(s.Pending) > maxKept && len(s.Pending) == 0 {
		s.Pending = nil
	}
	r.deliver(before)
	return r.gate.open() && !r.queue.destination.full(r.queue.dir)
}

// end returns when the end of the stream may be passed on.
func (r *frameReader) end() {
	ready := r.last()
	if ready == nil {
		return
	}
	select {
	case <-ready:
	case <-r.failed:
	case <-r.queue.destination.broken:
	case <-r.closed:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drain(r.queue) // what was sent meanwhile may still be on its way
}

// last tells the Interceptor that the stream has ended. It returns what that
// returned.
func (r *frameReader) last() (ready <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gate.open() {
		return nil
	}
	before := r.other.put
	r.queue.splitter.Flush(r.frame)
	if r.interceptor != nil {
		out, _ := r.ask(func(out []wire.Frame) []wire.Frame {
			out, ready = r.interceptor.End(r.queue.dir, out)
			return out
		})
		r.send(out, -1)
	}
	r.spill() // also if it has panicked at the last frame
	r.deliver(before)
	return ready
}

func (r *frameReader) frame(piece []byte, end wire.LineEnd, last bool) {
	f := wire.Frame{Dir: r.queue.dir, Raw: piece, End: end, Size: int64(len(piece))}
	switch {
	case !last, r.queue.open:
		r.pass(f, last)
		return
	case r.interceptor == nil:
		r.put(f)
		return
	}
	out, ok := r.ask(func(out []wire.Frame) []wire.Frame { return r.interceptor.Intercept(f, out) })
	if !ok {
		out = append(out, f)
	}
	passed := slices.IndexFunc(out, func(g wire.Frame) bool {
		return g.Origin == wire.Wire && g.Dir == f.Dir && g.End == f.End && bytes.Equal(g.Raw, f.Raw)
	})
	if passed < 0 {
		f.Origin = wire.Withheld
		r.put(f)
	}
	r.send(out, passed)
}

// pass passes a piece of a line that is too long to be shown.
func (r *frameReader) pass(piece wire.Frame, last bool) {
	r.put(piece)
	r.queue.open = !last
	if last {
		later := r.queue.later
		r.queue.later, r.queue.kept = nil, 0
		for _, f := range later {
			r.put(f)
		}
		r.cond.Broadcast()
	}
}

// deliver waits until the receiver has taken what was put into the queue of this direction.
// What was put into the other one, beyond before, does not stop this stream as
// long as it is not too much: its receiver may be one that first wants to be
// read. What that queue has to carry anyway does not count, for the same reason.
// Nor may too much be kept there for the end of a long line.
func (r *frameReader) deliver(before int64) {
	across := r.other.put - before // before drain, which lets others put
	if across > 0 {
		if r.other.across == 0 {
			go r.help(r.other)
		}
		r.other.across += across
	}
	r.note(r.queue, wire.Wire)
	r.drain(r.queue)
	for across > 0 && r.other.across > maxBacklog {
		r.cond.Wait()
	}
	for r.other.kept > maxBacklog && r.interceptor != nil && r.gate.open() {
		r.cond.Wait()
	}
}
