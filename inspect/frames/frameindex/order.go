package frameindex

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/acptap/acptap/record"
)

// An order merges the frames of an agent's tapes and its servers' tapes into one list,
// numbered from 1: first the frames already on the tapes, by time, then new ones, by time
// where they arrive together. The frames of one tape keep their order, as do those of the
// agent's tapes.
//
// The goroutine of an Index appends to an order; any goroutine may read it. A nil order
// ignores end, finish and wake.
type order struct {
	store *record.Store

	mu      sync.Mutex // guards the fields below
	parts   []*orderedPart
	runs    []run
	last    uint64    // number of the last frame
	ends    []partEnd // in order of time
	over    bool      // nothing will follow
	changed chan struct{}
}

// An orderedPart is a tape within an order.
type orderedPart struct {
	Part            // never changed
	session  string // the agent's session for which the server was started; empty if unknown
	runs     []int  // indexes in order.runs
	hasEnded bool
}

// A run is a sequence of frames that are adjacent both in an order and on a tape.
type run struct {
	first uint64 // number of its first frame
	part  int
	seq   uint64 // that frame's number on its tape
}

// A partEnd records the end of a part, when after was the order's last frame.
type partEnd struct {
	part  int
	after uint64
}

func newOrder(store *record.Store, agents []Part) *order {
	o := &order{store: store, changed: make(chan struct{})}
	for _, p := range agents {
		o.add(p)
	}
	return o
}

// add adds a tape as the next part.
func (o *order) add(p Part) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts = append(o.parts, &orderedPart{Part: p})
}

func (o *order) part(i int) *Part {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &o.parts[i].Part
}

func (o *order) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.parts)
}

// put appends a part's next frame, and returns its number.
func (o *order) put(part int, seq uint64) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	if n := len(o.runs); n == 0 || o.runs[n-1].part != part || o.runs[n-1].seq+(o.last-o.runs[n-1].first) != seq {
		o.runs = append(o.runs, run{o.last, part, seq})
		o.parts[part].runs = append(o.parts[part].runs, n)
	}
	return o.last
}

// link records the agent's session for which a part was started.
func (o *order) link(part int, session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts[part].session = session
}

func (o *order) session(part int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parts[part].session
}

// end records that a part has no more frames.
func (o *order) end(part int) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts[part].hasEnded = true
	o.ends = append(o.ends, partEnd{part, o.last})
}

// finish records that nothing will follow.
func (o *order) finish() {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.over = true
	o.mu.Unlock()
	o.wake()
}

// wake wakes the goroutines waiting for more.
func (o *order) wake() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
}

// A stretch is a section of a run whose frames are final.
type stretch struct {
	run
	frames uint64 // at least one
}

// run returns a run and the number after its last frame. The caller holds the lock.
func (o *order) run(i int) (r run, end uint64) {
	if i+1 < len(o.runs) {
		return o.runs[i], o.runs[i+1].first
	}
	return o.runs[i], o.last + 1
}

// from returns the stretch of frames on one tape that begins at the given number. ok is
// false if there is none yet.
func (o *order) from(number uint64) (s stretch, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if number == 0 || number > o.last {
		return stretch{}, false
	}
	i := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].first > number }) - 1
	r, end := o.run(i)
	return stretch{run{number, r.part, r.seq + number - r.first}, end - number}, true
}

// number returns the number of a frame of a part, or 0 if it has none yet.
func (o *order) number(part int, seq uint64) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if part >= len(o.parts) {
		return 0
	}
	of := o.parts[part].runs
	i := sort.Search(len(of), func(i int) bool { return o.runs[of[i]].seq > seq }) - 1
	if i < 0 {
		return 0
	}
	r, end := o.run(of[i])
	if number := r.first + seq - r.seq; number < end {
		return number
	}
	return 0
}

// find returns the position of a tape's frame. It waits until the frame is there; the
// number is 0 if it never will be, or if ctx is done.
func (o *order) find(ctx context.Context, tape string, seq uint64) (part int, number uint64) {
	for {
		o.mu.Lock()
		part = slices.IndexFunc(o.parts, func(p *orderedPart) bool { return p.Info.Tape == tape })
		over, changed := o.over, o.changed
		var last uint64 // of the tape so far
		if part >= 0 && len(o.parts[part].runs) > 0 {
			last = o.lastOf(part)
		}
		o.mu.Unlock()
		if last >= seq || over {
			break
		}
		select {
		case <-ctx.Done():
			return part, 0
		case <-changed:
		}
	}
	if part < 0 {
		return part, 0
	}
	return part, o.number(part, seq)
}

// lastOf returns a part's last frame so far. The caller holds the lock.
func (o *order) lastOf(part int) uint64 {
	of := o.parts[part].runs
	r, end := o.run(of[len(of)-1])
	return r.seq + (end - r.first) - 1
}

// await blocks until the frame with the given number exists. It returns false if nothing
// will follow or ctx is done.
func (o *order) await(ctx context.Context, number uint64) bool {
	for {
		o.mu.Lock()
		there, over, changed := o.last >= number, o.over, o.changed
		o.mu.Unlock()
		if there || over {
			return there
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// ended returns the k-th part to end, if it ended before the given frame.
func (o *order) ended(k int, before uint64) (part int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k >= len(o.ends) || o.ends[k].after >= before {
		return 0, false
	}
	return o.ends[k].part, true
}

// goesOn reports whether more frames of a part may come.
func (o *order) goesOn(part int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.parts[part].hasEnded
}
