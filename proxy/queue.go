package proxy

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// An outputQueue leads to one peer. Whoever puts bytes into it sees to it that they are
// written, by himself or by the one who is at it.
type outputQueue struct {
	dir         wire.Direction
	splitter    wire.Splitter // of the stream of that direction
	destination *destination  // used by the one who set writing
	writing     bool

	buf   []byte // to be written
	noted int    // bytes of buf that are on the tape; the rest is of origin Wire
	spare []byte // the other buffer, while it is not being written

	put     int64 // bytes ever put in
	written int64
	across  int64 // bytes put in by the other direction and not written; while there are any, help is at work

	open  bool         // in a line that is too long to be shown: nothing may get between its pieces
	later []wire.Frame // what is to follow it
	kept  int          // bytes of later
}

// put notes a frame and puts it into its queue. Frames of origin Wire are noted
// together, when something else comes or the chunk they came in ends.
func (p *pipeline) put(f wire.Frame) {
	q := &p.queues[f.Dir]
	if f.Origin != wire.Wire {
		if q.open {
			f.Raw = bytes.Clone(f.Raw)
			q.later = append(q.later, f)
			q.kept += len(f.Raw)
			return
		}
		for i := range p.queues {
			p.note(&p.queues[i], wire.Wire)
		}
	}
	q.buf = append(append(q.buf, f.Raw...), f.End.Bytes()...)
	if f.Origin != wire.Wire {
		p.note(q, f.Origin)
	}
}

// note tells the tape of what it does not know yet. What it does not take, and
// what is withheld, leaves the queue.
func (p *pipeline) note(q *outputQueue, origin wire.Origin) {
	b := q.buf[q.noted:]
	if len(b) == 0 {
		return
	}
	if !p.gate.append(q.dir, origin, b) || !origin.Received() {
		q.buf = q.buf[:q.noted]
		return
	}
	q.noted = len(q.buf)
	q.put += int64(len(b))
}

// drain returns when all that is in the queue now has been written.
func (p *pipeline) drain(q *outputQueue) {
	for want := q.put; q.written < want; {
		if q.writing {
			p.cond.Wait()
			continue
		}
		b := q.buf
		q.buf, q.noted, q.spare = q.spare[:0], 0, nil
		q.writing = true
		p.mu.Unlock()
		q.destination.write(b)
		p.mu.Lock()
		q.writing = false
		q.written += int64(len(b))
		if cap(b) <= maxKept {
			q.spare = b
		}
		p.cond.Broadcast()
	}
}

// help drains what was put across into a queue, until there is no more of it.
func (p *pipeline) help(q *outputQueue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for q.across > 0 {
		n := q.across
		p.drain(q)
		q.across -= n
		p.cond.Broadcast()
	}
}
