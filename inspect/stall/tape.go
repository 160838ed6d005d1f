package stall

import (
	"maps"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

// A Tape is a tape that is read while it is recorded, or afterwards, with what hangs on
// it. A Watch of a tape that is recorded says nothing of what was over before the tape
// was read to its end.
type Tape struct {
	Watch Watch
	Info  record.Info // as of when the tape appeared
	Past  bool        // what is over already is told too

	zero  time.Time // when the tape began; by the clock of the caller once frames come
	reads bool      // it was read to its end
	known bool      // what Info says; its recorder may not have written that yet
}

// OpenTape returns a tape of a store of which no frame was read, at a time.
func OpenTape(store *record.Store, id string, after time.Duration, now time.Time) *Tape {
	t := NewTape(record.Info{Tape: id, Start: record.Start{Time: now}}, after)
	t.known = false
	t.identify(store)
	return t
}

// identify reads what the tape is, if that is not known, and reports whether it is now.
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

// NewTape returns a tape of which no frame was read.
func NewTape(info record.Info, after time.Duration) *Tape {
	return &Tape{Watch: Watch{After: after}, Info: info, zero: info.Start.Time, known: true}
}

// Agent returns what the agent is called, by itself if it has said so. It is not clean.
func (t *Tape) Agent() string {
	info := t.Info
	if c := t.Watch.Connection(); c.Agent != "" {
		info.Connection = c
	}
	return tapetext.AgentName(info)
}

// Take takes what Store.Watch or Tape.Watch yields of the tape, StoreLooked included,
// at a time, and returns what it changes. The list is valid until the next call.
//
// Time on the tape goes on from the frame that was read last, as the clock of now does:
// that of the tape may have stood still while the machine slept.
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

// told returns changes that are to be told.
func (t *Tape) told(changes []Change) []Change {
	if t.reads || t.Past {
		return changes
	}
	return nil
}

// Time returns when something was, by the clock of the caller.
func (t *Tape) Time(at time.Duration) time.Time { return t.zero.Add(at) }

// Tapes are the tapes of a store that are being recorded.
type Tapes struct {
	Store *record.Store
	After time.Duration // as of Watch

	tapes map[string]*Tape
}

// Wanted says which tapes Store.Watch is to read: those that are recorded.
func (l *Tapes) Wanted(_ string, live bool) (from uint64, ok bool) { return 1, live }

// Take takes what Store.Watch yields at a time. It calls told with each tape that
// appears or ends, and with what changes on one.
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

// announce tells of a tape that appeared before it was known what it is, once that is
// known.
func (l *Tapes) announce(t *Tape, told func(t *Tape, kind record.ChangeKind, changes []Change)) {
	if !t.known && t.identify(l.Store) {
		told(t, record.TapeAppeared, nil)
	}
}
