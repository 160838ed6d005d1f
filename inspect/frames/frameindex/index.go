package frameindex

import (
	"bytes"
	"context"
	"math"
	"sync"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// An Index holds the fields of a timeline's frames in columns, in about 30 bytes per
// frame. It finds frames by field, latencies, or the next frame of a kind without
// rereading the tapes (BenchmarkMillion in package screen). One goroutine writes the
// index as it reads the tapes; any number may read it.
type Index struct {
	onChange func() // called when there is more to draw

	mu       sync.Mutex // guards the fields below, except for frames up to the last, which never change
	columns  Columns
	open     Open
	newRows  []Row         // the latest recorded ones, until they are taken
	latest   dialect.Frame // the last recorded frame with its bytes, which users who follow a tape look at
	changed  chan struct{} // closed when there is more
	err      error         // error of the last unreadable part
	complete bool          // it has everything that was initially on the tapes
	ended    bool          // nothing will follow

	ends    int                      // number of parts whose end was handled
	written int                      // number of frames
	known   map[annotationKey]uint32 // indexes of annotations; only the writer uses these
	key     annotationKey            // of the previous frame
	at      uint32
}

// Annotations with equal keys are stored once.
type annotationKey struct {
	method, update, session string
	events                  dialect.Events
}

// NewIndex returns an empty index. The goroutine that writes the index calls onChange when
// there is more to draw.
func NewIndex(onChange func()) *Index {
	return &Index{onChange: onChange, changed: make(chan struct{}), known: map[annotationKey]uint32{}}
}

const (
	publishEvery = 1 << 10 // in frames
	maxNewRows   = 512     // rows prepared for drawing: more than any screen has
)

// Read writes the index until the timeline ends or ctx is done.
func (x *Index) Read(ctx context.Context, t *Timeline) {
	var servers *record.Store
	if t.order != nil {
		servers = t.order.store
	}
	r, err := t.reader(servers, true)
	if err != nil {
		x.announce(func() { x.err = err })
	}
	r.Fields = true
	last := uint64(0)
	for e := range r.Read(ctx) {
		switch e.Kind {
		case reading.Begins:
			t.know(r)
		case reading.Read:
			if e.Err == nil {
				t.put(r, e)
			}
			last = x.add(t, &e.Frame, e.Err, last)
			switch {
			case e.Err != nil:
			case x.complete:
				x.announceFrame(e.Frame)
			case x.written%publishEvery == 0:
				x.publish(func() { x.columns.Last = last })
				t.order.wake()
			}
		case reading.Ends:
			if t.order.end(e.Part.Index); x.complete {
				x.announce(func() { x.endTapes(t) })
			}
		case reading.Looked:
			if !x.complete {
				x.announce(func() { x.finish(t, last) })
			}
			t.order.wake()
		}
	}
	if ctx.Err() != nil {
		return
	}
	t.order.finish()
	x.announce(func() {
		x.ended = true
		x.endTapes(t)
		x.open.end(len(t.agents)-1, last)
	})
}

// finish marks the initial content of the tapes as read. The caller holds the lock.
func (x *Index) finish(t *Timeline, last uint64) {
	x.columns.Last, x.complete = last, true
	if x.endTapes(t); t.order == nil && !t.Latest().Info.Live {
		x.open.end(len(t.agents)-1, last)
	}
}

// announceFrame announces a newly recorded frame.
func (x *Index) announceFrame(f dialect.Frame) {
	row := NewRow(&f, filter.Tool{})
	f.Raw = bytes.Clone(f.Raw)
	x.announce(func() {
		x.columns.Last, x.latest = f.Seq, f
		x.newRows = append(x.newRows[max(0, len(x.newRows)-maxNewRows):], row)
	})
}

// endTapes records which tapes have ended. The caller holds the lock.
func (x *Index) endTapes(t *Timeline) {
	for {
		part, ok := t.ended(x.ends, math.MaxUint64)
		if !ok {
			return
		}
		x.open.end(part, x.columns.Last)
		x.ends++
	}
}

// announce publishes a change and reports it to onChange.
func (x *Index) announce(change func()) {
	x.publish(change)
	x.onChange()
}

// publish makes a change under the lock and wakes the readers waiting for it.
func (x *Index) publish(change func()) {
	x.mu.Lock()
	change()
	close(x.changed)
	x.changed = make(chan struct{})
	x.mu.Unlock()
}

// add writes the next frame, and returns the last one written.
func (x *Index) add(t *Timeline, f *dialect.Frame, err error, last uint64) uint64 {
	if err != nil {
		x.announce(func() { x.err = err })
		return last
	}
	if x.written > 0 && f.Seq <= last {
		return last // numbers rise unless a tape is damaged
	}
	i := x.written
	if x.written++; i/chunkFrames == len(x.columns.chunks) || f.Seq != last+1 || i == 0 {
		x.mu.Lock()
		if i/chunkFrames == len(x.columns.chunks) {
			x.columns.chunks = append(x.columns.chunks, new(chunk))
		}
		if f.Seq != last+1 || i == 0 {
			x.columns.jumps = append(x.columns.jumps, jump{f.Seq, i})
		}
		x.mu.Unlock()
	}
	c, i := x.columns.chunks[i/chunkFrames], i%chunkFrames
	c.flags[i], c.annotation[i], c.at[i], c.size[i], c.request[i] = flagsOf(f), x.intern(&f.Annotation), f.At, f.Size, f.Request
	c.setStream(i, f.Stream)
	x.noteOpen(t, f)
	return f.Seq
}

// intern returns the index of an annotation in annotations.
func (x *Index) intern(a *dialect.Annotation) uint32 {
	k := annotationKey{a.Method, a.Update, a.Session, a.Events}
	if a.Entries == nil {
		if x.key == k && len(x.columns.annotations) > 0 { // true for most frames
			return x.at
		}
		if n, ok := x.known[k]; ok {
			x.key, x.at = k, n
			return n
		}
	}
	one := *a
	one.Request = 0 // it has its own column
	x.mu.Lock()
	x.columns.annotations = append(x.columns.annotations, one)
	x.mu.Unlock()
	n := uint32(len(x.columns.annotations) - 1)
	if a.Entries == nil {
		x.known[k], x.key, x.at = n, k, n
	}
	return n
}

// noteOpen records which requests are open.
func (x *Index) noteOpen(t *Timeline, f *dialect.Frame) {
	if !f.Asks() && f.Request == 0 && f.Entries == nil && !f.Events.Has(dialect.AgentEnded) {
		return // true for most frames; taking the lock would double the time
	}
	part := t.PartOf(f.Seq)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open.of(part).Observe(f)
}

// Await waits until the index has everything that was initially on the tapes. It returns
// false if ctx is done first.
func (x *Index) Await(ctx context.Context) bool {
	for {
		_, complete, _, more := x.current()
		if complete {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-more:
		}
	}
}

// unanswered returns the open requests up to a frame. It may include later ones, and omit
// requests that were answered later.
func (x *Index) unanswered() (open Open, upTo uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open.clone(), x.columns.Last
}

// A Snapshot is the content of an index at a given time.
type Snapshot struct {
	Columns
	NewRows []Row         // rows of frames recorded since the previous snapshot, without the oldest if there are very many
	Latest  dialect.Frame // the last recorded frame, with its bytes
	Open    Open
	Ended   bool  // nothing will follow
	Err     error // error of the last unreadable part
}

// current returns the content, and a channel that closes when there is more.
func (x *Index) current() (c Columns, complete, ended bool, more <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.columns, x.complete, x.ended, x.changed
}

// Take returns a Snapshot with the rows added since the last one.
func (x *Index) Take() Snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := Snapshot{x.columns, x.newRows, x.latest, x.open.clone(), x.ended, x.err}
	x.newRows = nil
	return n
}
