package proxy

import (
	"bytes"
	"slices"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// An Interceptor sees every whole frame of client and agent before it is passed
// on, and decides what goes out in its place. Its methods, and the acts it hands
// to do, are called one at a time, so it needs no lock of its own. They must not
// block, and must not call do. After the first of them that panics it is asked
// what it has Held, and then left alone: all bytes pass as they come.
//
// What they are to send they append to out and return. The frames leave in that
// order, and in the order of the calls. Dir, Raw and End say where a frame goes
// and what it is; Raw is copied before the next call. The origin on the tape
// follows from what is returned:
//
//   - f itself, unchanged: Wire;
//   - a frame whose Origin is Rewritten: that. It should follow f, or what f
//     was, being withheld, or be a frame that was withheld and is now let go;
//   - every other frame: Injected.
//
// If f is not among what is returned for it, it is recorded as Withheld, before
// all that is sent instead.
type Interceptor interface {
	// Start is called once, before all other methods. With do the Interceptor
	// acts by itself, at any time and from any goroutine of its own: a timer, a
	// long replay. do calls act, sends what it returns, and returns when the
	// receivers have taken it or Run is over. It returns false, without having
	// called act, if Run is over or a call has panicked, and also if act itself
	// does.
	Start(do func(act func(out []wire.Frame) []wire.Frame) bool)

	// Intercept is called for each frame of client and agent. Of f there are
	// set Dir, End, Size and Raw, which is valid during the call. Lines longer
	// than 16 MiB pass without being shown.
	Intercept(f wire.Frame, out []wire.Frame) []wire.Frame

	// End is called when the client or the agent has closed its stream. That is
	// passed on when the channel that it returns is closed; nil is at once. Until
	// then there is time to send what is still held, or being made. It is not
	// waited for if the receiver takes no more, or Run is over.
	End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{})

	// Held returns what was withheld and waited to be let go when the call began
	// that has panicked, as it came and in that order. What that call was shown
	// is not among it. All of that is passed on.
	Held() []wire.Frame
}

const (
	// maxFrame is how long a line may be to be shown to an Interceptor.
	maxFrame = 16 << 20

	// maxBacklog is how many bytes that were sent against the stream may wait
	// before the stream is read on.
	maxBacklog = 1 << 20

	// maxKept is how large a buffer is kept for the next use.
	maxKept = 1 << 20
)

// A junction is where the two directions meet an Interceptor. One lock orders
// all: what the Interceptor decides, the tape, and the lanes. It is never held
// while a peer is written to, so that one that does not read stops only the
// stream that leads to it.
type junction struct {
	tape   *tape
	closed chan struct{}
	failed chan struct{} // closed when the Interceptor has panicked

	mu          sync.Mutex  // guards the rest
	interceptor Interceptor // nil when it has panicked
	cond        sync.Cond   // broadcast when a lane has moved on
	lanes       [2]lane     // by direction
	out         []wire.Frame
}

// A lane leads to one peer. Whoever puts bytes into it sees to it that they are
// written, by himself or by the one who is at it.
type lane struct {
	dir      wire.Direction
	splitter wire.Splitter // of the stream of that direction
	outlet   *outlet       // used by the one who set writing
	writing  bool

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

func newJunction(i Interceptor, t *tape, outlets [wire.Directions]*outlet) *junction {
	j := &junction{interceptor: i, tape: t, closed: make(chan struct{}), failed: make(chan struct{})}
	j.cond.L = &j.mu
	for dir := range j.lanes {
		j.lanes[dir] = lane{dir: wire.Direction(dir), splitter: wire.Splitter{Limit: maxFrame}, outlet: outlets[dir]}
	}
	return j
}

func (j *junction) start() {
	j.mu.Lock()
	defer j.mu.Unlock()
	out, _ := j.ask(func(out []wire.Frame) []wire.Frame {
		j.interceptor.Start(j.do)
		return out
	})
	j.send(out, -1)
}

// close lets those go who wait in do, or for the end of a stream. The tape is
// closed.
func (j *junction) close() {
	close(j.closed)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cond.Broadcast()
}

func (j *junction) do(act func(out []wire.Frame) []wire.Frame) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for (j.lanes[0].open || j.lanes[1].open) && j.interceptor != nil && j.tape.open() {
		j.cond.Wait() // else all that is sent meanwhile would have to be kept
	}
	if j.interceptor == nil || !j.tape.open() {
		return false
	}
	before := [2]int64{j.lanes[0].put, j.lanes[1].put}
	out, ok := j.ask(act)
	j.send(out, -1)
	j.spill()
	after := [2]int64{j.lanes[0].put, j.lanes[1].put} // before drain, which lets others put
	for i := range j.lanes {
		if after[i] > before[i] {
			go j.write(&j.lanes[i]) // a write that blocks cannot be called off
		}
	}
	for i := range j.lanes {
		for ok && after[i] > before[i] && j.lanes[i].written < after[i] && j.tape.open() {
			j.cond.Wait()
		}
	}
	return ok
}

func (j *junction) write(l *lane) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.drain(l)
}

// A feed cuts one direction into frames and shows them to the Interceptor.
type feed struct {
	*junction
	lane  *lane // where the direction leads
	other *lane
}

func newFeed(j *junction, dir wire.Direction) *feed {
	return &feed{junction: j, lane: &j.lanes[dir], other: &j.lanes[1-dir]}
}

func (d *feed) take(p []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.tape.open() {
		return false
	}
	before := d.other.put
	s := &d.lane.splitter
	s.Feed(p, d.frame)
	d.spill()
	if cap(s.Pending) > maxKept && len(s.Pending) == 0 {
		s.Pending = nil
	}
	d.deliver(before)
	return d.tape.open() && !d.lane.outlet.full(d.lane.dir)
}

// end returns when the end of the stream may be passed on.
func (d *feed) end() {
	ready := d.last()
	if ready == nil {
		return
	}
	select {
	case <-ready:
	case <-d.failed:
	case <-d.lane.outlet.broken:
	case <-d.closed:
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain(d.lane) // what was sent meanwhile may still be on its way
}

// last tells the Interceptor that the stream has ended. It returns what that
// returned.
func (d *feed) last() (ready <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.tape.open() {
		return nil
	}
	before := d.other.put
	d.lane.splitter.Flush(d.frame)
	if d.interceptor != nil {
		out, _ := d.ask(func(out []wire.Frame) []wire.Frame {
			out, ready = d.interceptor.End(d.lane.dir, out)
			return out
		})
		d.send(out, -1)
	}
	d.spill() // also if it has panicked at the last frame
	d.deliver(before)
	return ready
}

func (d *feed) frame(piece []byte, end wire.LineEnd, last bool) {
	f := wire.Frame{Dir: d.lane.dir, Raw: piece, End: end, Size: int64(len(piece))}
	switch {
	case !last, d.lane.open:
		d.pass(f, last)
		return
	case d.interceptor == nil:
		d.put(f)
		return
	}
	out, ok := d.ask(func(out []wire.Frame) []wire.Frame { return d.interceptor.Intercept(f, out) })
	if !ok {
		out = append(out, f)
	}
	passed := slices.IndexFunc(out, func(g wire.Frame) bool {
		return g.Origin == wire.Wire && g.Dir == f.Dir && g.End == f.End && bytes.Equal(g.Raw, f.Raw)
	})
	if passed < 0 {
		f.Origin = wire.Withheld
		d.put(f)
	}
	d.send(out, passed)
}

// pass passes a piece of a line that is too long to be shown.
func (d *feed) pass(piece wire.Frame, last bool) {
	d.put(piece)
	d.lane.open = !last
	if last {
		later := d.lane.later
		d.lane.later, d.lane.kept = nil, 0
		for _, f := range later {
			d.put(f)
		}
		d.cond.Broadcast()
	}
}

// deliver waits until the receiver has taken what was put into the feed's lane.
// What was put into the other one, beyond before, does not stop this stream as
// long as it is not too much: its receiver may be one that first wants to be
// read. What that lane has to carry anyway does not count, for the same reason.
// Nor may too much be kept there for the end of a long line.
func (d *feed) deliver(before int64) {
	across := d.other.put - before // before drain, which lets others put
	if across > 0 {
		if d.other.across == 0 {
			go d.help(d.other)
		}
		d.other.across += across
	}
	d.note(d.lane, wire.Wire)
	d.drain(d.lane)
	for across > 0 && d.other.across > maxBacklog {
		d.cond.Wait()
	}
	for d.other.kept > maxBacklog && d.interceptor != nil && d.tape.open() {
		d.cond.Wait()
	}
}

// send puts the frames that the Interceptor returned where they go. The one at
// the index passed is what was shown to it.
func (j *junction) send(out []wire.Frame, passed int) {
	for i, f := range out {
		switch {
		case i == passed:
			f.Origin = wire.Wire
		case f.Origin != wire.Rewritten:
			f.Origin = wire.Injected
		}
		j.put(f)
	}
	clear(out) // may hold large frames
	j.out = out[:0]
}

// put notes a frame and puts it into its lane. Frames of origin Wire are noted
// together, when something else comes or the chunk they came in ends.
func (j *junction) put(f wire.Frame) {
	l := &j.lanes[f.Dir]
	if f.Origin != wire.Wire {
		if l.open {
			f.Raw = bytes.Clone(f.Raw)
			l.later = append(l.later, f)
			l.kept += len(f.Raw)
			return
		}
		for i := range j.lanes {
			j.note(&j.lanes[i], wire.Wire)
		}
	}
	l.buf = append(append(l.buf, f.Raw...), f.End.Bytes()...)
	if f.Origin != wire.Wire {
		j.note(l, f.Origin)
	}
}

// note tells the tape of what it does not know yet. What it does not take, and
// what is withheld, leaves the lane.
func (j *junction) note(l *lane, origin wire.Origin) {
	p := l.buf[l.noted:]
	if len(p) == 0 {
		return
	}
	if !j.tape.append(l.dir, origin, p) || !origin.Received() {
		l.buf = l.buf[:l.noted]
		return
	}
	l.noted = len(l.buf)
	l.put += int64(len(p))
}

// drain returns when all that is in the lane now has been written.
func (j *junction) drain(l *lane) {
	for want := l.put; l.written < want; {
		if l.writing {
			j.cond.Wait()
			continue
		}
		p := l.buf
		l.buf, l.noted, l.spare = l.spare[:0], 0, nil
		l.writing = true
		j.mu.Unlock()
		l.outlet.write(p)
		j.mu.Lock()
		l.writing = false
		l.written += int64(len(p))
		if cap(p) <= maxKept {
			l.spare = p
		}
		j.cond.Broadcast()
	}
}

// help drains what was put across into a lane, until there is no more of it.
func (j *junction) help(l *lane) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for l.across > 0 {
		n := l.across
		j.drain(l)
		l.across -= n
		j.cond.Broadcast()
	}
}
