package inspect

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A ledger has what a reel says of each frame but its bytes, by column, in about
// 30 bytes a frame: a filter by field, a latency, or the next frame of a kind is
// found there without reading the tapes again (BenchmarkMillion). One goroutine
// writes it as it reads the tapes, and any number may read it.
type ledger struct {
	news func() // called when there is more to draw

	mu sync.Mutex // guards what follows, but for the frames up to the last, which do not change
	columns
	open    []uint64      // requests without a response, in order
	fresh   []row         // the last of those that were recorded meanwhile, not taken yet
	latest  dialect.Frame // the last of those, with its bytes: it is what one looks at who follows the tape
	changed chan struct{} // closed when there is more
	err     error         // of the last stretch that could not be read
	caught  bool          // all that was on the tapes at first is in it
	ended   bool          // nothing will follow

	written int                 // frames
	known   map[aboutKey]uint32 // places in abouts; only the writer uses these
	key     aboutKey            // of the frame before
	place   uint32
}

// aboutKey is what makes two dialect.About one.
type aboutKey struct {
	method, update, session string
	events                  dialect.Events
}

func newLedger(news func()) *ledger {
	return &ledger{news: news, changed: make(chan struct{}), known: map[aboutKey]uint32{}}
}

const (
	publishEvery = 1 << 10 // frames
	maxOpen      = 1 << 16 // open requests; as many as dialect.Tracker waits for
	maxFresh     = 512     // rows prepared for drawing: more than any screen has
)

// read writes the ledger until the reel ends or ctx is done.
func (l *ledger) read(ctx context.Context, r *reel) {
	last := uint64(0)
	for f, err := range r.rows(1) {
		if ctx.Err() != nil {
			return
		}
		if f.Kind == wire.Mark && err == nil { // what happened stands in its bytes, and there are few marks
			if whole, err := r.again(); err == nil {
				if g, err := whole.frame(f.Seq); err == nil {
					f = g
				}
			}
		}
		last = l.add(&f, err, last)
		if l.written%publishEvery == 0 {
			l.publish(func() { l.last = last })
		}
	}
	l.tell(func() { l.last, l.caught = last, true })
	for f, err := range r.follow(ctx, last+1) {
		if last = l.add(&f, err, last); err != nil {
			continue
		}
		fresh := newRow(&f)
		f.Raw = bytes.Clone(f.Raw)
		l.tell(func() {
			l.last, l.latest = last, f
			l.fresh = append(l.fresh[max(0, len(l.fresh)-maxFresh):], fresh)
		})
	}
	l.tell(func() { l.ended = ctx.Err() == nil })
}

// tell changes what others read, and has it drawn.
func (l *ledger) tell(change func()) {
	l.publish(change)
	l.news()
}

// publish changes what others read, and wakes those that wait for it.
func (l *ledger) publish(change func()) {
	l.mu.Lock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
}

// add writes the next frame, and returns the last one that was written.
func (l *ledger) add(f *dialect.Frame, err error, last uint64) uint64 {
	if err != nil {
		l.tell(func() { l.err = err })
		return last
	}
	if l.written > 0 && f.Seq <= last {
		return last // numbers rise, but where a tape is damaged
	}
	i := l.written
	if l.written++; i/leafFrames == len(l.leaves) || f.Seq != last+1 || i == 0 {
		l.mu.Lock()
		if i/leafFrames == len(l.leaves) {
			l.leaves = append(l.leaves, new(leaf))
		}
		if f.Seq != last+1 || i == 0 {
			l.jumps = append(l.jumps, jump{f.Seq, i})
		}
		l.mu.Unlock()
	}
	x, i := l.leaves[i/leafFrames], i%leafFrames
	x.shape[i], x.about[i], x.at[i], x.size[i], x.answers[i] = shapeOf(f), l.intern(&f.Annotation), f.At, f.Size, f.Request
	l.settle(f)
	return f.Seq
}

// intern returns the place in abouts of what is told about a frame.
func (l *ledger) intern(about *dialect.Annotation) uint32 {
	k := aboutKey{about.Method, about.Update, about.Session, about.Events}
	if about.Entries == nil {
		if l.key == k && len(l.abouts) > 0 { // as with most frames
			return l.place
		}
		if n, ok := l.known[k]; ok {
			l.key, l.place = k, n
			return n
		}
	}
	one := *about
	one.Request = 0 // has a column of its own
	l.mu.Lock()
	l.abouts = append(l.abouts, one)
	l.mu.Unlock()
	n := uint32(len(l.abouts) - 1)
	if about.Entries == nil {
		l.known[k], l.key, l.place = n, k, n
	}
	return n
}

// settle notes which requests are open.
func (l *ledger) settle(f *dialect.Frame) {
	asks := f.Asks()
	if !asks && f.Request == 0 && f.Entries == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if asks {
		if len(l.open) == maxOpen {
			l.open = slices.Clone(l.open[maxOpen/2:])
		}
		l.open = append(l.open, f.Seq)
		return
	}
	for reply := range f.Replies() {
		if i, ok := slices.BinarySearch(l.open, reply.Request); ok {
			l.open = slices.Delete(l.open, i, i+1)
		}
	}
}

// waiting returns the requests up to a frame that have no response, in order. Later
// ones may be among them, and responses that came later may have been taken off.
func (l *ledger) waiting() (open []uint64, upTo uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.open), l.last
}

// news are what is told of a ledger when it is asked.
type news struct {
	columns
	fresh  []row
	latest dialect.Frame
	open   []uint64
	ended  bool
	err    error
}

// now returns what there is, and a channel that is closed when there is more.
func (l *ledger) now() (c columns, caught, ended bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.columns, l.caught, l.ended, l.changed
}

// take returns what there is, with the fresh rows that were not taken yet.
func (l *ledger) take() news {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := news{l.columns, l.fresh, l.latest, slices.Clone(l.open), l.ended, l.err}
	l.fresh = nil
	return n
}
