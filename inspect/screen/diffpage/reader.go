package diffpage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/replay/compare"
)

// A Side is one of the two conversations.
type Side uint8

// The two sides.
const (
	Left Side = iota
	Right
	sides
)

// Other returns the other side.
func (s Side) Other() Side { return 1 - s }

// A Subject is one side of a comparison: a tape, or a session, which may span several.
type Subject struct {
	Session string // empty: the whole tape
	// Open opens the tapes, ordered by time. It is called in the background.
	Open  func() ([]*record.Tape, error)
	Lines uint64 // number on the tapes when the Subject was made
	Live  bool   // more may follow; the comparison is shown once Lines have been read
}

// A limit bounds how much of a side is read and compared. The rest is omitted.
type limit struct {
	frames uint64
	text   int // approximate bytes of the outline
}

// usualLimit costs a few hundred megabytes and several seconds while both sides are read.
var usualLimit = limit{1 << 17, 16 << 20}

// A Reader reads two conversations and aligns them.
type Reader struct {
	level compare.Level
	limit limit
	reads [sides]*sideReader
	grown chan struct{} // has capacity one: a side has more

	mu    sync.Mutex // guards the fields below
	table *Table     // nil: none yet
}

// NewReader returns an empty Reader.
func NewReader(left, right Subject, level compare.Level) *Reader {
	r := &Reader{level: level, limit: usualLimit, grown: make(chan struct{}, 1)}
	r.reads = [sides]*sideReader{newSideReader(left), newSideReader(right)}
	return r
}

// Read reads both sides until both tapes have ended or ctx is done. onChange is called
// when there is more to show.
func (r *Reader) Read(ctx context.Context, onChange func()) {
	var reading sync.WaitGroup
	defer reading.Wait()
	for _, s := range r.reads {
		reading.Go(func() {
			s.read(ctx, r.level, r.limit, func() {
				select {
				case r.grown <- struct{}{}:
				default:
				}
			})
		})
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-r.grown:
		}
		onChange()
		if !r.reads[Left].ready() || !r.reads[Right].ready() {
			continue
		}
		took, ended := r.align()
		onChange()
		if ended {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(alignEvery, 10*took)):
		}
	}
}

// alignEvery is the shortest time between two alignments while a tape is being recorded.
// The time for an alignment is proportional to the size of the tapes.
const alignEvery = 500 * time.Millisecond

// align rebuilds the table. It returns how long that took and whether this was the final
// alignment.
func (r *Reader) align() (took time.Duration, ended bool) {
	began := time.Now()
	left, right := r.reads[Left].take(), r.reads[Right].take()
	t := newTable(left, right)
	r.mu.Lock()
	r.table = t
	r.mu.Unlock()
	return time.Since(began), left.ended && right.ended
}

// Table returns the latest table, or nil if there is none yet.
func (r *Reader) Table() *Table {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.table
}

// Progress returns how far reading has got until something can be shown, in percent.
func (r *Reader) Progress() int {
	if r.Table() != nil {
		return 100
	}
	var last, all uint64
	for _, s := range r.reads {
		done, of := s.progress()
		last, all = last+min(done, of), all+of
	}
	return int(100 * last / max(all, 1))
}

// A sideReader reads one side.
type sideReader struct {
	subject Subject

	mu    sync.Mutex        // guards the fields below
	out   *compare.Outliner // nil: everything is in final
	final taken
	lines uint64 // read so far
	state
}

// A state is a side's reading state.
type state struct {
	err   error // for the last part that could not be read
	ended bool  // nothing will follow
	cut   bool  // frames were omitted
}

func newSideReader(s Subject) *sideReader { return &sideReader{subject: s} }

// read reads the side's tapes until they end or the limit is reached. It calls onMore
// whenever there is more.
func (s *sideReader) read(ctx context.Context, level compare.Level, limit limit, onMore func()) {
	defer onMore()
	tapes, err := s.subject.Open()
	parts, err2 := reading.Agents(tapes...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(err, err2); err != nil {
		s.state = state{err: err, ended: true}
		s.final = taken{state: s.state}
		return
	}
	s.out = compare.NewOutliner(compare.Side{Tapes: tapes, Session: s.subject.Session}, level)
	s.out.Limit = limit.text
	r := reading.New(parts)
	r.Follow = true
	s.mu.Unlock()
	for e := range r.Read(ctx) {
		s.mu.Lock()
		s.add(e, limit.frames)
		cut := s.cut
		s.mu.Unlock()
		if cut {
			break
		}
		onMore()
	}
	s.mu.Lock()
	s.ended = ctx.Err() == nil
}

// add handles the tapes' next event. The caller holds the lock.
func (s *sideReader) add(e *reading.Event, most uint64) {
	err := e.Err
	switch {
	case err != nil:
	case e.Kind == reading.Begins:
		s.out.Next(e.Part.Index, &e.Part.Info)
	case e.Kind == reading.Read && s.lines == most:
		s.cut = true
	case e.Kind == reading.Read:
		err = s.out.Add(&e.Frame)
		s.lines++
	}
	if err != nil {
		s.err = err
	}
}

// ready reports whether everything that was initially there has been read.
func (s *sideReader) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended || s.subject.Live && s.lines >= s.subject.Lines
}

func (s *sideReader) progress() (lines, of uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines, s.subject.Lines
}

// A taken is the part of a side that is compared.
type taken struct {
	steps []compare.Step
	full  bool // the end was omitted
	state
}

// take returns what has been read so far. Once nothing will follow, it drops the outliner.
func (s *sideReader) take() taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		return s.final
	}
	t := taken{slices.Clone(s.out.Steps()), s.out.Full() || s.cut, s.state}
	if s.ended {
		s.out, s.final = nil, t
	}
	return t
}
