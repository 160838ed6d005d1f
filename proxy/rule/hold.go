package rule

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A hold keeps a frame until a user releases it.
type hold struct {
	limit time.Duration // 0: Desk.Limit
}

func readHold(p *scanner) (action, error) {
	if !p.more() {
		return hold{}, nil
	}
	at := p.i
	d, err := p.duration("the longest hold")
	if err == nil && d == 0 {
		err = p.wrong(at, "the longest hold is a time such as 30s")
	}
	return hold{d}, err
}

func (a hold) act(p *passage) string {
	if p.engine.desk == nil {
		return "hold"
	}
	p.holder, p.done = p.counter, true
	return ""
}

func (hold) ends() bool { return false }

// Limits of frames that wait for a user.
const (
	usualHold     = 10 * time.Minute // the time for one frame
	maxHeldFrames = 10_000           // including postponed frames
	maxSending    = 16               // injected frames that the receiver has not yet read
	sendPatience  = 5 * time.Second  // the wait for room for another injected frame
)

// A Desk keeps the frames that rules hold until users decide about them. It needs users:
// without one, no frame waits. Pass it to Set.Attend before Set.Chain.
type Desk struct {
	Limit time.Duration // the longest time that a frame is held; 0: ten minutes

	// Wait is how long the first frame held by a rule of the proxy waits for a user to join.
	// 0: it passes at once.
	Wait time.Duration

	began   chan struct{} // closed when the proxy has started
	closed  chan struct{} // closed by Close
	sending chan struct{} // has one element for each injected frame that the receiver has not read
	engines []*Engine

	additions atomic.Int64 // number of AddRules calls without a file

	working sync.Mutex
	over    bool           // guarded by working: Close was called
	work    sync.WaitGroup // goroutines; none starts once over is set

	// The proxy guards the rest: it calls the Interceptors of a chain one at a time.
	users   []*User
	queues  []*queue          // oldest first
	last    uint64            // number of the last held frame
	names   int               // number of user names given out
	rules   []*Rule           // the proxy's, then those that users added
	asking  map[string]asking // by the ids of the requests that users made
	patient *time.Timer       // runs for Wait; nil: not started
	came    bool              // a user has joined, or Wait is over
	hurried bool              // frames no longer wait
}

// NewDesk returns a Desk without users.
func NewDesk() *Desk {
	return &Desk{began: make(chan struct{}), closed: make(chan struct{}), sending: make(chan struct{}, maxSending), asking: map[string]asking{}}
}

// Close makes all calls of users return, and waits for the Desk's goroutines. Call it once,
// after the proxy has ended or failed to start.
func (d *Desk) Close() {
	d.working.Lock()
	d.over = true
	d.working.Unlock()
	close(d.closed)
	d.work.Wait()
}

// begin starts a goroutine. It returns false if the Desk is closed.
func (d *Desk) begin(do func()) bool {
	d.working.Lock()
	defer d.working.Unlock()
	if !d.over {
		d.work.Go(do)
	}
	return !d.over
}

// GiveUp releases all frames, giving why as the reason. From then on no frame waits.
func (d *Desk) GiveUp(why string) {
	d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		d.hurried = true
		return d.release(out, why, func(q *queue) bool { return q.engine == e })
	})
}

// An asking is a request that a user made and that has no answer yet.
type asking struct {
	user     *User
	answered func(response []byte)
}

// A queue holds the waiting frames of one direction of a session. A rule holds the first
// frame, and the others wait behind it.
type queue struct {
	engine  *Engine
	dir     wire.Direction
	session string
	name    string // the rule that holds the first frame, or held the one before it
	frames  []*waiting
	bytes   int
	timer   *time.Timer // for the first frame
}

// A waiting is a frame that waits.
type waiting struct {
	held   Held
	holder *counter     // the rule that holds it; nil: it only waits behind others
	frame  wire.Frame   // as it will be sent
	before []wire.Frame // lines sent before it
	copies copies       // sent after it
	after  []wire.Frame // lines sent after the copies, with their notes
	id     []byte       // the id if it is a request, otherwise nil
	came   wire.Frame   // the frame as it arrived, for Held; Raw is nil if a rule made it
	did    string       // what a user did to it while it waited behind others
	call   int          // Engine.calls when it was kept
}

// start records that the proxy has started an Engine.
func (d *Desk) start(e *Engine) {
	if d == nil {
		return
	}
	if e == d.engines[0] {
		close(d.began)
	}
	d.begin(func() {
		<-e.handle.Hurry
		e.handle.Do(func(out []wire.Frame) []wire.Frame {
			d.hurried = true
			return d.release(out, "the connection ends", func(q *queue) bool { return q.engine == e })
		})
	})
}

// attended reports whether to hold a frame that a rule hits. owner is the user who owns the
// rule; for a rule of the proxy it is nil, and any user will do.
func (d *Desk) attended(owner *User) bool {
	switch {
	case d == nil:
		return true // for a Trial
	case d.hurried:
		return false
	case owner != nil:
		return !owner.gone
	case slices.ContainsFunc(d.users, func(u *User) bool { return u.attends }):
		return true
	case d.came || d.Wait <= 0:
		return false
	}
	if d.patient == nil {
		d.patient = time.AfterFunc(d.Wait, func() {
			over := false
			d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
				if e == d.engines[0] { // decide once: frames pass between the calls
					over, d.came = !d.came, true
				}
				if !over {
					return out
				}
				return d.release(out, "nobody came within "+termtext.Duration(d.Wait), func(q *queue) bool { return q.engine == e })
			})
		})
	}
	return true
}

// holds reports whether a rule still holds the frames it hit. c may be nil.
func (d *Desk) holds(c *counter) bool { return c != nil && !c.off && d.attended(c.owner) }

// queue returns the queue for a direction of a session, or nil.
func (d *Desk) queue(e *Engine, dir wire.Direction, session string) *queue {
	if d == nil {
		return nil
	}
	for _, q := range d.queues {
		if q.engine == e && q.dir == dir && q.session == session {
			return q
		}
	}
	return nil
}

// isBusy reports whether any frame waits.
func (d *Desk) isBusy() bool { return d != nil && len(d.queues) > 0 }

// waits reports whether any frame of dir waits.
func (d *Desk) waits(e *Engine, dir wire.Direction) bool {
	return d != nil && slices.ContainsFunc(d.queues, func(q *queue) bool { return q.engine == e && q.dir == dir })
}

// keep adds a frame to its queue and returns a note about that.
func (d *Desk) keep(e *Engine, session string, w *waiting) (about wire.Frame) {
	dir := w.frame.Dir
	q := d.queue(e, dir, session)
	d.last++
	w.held.ID, w.held.Dir, w.held.Session, w.held.At, w.held.Raw = d.last, dir, session, time.Now(), w.frame.Raw
	did := fmt.Sprintf("hold %d", d.last)
	if q == nil {
		q = &queue{engine: e, dir: dir, session: session}
		d.queues = append(d.queues, q)
	} else {
		w.held.Behind = q.frames[0].held.ID
		did += fmt.Sprintf(", behind %d", w.held.Behind)
	}
	if w.holder != nil {
		w.held.Rule = w.holder.Name
	}
	q.frames = append(q.frames, w)
	q.bytes += w.size()
	if len(q.frames) == 1 {
		d.time(q)
	}
	h := w.held
	d.tell(Event{Held: &h})
	return holdNote(dir, q.name, w.held.ID, did, 1)
}

func (w *waiting) size() (n int) {
	for _, list := range [][]wire.Frame{w.before, {w.frame}, w.after} {
		for _, f := range list {
			n += len(f.Raw)
		}
	}
	return n
}

func holdNote(dir wire.Direction, name string, id uint64, did string, frames int) wire.Frame {
	m := wire.Marked{Rule: &wire.Rule{Name: name, Did: wire.Clip(did, maxNote), Frames: frames, Hold: id}}
	return wire.Frame{Dir: dir, Kind: wire.Mark, Raw: m.JSON()}
}

// time starts the timer for the first frame of a queue.
func (d *Desk) time(q *queue) {
	if q.timer != nil {
		q.timer.Stop()
	}
	first := q.frames[0]
	q.name = first.holder.Name
	limit := first.holder.action.(hold).limit
	if limit == 0 {
		limit = d.Limit
	}
	if limit == 0 {
		limit = usualHold
	}
	first.held.Until = time.Now().Add(limit)
	q.timer = time.AfterFunc(limit, func() {
		q.engine.handle.Do(func(out []wire.Frame) []wire.Frame {
			if len(q.frames) == 0 || q.frames[0] != first {
				return out
			}
			return d.next(out, q, "let go: it was held for "+termtext.Duration(limit))
		})
	})
}

// next releases the first frame of a queue, and the frames that waited only for it.
func (d *Desk) next(out []wire.Frame, q *queue, did string) []wire.Frame {
	return d.settle(d.letGo(out, q, did), q)
}

// letGo releases the first frame of a queue.
func (d *Desk) letGo(out []wire.Frame, q *queue, did string) []wire.Frame {
	w := q.frames[0]
	from := len(out)
	n := lines(w.frame.Raw)
	for _, f := range w.before {
		if f.Kind != wire.Mark {
			n += lines(f.Raw)
		}
	}
	if w.frame.Origin != wire.Injected {
		w.frame.Origin = wire.Rewritten
	}
	out = append(out, holdNote(q.dir, q.name, w.held.ID, fmt.Sprintf("hold %d, %s", w.held.ID, did), n))
	out = append(out, w.before...)
	out = w.copies.append(append(out, w.frame), w.frame)
	out = append(out, w.after...)
	d.remove(q, 0, did)
	return append(out[:from], q.engine.unstalled(out[from:])...)
}

// remove removes a frame from a queue.
func (d *Desk) remove(q *queue, i int, why string) {
	w := q.frames[i]
	q.frames = slices.Delete(q.frames, i, i+1)
	q.bytes -= w.size()
	d.tell(Event{Gone: w.held.ID, Why: why})
}

// settle is called when the first frame of a queue has gone. It releases the frames up to the
// next one that a rule holds.
func (d *Desk) settle(out []wire.Frame, q *queue) []wire.Frame {
	for len(q.frames) > 0 {
		w := q.frames[0]
		if !d.holds(w.holder) {
			out = d.letGo(out, q, cmp.Or(w.did, "let go: what it waited for is gone"))
			continue
		}
		if w.held.Behind != 0 { // it was behind another frame until now
			w.held.Behind = 0
			d.time(q)
			h := w.held
			d.tell(Event{Held: &h})
		}
		return out
	}
	d.forget(q)
	return out
}

// forget removes an empty queue.
func (d *Desk) forget(q *queue) {
	if q.timer != nil {
		q.timer.Stop()
	}
	d.queues = slices.DeleteFunc(d.queues, func(o *queue) bool { return o == q })
	q.engine.waited()
}

// release releases all frames of the queues for which of returns true.
func (d *Desk) release(out []wire.Frame, why string, of func(q *queue) bool) []wire.Frame {
	for _, q := range slices.Clone(d.queues) {
		if !of(q) {
			continue
		}
		for len(q.frames) > 0 {
			out = d.letGo(out, q, "let go: "+why)
		}
		d.forget(q)
	}
	return out
}

// dismiss releases the frames that no user can decide about any more, and those that waited
// only for them.
func (d *Desk) dismiss(out []wire.Frame, e *Engine, why string) []wire.Frame {
	for _, q := range slices.Clone(d.queues) {
		if q.engine == e && len(q.frames) > 0 && !d.holds(q.frames[0].holder) {
			out = d.next(out, q, "let go: "+why)
		}
	}
	return out
}

// limit releases the oldest queues of an Engine until the waiting frames are within limits.
func (d *Desk) limit(out []wire.Frame, e *Engine) []wire.Frame {
	if !d.isBusy() {
		return out
	}
	for {
		frames, size := len(e.postponed.frames), e.postponed.bytes
		var oldest *queue
		for _, q := range d.queues {
			frames, size = frames+len(q.frames), size+q.bytes
			if oldest == nil && q.engine == e {
				oldest = q
			}
		}
		if oldest == nil || frames <= maxHeldFrames && size <= maxKept {
			return out
		}
		why := fmt.Sprintf("more than %d frames or %d MiB wait", maxHeldFrames, maxKept>>20)
		out = d.release(out, why, func(q *queue) bool { return q == oldest })
	}
}

// held returns the frames that were already waiting before the current call, as they arrived.
func (d *Desk) held(e *Engine) (frames []wire.Frame) {
	if d == nil {
		return nil
	}
	for _, q := range d.queues {
		for _, w := range q.frames {
			if q.engine == e && w.call < e.calls && w.came.Raw != nil {
				frames = append(frames, w.came)
			}
		}
	}
	return frames
}

// hit tells users that a rule has hit.
func (d *Desk) hit(c *counter) {
	if d != nil {
		d.tell(Event{Rule: c.Name, Hits: c.hits})
	}
}

// answered passes on the response to a user's request.
func (d *Desk) answered(id, response []byte) {
	if d == nil {
		return
	}
	if a, ok := d.asking[string(id)]; ok {
		delete(d.asking, string(id))
		a.answered(bytes.Clone(response))
	}
}

// tell sends an event to all users.
func (d *Desk) tell(e Event) {
	for _, u := range d.users {
		u.tell(e)
	}
}
