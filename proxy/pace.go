package proxy

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A Pacer is an Interceptor that decides how frames are written.
//
// A frame that is written slowly or late keeps its origin, and the tape has the time at
// which it arrived. Later bytes in its direction wait, and their writer feels that as
// with a slow pipe: a stream is not read while the queue to its receiver is being
// written. All waiting ends, and the rest is written at once, when a signal asks the
// process to end, the context of Run ends, the client has left, or Handle.Exit is called.
type Pacer interface {
	// Pace is called for each frame of a direction that the Interceptor wants, as it leaves
	// the chain, whoever made it. Lines longer than 16 MiB are written at once.
	Pace(f wire.Frame) Pace
}

// A Pace says how a frame is written; the zero Pace writes it at once. If several Pacers
// answer, delays and pauses add up, and all cuts, rates and notes apply.
type Pace struct {
	Delay time.Duration // before the first byte
	Rate  int           // bytes per second, written in pieces of a tenth of that; 0: no limit
	Piece int           // bytes after which a write ends; 0: the whole frame
	Cuts  []int         // offsets in Raw, ascending, where a write also ends
	Pause time.Duration // between the writes that Piece and Cuts separate

	// AfterStderr keeps the frame until everything sent to the client's stderr so far has
	// been written. If that waits for the end of a line of the agent, the line is ended
	// first: the agent may be waiting for this frame.
	AfterStderr bool

	Notes []wire.Rule // for the tape, before the frame
}

func (c Pace) isZero() bool {
	return c.Delay <= 0 && c.Rate <= 0 && c.Piece <= 0 && len(c.Cuts) == 0 && !c.AfterStderr
}

// and combines two Paces.
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
	c.AfterStderr = c.AfterStderr || d.AfterStderr
	c.Cuts = append(c.Cuts[:len(c.Cuts):len(c.Cuts)], d.Cuts...)
	c.Notes = append(c.Notes[:len(c.Notes):len(c.Notes)], d.Notes...)
	return c
}

// next returns where the write that begins at an offset of size bytes ends, and how long
// to wait after it.
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

// A stretch is a part of a queue with its own pace.
type stretch struct {
	from, to int
	pace     Pace
	stderr   int64 // how much of what was put into the queue for stderr is written before
}

// pace returns how to write a frame. The caller holds mu.
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
		if !ok { // the Interceptor panicked
			p.send(s, held)
			continue
		}
		s.keep(held)
	}
	return pace
}

// writePaced writes b at the paces of its stretches. The caller does not hold mu.
func (p *pipeline) writePaced(q *outputQueue, b []byte, paced []stretch) {
	at := 0
	for _, s := range paced {
		s.from, s.to = min(s.from, len(b)), min(s.to, len(b))
		if s.from == s.to {
			break
		}
		q.destination.write(b[at:s.from])
		p.waitForStderr(s.stderr)
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

// wait waits for d, or until everything must be written at once.
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

// waitForStderr waits until the queue for stderr is written up to a position, or until
// everything must be written at once.
func (p *pipeline) waitForStderr(at int64) {
	if at == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.queues[wire.AgentStderr].written < at && !p.hurried() && p.gate.open() {
		p.cond.Wait()
	}
}

// rush permanently ends all waiting for a pace.
func (p *pipeline) rush() {
	p.rushed.Do(func() {
		close(p.hurry)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.cond.Broadcast()
	})
}

func (p *pipeline) hurried() bool {
	select {
	case <-p.hurry:
		return true
	default:
		return false
	}
}
