package proxy

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A Pacer is an Interceptor that says how frames are written.
//
// What is written slowly or late is on the tape when it came, and its origin is
// not changed. What follows in its direction waits behind it, and its writer
// feels that, as with a slow pipe: a stream is not read on while the queue to its
// receiver is being written. All waiting ends when a signal comes that asks to
// end, the context of Run ends, the client has gone, or at Handle.Exit: what is
// left is then written at once.
type Pacer interface {
	// Pace is asked of each frame of a direction that the Interceptor wants, as it
	// comes out of the chain, whoever made it. Lines longer than 16 MiB are
	// written at once.
	Pace(f wire.Frame) Pace
}

// A Pace is how a frame is written: at once, if it is zero. Of what several Pacers
// say, delays and pauses add up, and cuts and rates all hold.
type Pace struct {
	Delay time.Duration // before the first byte
	Rate  int           // bytes a second, in pieces of a tenth of that; 0: as fast as it can be
	Piece int           // bytes after which a write ends; 0: the whole frame
	Cuts  []int         // where a write ends too: offsets in Raw, ascending
	Pause time.Duration // between the writes that Piece and Cuts make
}

func (c Pace) isZero() bool {
	return c.Delay <= 0 && c.Rate <= 0 && c.Piece <= 0 && len(c.Cuts) == 0
}

// and returns what both say.
func (c Pace) and(d Pace) Pace {
	least := func(a, b int) int {
		if a <= 0 || b > 0 && b < a {
			return b
		}
		return a
	}
	c.Delay += d.Delay
	c.Pause += d.Pause
	c.Rate, c.Piece = least(c.Rate, d.Rate), least(c.Piece, d.Piece)
	c.Cuts = append(c.Cuts[:len(c.Cuts):len(c.Cuts)], d.Cuts...)
	return c
}

// next returns where the write ends that begins at an offset of size bytes, and
// how long to wait behind it.
func (c Pace) next(at, size int) (end int, wait time.Duration) {
	end = size
	for _, cut := range c.Cuts {
		if at < cut {
			end = min(end, cut)
		}
	}
	if c.Piece > 0 {
		end = min(end, (at/c.Piece+1)*c.Piece)
	}
	if end < size {
		wait = max(c.Pause, 0)
	}
	if c.Rate > 0 {
		if n := max(c.Rate/10, 1); at+n < end {
			end, wait = at+n, 0
		}
		wait += time.Duration(end-at) * time.Second / time.Duration(c.Rate)
	}
	return end, wait
}

// A stretch is a part of a queue with a pace of its own.
type stretch struct {
	from, to int
	pace     Pace
}

// pace returns how a frame is to be written. Called with mu held.
func (p *pipeline) pace(f wire.Frame) (pace Pace) {
	if f.Dir == wire.AgentStderr || !f.Origin.Received() {
		return Pace{}
	}
	for i := range p.stages {
		s := &p.stages[i]
		if s.pacer == nil || !s.shown(f.Dir) {
			continue
		}
		held, ok := p.act(s, func(_ Interceptor, out []wire.Frame) []wire.Frame {
			pace = pace.and(s.pacer.Pace(f))
			return out
		})
		if !ok { // it has failed
			p.send(s, held)
			continue
		}
		s.keep(held)
	}
	return pace
}

// writePaced writes b by the paces of its stretches. Called without mu.
func (p *pipeline) writePaced(q *outputQueue, b []byte, paced []stretch) {
	at := 0
	for _, s := range paced {
		s.from, s.to = min(s.from, len(b)), min(s.to, len(b))
		if s.from == s.to {
			break
		}
		q.destination.write(b[at:s.from])
		p.wait(q, s.pace.Delay)
		for at = s.from; at < s.to; {
			end, wait := s.pace.next(at-s.from, s.to-s.from)
			q.destination.write(b[at : s.from+end])
			at = s.from + end
			p.wait(q, wait)
		}
	}
	q.destination.write(b[at:])
}

// wait waits, unless all that is to be written must be written now.
func (p *pipeline) wait(q *outputQueue, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.hurry:
	case <-q.destination.broken:
	}
}

// rush ends all waiting for a pace. Nothing waits any more from then on.
func (p *pipeline) rush() { p.rushed.Do(func() { close(p.hurry) }) }
