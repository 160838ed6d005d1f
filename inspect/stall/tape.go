package stall

import (
	"maps"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

// A Tape is a tape that is read while it is being recorded, or afterwards, with what hangs
// on it. Unless Past is set, it reports nothing that was over before the tape was read to
// its end.
type Tape struct {
	Watch Watch
	Info  record.Info // from when the tape appeared
	Past  bool        // report also what is over already

	zero  time.Time // when the tape began; by the caller's clock once new frames come
	reads bool      // it was read to its end
	known bool      // Info is known; the recorder may not have written it yet
}

// OpenTape returns a tape of a store before its first frame is read. now is the current
// time.
func OpenTape(store *record.Store, id string, after time.Duration, now time.Time) *Tape {
	t := NewTape(record.Info{Tape: id, Start: record.Start{Time: now}}, after)
	t.known = false
	t.identify(store)
	return t
}

// identify reads Info if it is not known yet, and reports whether it is now.
func (t *Tape) identify(store *record.Store) bool {
	if t.known {
		return true
	}
	tape, err := store.Open(t.Info.Tape)
	if err != nil {
		return false
	}
	info, err := tape.Info()
	if err != nil {
		return false
	}
	t.Info, t.known = info, true
	if !t.reads {
		t.zero = info.Start.Time
	}
	return true
}

// NewTape returns a tape before its first frame is read.
func NewTape(info record.Info, after time.Duration) *Tape {
	return &Tape{Watch: Watch{After: after}, Info: info, zero: info.Start.Time, known: true}
}

// Agent returns the name of the agent, its own if it gave one. It is not clean.
func (t *Tape) Agent() string {
	info := t.Info
	if c := t.Watch.Connection(); c.Agent != "" {
		info.Connection = c
	}
	return tapetext.AgentName(info)
}

// Take takes what Store.Watch or Tape.Watch yields for the tape, StoreLooked included, at
// time now, and returns what it changes. The list is valid until the next call.
//
// After the last frame, time on the tape passes as on the caller's clock, because the clock
// of the tape may have stood still while the machine slept.
func (t *Tape) Take(c *record.Change, now time.Time) []Change {
	switch c.Kind {
	case record.FrameRecorded:
		changes := t.Watch.Add(&c.Frame)
		if t.reads {
			t.zero = now.Add(-c.Frame.At)
		}
		return t.told(changes)
	case record.StoreLooked:
		first := !t.reads
		t.reads = true
		changes := t.Watch.Now(c.Began.Sub(t.zero))
		if first && !t.Past {
			return t.Watch.Again()
		}
		return changes
	case record.TapeEnded:
		return t.told(t.Watch.End())
	}
	return nil
}

// told returns changes if they are to be reported.
func (t *Tape) told(changes []Change) []Change {
	if t.reads || t.Past {
		return changes
	}
	return nil
}

// Time returns a time on the tape by the caller's clock.
func (t *Tape) Time(at time.Duration) time.Time { return t.zero.Add(at) }

// Tapes are the tapes of a store that are being recorded.
type Tapes struct {
	Store *record.Store
	After time.Duration // as in Watch

	tapes map[string]*Tape
}

// Wanted tells Store.Watch which tapes to read: those being recorded.
func (l *Tapes) Wanted(_ string, live bool) (from uint64, ok bool) { return 1, live }

// Take takes what Store.Watch yields, at time now. It calls told with each tape that
// appears or ends, and with the changes on a tape.
func (l *Tapes) Take(c *record.Change, now time.Time, told func(t *Tape, kind record.ChangeKind, changes []Change)) {
	if c.Kind == record.StoreLooked {
		for _, id := range slices.Sorted(maps.Keys(l.tapes)) {
			l.announce(l.tapes[id], told)
			if changes := l.tapes[id].Take(c, now); len(changes) > 0 {
				told(l.tapes[id], c.Kind, changes)
			}
		}
		return
	}
	t := l.tapes[c.Tape]
	switch {
	case c.Kind == record.TapeAppeared && c.Live:
		if l.tapes == nil {
			l.tapes = map[string]*Tape{}
		}
		t = OpenTape(l.Store, c.Tape, l.After, now)
		l.tapes[c.Tape] = t
		if t.known { // else its recorder is about to say what it is
			told(t, c.Kind, nil)
		}
	case t == nil:
	case c.Kind == record.TapeEnded:
		delete(l.tapes, c.Tape)
		l.announce(t, told)
		told(t, c.Kind, t.Take(c, now))
	default:
		l.announce(t, told)
		if changes := t.Take(c, now); len(changes) > 0 {
			told(t, c.Kind, changes)
		}
	}
}

// announce reports a tape that appeared before its Info could be read, once it can.
func (l *Tapes) announce(t *Tape, told func(t *Tape, kind record.ChangeKind, changes []Change)) {
	if !t.known && t.identify(l.Store) {
		told(t, record.TapeAppeared, nil)
	}
}
