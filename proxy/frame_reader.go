package proxy

import "github.com/acptap/acptap/proxy/wire"

// A frameReader cuts one stream into frames and shows them to the Interceptors that want
// them.
type frameReader struct {
	*pipeline
	queue *outputQueue // to the receiver of the direction
}

func newFrameReader(p *pipeline, dir wire.Direction) *frameReader {
	return &frameReader{pipeline: p, queue: &p.queues[dir]}
}

func (r *frameReader) take(b []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir := r.queue.dir
	if !r.framed(dir) {
		return r.passRaw(r.queue, b) && !r.queue.destination.full(dir)
	}
	if !r.gate.open() {
		return false
	}
	before := r.positions()
	s := &r.splitters[dir]
	s.Feed(b, r.frame)
	r.spill()
	if cap(s.Pending) > maxKept && len(s.Pending) == 0 {
		s.Pending = nil
	}
	r.deliver(before)
	return r.gate.open() && !r.queue.destination.full(dir)
}

// end tells the Interceptors in turn that the stream has ended. It returns when the end
// may be passed on.
func (r *frameReader) end() {
	r.last()
	for i := range r.stages {
		if r.queue.dir == wire.AgentToClient {
			i = len(r.stages) - 1 - i
		}
		s := &r.stages[i]
		ready := r.tell(s)
		if ready == nil {
			continue
		}
		select {
		case <-ready:
		case <-s.failed:
		case <-r.queue.destination.broken:
		case <-r.closed:
		case <-r.quit:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drain(r.queue) // what was sent meanwhile may still be on its way
}

// last shows what the end of the stream left unfinished.
func (r *frameReader) last() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gate.open() {
		return
	}
	before := r.positions()
	if dir := r.queue.dir; r.framed(dir) {
		r.splitters[dir].Flush(r.frame)
		r.spill()
	}
	r.endLine(r.queue)
	r.deliver(before)
}

// tell tells one Interceptor that the stream has ended, and returns its channel.
func (r *frameReader) tell(s *stage) (ready <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queue.dir == wire.AgentStderr || s.interceptor == nil || !r.gate.open() {
		return nil
	}
	before := r.positions()
	out, _ := r.act(s, func(i Interceptor, out []wire.Frame) []wire.Frame {
		out, ready = i.End(r.queue.dir, out)
		return out
	})
	r.send(s, out)
	r.spill()
	r.deliver(before)
	return ready
}

func (r *frameReader) frame(piece []byte, end wire.LineEnd, last bool) {
	f := wire.Frame{Dir: r.queue.dir, Raw: piece, End: end, Size: int64(len(piece))}
	if last && !r.queue.open {
		r.pass(f)
		return
	}
	if !r.queue.open {
		r.longLine()
	}
	r.put(f)
	r.queue.open = true
	if last {
		r.endLine(r.queue)
	}
}

// longLine tells the Interceptors that a line is too long to be shown.
func (r *frameReader) longLine() {
	for i := range r.stages {
		s := &r.stages[i]
		l, ok := s.interceptor.(LongLines)
		if !ok || !s.shown(r.queue.dir) {
			continue
		}
		out, _ := r.act(s, func(_ Interceptor, out []wire.Frame) []wire.Frame { return l.LongLine(r.queue.dir, out) })
		r.send(s, out)
	}
}

// deliver waits until the receiver has read what was put into this direction's queue.
// What was put into other queues since before stops this stream only if there is too much
// of it: their receiver may be waiting to be read first. For the same reason, what those
// queues carry anyway does not count. The bytes kept for the end of a line are limited
// too.
func (r *frameReader) deliver(before [wire.Directions]position) {
	var across [wire.Directions]bool
	for i := range r.queues { // before drain, during which others may put
		q := &r.queues[i]
		if n := q.put - before[i].put; q != r.queue && n > 0 {
			if q.across == 0 {
				go r.help(q)
			}
			q.across += n
			across[i] = true
		}
	}
	r.note(r.queue, wire.Wire)
	r.drain(r.queue)
	for i := range r.queues {
		q := &r.queues[i]
		for across[i] && q.across > maxBacklog {
			r.cond.Wait()
		}
		for q != r.queue && q.kept > maxBacklog && r.alive() && r.gate.open() {
			r.cond.Wait()
		}
	}
}
