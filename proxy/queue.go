package proxy

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// An outputQueue leads to one receiver. A goroutine that puts bytes into it must drain it,
// or wait for the goroutine that is draining it.
type outputQueue struct {
	dir         wire.Direction
	destination *destination // used by the goroutine that set writing
	writing     bool

	buf   []byte // not yet written
	paced []stretch
	noted int    // bytes of buf that are on the tape; the rest has the origin Wire
	spare []byte // the other buffer, while it is not being written

	put     int64 // bytes ever put in
	written int64
	limit   int64 // write only this many bytes and drop the rest, after a hang-up; -1: all
	across  int64 // unwritten bytes put in by other directions; while there are any, help runs

	open    bool         // inside a line whose beginning has passed: nothing may come between its pieces
	later   []wire.Frame // frames that follow that line
	kept    int          // bytes of later
	waited  int          // frames ever put into later
	resumed int          // of those, how many have moved on to buf
}

// A position is a point in everything ever put into a queue.
type position struct {
	put    int64
	waited int  // frames that had to wait for the end of a line by then
	behind bool // those come after put
}

// reached reports whether everything before a position has been written.
func (q *outputQueue) reached(at *position) bool {
	if q.resumed < at.waited {
		at.behind = true
		return false
	}
	if at.behind {
		at.put, at.behind = q.put, false
	}
	return q.written >= at.put
}

// put notes a frame on the tape and queues it. Frames of origin Wire are noted together,
// when something else arrives or their chunk ends.
func (p *pipeline) put(f wire.Frame) {
	q := &p.queues[f.Dir]
	if f.Origin != wire.Wire || f.Kind == wire.Mark {
		if q.open && f.Origin.Received() {
			f.Raw = bytes.Clone(f.Raw)
			q.later = append(q.later, f)
			q.kept += len(f.Raw)
			q.waited++
			return
		}
		for i := range p.queues {
			p.note(&p.queues[i], wire.Wire)
		}
	}
	if f.Kind == wire.Mark {
		p.gate.do(func(j Journal) { j.Note(f.Dir, wire.ReadMark(f)) })
		return
	}
	pace := p.pace(f)
	for _, n := range pace.Notes {
		for i := range p.queues {
			p.note(&p.queues[i], wire.Wire)
		}
		p.gate.do(func(j Journal) { j.Note(f.Dir, wire.Marked{Rule: &n}) })
	}
	pace.Notes = nil
	if pace.AfterStderr {
		p.breakLine(&p.queues[wire.AgentStderr])
	}
	from := len(q.buf)
	q.buf = append(append(q.buf, f.Raw...), f.End.Bytes()...)
	if !pace.isZero() {
		s := stretch{from: from, to: len(q.buf), pace: pace}
		if pace.AfterStderr {
			s.stderr = p.queues[wire.AgentStderr].put
		}
		q.paced = append(q.paced, s)
	}
	if f.Origin != wire.Wire {
		p.note(q, f.Origin)
	}
}

// endLine queues the frames that waited for the end of a line.
func (p *pipeline) endLine(q *outputQueue) {
	q.open = false
	if len(q.later) == 0 {
		return
	}
	later := q.later
	q.later, q.kept = nil, 0
	for _, f := range later {
		p.put(f)
	}
	q.resumed += len(later)
	p.cond.Broadcast()
}

// breakLine ends a line that frames wait for.
func (p *pipeline) breakLine(q *outputQueue) {
	if len(q.later) == 0 {
		return
	}
	q.open = false
	p.put(wire.Frame{Dir: q.dir, Origin: wire.Injected, End: wire.LF})
	p.endLine(q)
}

// note writes to the tape what it still lacks. What the tape refuses, and what is
// withheld, leaves the queue.
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

// drain returns when everything now in the queue has been written.
func (p *pipeline) drain(q *outputQueue) {
	for want := q.put; q.written < want; {
		if q.writing {
			p.cond.Wait()
			continue
		}
		b, paced := q.buf, q.paced
		q.buf, q.paced, q.noted, q.spare = q.spare[:0], nil, 0, nil
		p.writeOut(q, b, paced)
		if cap(b) <= maxKept {
			q.spare = b
		}
	}
}

// writeOut writes the next part of the queue, without holding the lock.
func (p *pipeline) writeOut(q *outputQueue, b []byte, paced []stretch) {
	end := q.written + int64(len(b))
	if q.limit >= 0 {
		b = b[:max(0, min(int64(len(b)), q.limit-q.written))]
	}
	q.writing = true
	p.mu.Unlock()
	p.writePaced(q, b, paced)
	p.mu.Lock()
	q.writing = false
	q.written = end
	p.cond.Broadcast()
}

// passRaw passes bytes that no Interceptor wants to see as frames. Only what others send
// in this direction has to wait for the end of a line. It returns when everything has
// been written, or false if the gate is closed.
func (p *pipeline) passRaw(q *outputQueue, b []byte) bool {
	for len(b) > 0 {
		piece := b
		if q.kept > 0 {
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				piece = b[:i+1]
			}
		}
		b = b[len(piece):]
		if !p.gate.append(q.dir, wire.Wire, piece) {
			return false
		}
		q.put += int64(len(piece))
		q.open = piece[len(piece)-1] != '\n'
		direct := !q.writing && len(q.buf) == 0
		if !direct {
			q.buf = append(q.buf, piece...)
			q.noted = len(q.buf)
		}
		if !q.open {
			p.endLine(q) // before giving up the lock: what arrives later follows it
		}
		if direct {
			p.writeOut(q, piece, nil)
		}
	}
	p.drain(q)
	return true
}

// help drains what other directions put into a queue, until nothing more arrives.
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

// spill passes on the beginnings of lines kept for Interceptors, in directions that no
// Interceptor wants to see any more.
func (p *pipeline) spill() {
	for i := range p.splitters {
		q, s := &p.queues[i], &p.splitters[i]
		if p.framed(q.dir) || len(s.Pending) == 0 {
			continue
		}
		q.buf = append(q.buf, s.Pending...)
		p.note(q, wire.Wire)
		q.open = true
		*s = wire.Splitter{}
	}
}
