package trace

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Merge gives the events of several tapes in the order of time, while they
// are recorded or afterwards. Its zero value is ready to use; it is not safe for
// concurrent use.
//
// Events are ordered by their Time, then by Tape, then by their order on the
// tape. An event is given as soon as no earlier one can come: every other tape has
// ended, has a frame or an event at that time or later, or was Looked at since. A
// tape that is behind does not block the others for ever: an event waits no longer
// than Patience, and no more than 65,536 events wait. An event that comes after a
// later one was given is given at once, and is marked Late.
type Merge struct {
	// Patience is how long an event waits for tapes that are behind, by the clock of
	// Looked. 0: without end.
	Patience time.Duration

	tapes   []*tapeEvents // by their names
	looked  time.Time
	waiting int // events in the queues
	given   TapeEvent
}

// maxWaiting is how many events wait for tapes that are behind.
const maxWaiting = 1 << 16

// inFlight is how long a frame may be on its way into the journal after it was
// given its time.
const inFlight = 10 * time.Millisecond

// A TapeEvent is an event of one of several tapes.
type TapeEvent struct {
	Event
	Tape string
	Time time.Time // when it happened, or was known to; never before the event before it on its tape
	Late bool      // what happened later elsewhere was given before it
}

// tapeEvents is a tape with its events that were not given yet.
type tapeEvents struct {
	name  string
	start time.Time
	trace Trace
	ended bool
	last  time.Time // latest time of its frames, or of its end
	upTo  time.Time // nothing comes before it any more
	queue []queued
}

type queued struct {
	TapeEvent
	since time.Time // when it came, by the clock of Looked
}

// Begin adds a tape. c is what is known of its connection so far, possibly
// nothing.
func (l *Merge) Begin(tape string, start time.Time, c dialect.Connection) {
	one := &tapeEvents{name: tape, start: start, trace: Trace{Brief: true}, last: start, upTo: start}
	one.trace.Next(c)
	i, _ := l.find(tape)
	l.tapes = slices.Insert(l.tapes, i, one)
}

func (l *Merge) find(tape string) (i int, ok bool) {
	return slices.BinarySearchFunc(l.tapes, tape, func(t *tapeEvents, name string) int { return cmp.Compare(t.name, name) })
}

// tape returns a tape that was added, which callers promise it was.
func (l *Merge) tape(name string) *tapeEvents {
	i, ok := l.find(name)
	if !ok {
		panic("trace: tape " + name + " has not begun")
	}
	return l.tapes[i]
}

// Add takes the next frame of a tape, with its bytes. It keeps no part of f.
func (l *Merge) Add(tape string, f *dialect.Frame) {
	t := l.tape(tape)
	t.trace.Add(f)
	t.last = later(t.last, t.start.Add(f.At))
	t.upTo = later(t.upTo, t.last)
	l.take(t)
}

// End says that a tape has no more frames. Events that are caused by its end happen
// now: the tape may have ended long after its last frame.
func (l *Merge) End(tape string) {
	t := l.tape(tape)
	t.trace.End()
	t.ended, t.last = true, t.upTo
	l.take(t)
	l.drop(t)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// take queues what the last frame of a tape has told.
func (l *Merge) take(t *tapeEvents) {
	for _, e := range t.trace.Events() {
		t.queue = append(t.queue, queued{TapeEvent{Event: e, Tape: t.name, Time: t.last}, l.looked})
		l.waiting++
	}
}

// Looked says that by the time now, all frames that had been written until then
// were added.
func (l *Merge) Looked(now time.Time) {
	for _, t := range l.tapes {
		t.upTo = later(t.upTo, now.Add(-inFlight))
		for i := range t.queue {
			if l.looked.IsZero() { // there was no clock when it came
				t.queue[i].since = now
			}
		}
	}
	l.looked = now
}

// Events yields the events that can be given by now, each once.
func (l *Merge) Events() iter.Seq[TapeEvent] {
	return func(yield func(TapeEvent) bool) {
		for {
			t := l.first()
			if t == nil || !l.ripe(t) {
				return
			}
			e := t.queue[0].TapeEvent
			t.queue = t.queue[1:]
			l.waiting--
			l.drop(t)
			if e.Late = order(e, l.given) < 0; !e.Late {
				l.given = e
			}
			if !yield(e) {
				return
			}
		}
	}
}

// Behind returns the tape that the next event waits for, if there is one: who
// reads tapes that are all there reads this one on.
func (l *Merge) Behind() (tape string, ok bool) {
	next := l.first()
	var behind *tapeEvents
	for _, t := range l.tapes {
		if !t.ended && len(t.queue) == 0 && (next == nil || t.holdsUp(next)) && (behind == nil || t.upTo.Before(behind.upTo)) {
			behind = t
		}
	}
	if behind == nil {
		return "", false
	}
	return behind.name, true
}

// first returns the tape with the event that comes next, nil if none waits.
func (l *Merge) first() *tapeEvents {
	var first *tapeEvents
	for _, t := range l.tapes {
		if len(t.queue) > 0 && (first == nil || order(t.queue[0].TapeEvent, first.queue[0].TapeEvent) < 0) {
			first = t
		}
	}
	return first
}

// order compares events of different tapes.
func order(a, b TapeEvent) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Tape, b.Tape))
}

// ripe reports whether the first event of t, the earliest that waits, can be given.
func (l *Merge) ripe(t *tapeEvents) bool {
	if l.waiting > maxWaiting || l.Patience > 0 && l.looked.Sub(t.queue[0].since) >= l.Patience {
		return true
	}
	return !slices.ContainsFunc(l.tapes, func(other *tapeEvents) bool { return other.holdsUp(t) })
}

// holdsUp reports whether an event may still come on t that is before the first
// event of next.
func (t *tapeEvents) holdsUp(next *tapeEvents) bool {
	if t == next || t.ended || len(t.queue) > 0 {
		return false
	}
	return order(TapeEvent{Tape: t.name, Time: t.upTo}, next.queue[0].TapeEvent) < 0
}

// drop forgets a tape that has ended, once all of its events were given.
func (l *Merge) drop(t *tapeEvents) {
	if i, ok := l.find(t.name); ok && t.ended && len(t.queue) == 0 {
		l.tapes = slices.Delete(l.tapes, i, i+1)
	}
}
