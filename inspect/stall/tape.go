package stall

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

// A Tape is a tape, with what hangs on it, that is read during or after recording. Unless
// Past is set, it reports nothing that had ended before the tape was read to its end.
type Tape struct {
	Watch Watch
	Info  record.Info // as of when the tape appeared
	Past  bool        // also report what has ended already

	zero  time.Time     // when the tape began, according to the caller's clock once new frames come
	last  time.Duration // tape time of the last frame
	reads bool          // it has been read to its end
	known bool          // Info is known; the recorder may not have written it yet
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
	if _, err := tape.Start(); err != nil { // waits until the recorder has written it
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

// Agent returns the agent's name, its own if it gave one. It is not clean.
func (t *Tape) Agent() string {
	info := t.Info
	if c := t.Watch.Connection(); c.Agent != "" {
		info.Connection = c
	}
	return tapetext.AgentName(info)
}

// Take processes what Store.Watch or Tape.Watch yields for the tape at time now,
// including StoreLooked, and returns the resulting changes. The list is valid until the
// next call.
//
// After the last frame, tape time advances with the caller's clock, because the tape's
// own clock may have stood still while the machine slept. It never goes back, even if the
// clock was set back since the tape began.
func (t *Tape) Take(c *record.Change, now time.Time) []Change {
	switch c.Kind {
	case record.FrameRecorded:
		changes := t.Watch.Add(&c.Frame)
		t.last = c.Frame.At
		if t.reads {
			t.zero = now.Add(-c.Frame.At)
		}
		return t.told(changes)
	case record.StoreLooked:
		first := !t.reads
		if first {
			t.zero = c.Began.Add(-max(c.Began.Sub(t.zero), t.last)) // with the monotonic clock from now on
		}
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

// told returns changes if they should be reported.
func (t *Tape) told(changes []Change) []Change {
	if t.reads || t.Past {
		return changes
	}
	return nil
}

// Time converts a tape time to the caller's clock.
func (t *Tape) Time(at time.Duration) time.Time { return t.zero.Add(at) }

// Tapes are the tapes being recorded in a store.
type Tapes struct {
	Store *record.Store
	After time.Duration // as in Watch

	tapes map[string]*Tape
}

// Wanted tells Store.Watch which tapes to read: those being recorded.
func (l *Tapes) Wanted(_ string, live bool) (from uint64, ok bool) { return 1, live }

// Take processes what Store.Watch yields at time now. It calls told with each tape that
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
		if t.known { // otherwise its recorder is about to say what it is
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

// A Hang is a Stall on a tape that is being recorded.
type Hang struct {
	Stall
	Began time.Time // by the clock of Follow
}

// Brief says in a few words how long it has been hanging, such as `silent 34 s`.
func (h *Hang) Brief(now time.Time) string { return h.Stall.Brief(h.Since + now.Sub(h.Began)) }

// Follow watches the tapes being recorded in a store until ctx is done. It calls changed
// with what hangs on a tape whenever that changes. after is as in Watch.
func Follow(ctx context.Context, store *record.Store, after time.Duration, changed func(tape string, hangs []Hang)) {
	tapes := Tapes{Store: store, After: after}
	for c, err := range store.Watch(ctx, tapes.Wanted) {
		if err != nil {
			continue // the reader of the tape reports it
		}
		tapes.Take(&c, time.Now(), func(t *Tape, kind record.ChangeKind, changes []Change) {
			if len(changes) == 0 {
				return
			}
			var hangs []Hang
			for _, s := range t.Watch.Hanging() {
				hangs = append(hangs, Hang{s, t.Time(s.Since)})
			}
			changed(t.Info.Tape, hangs)
		})
	}
}
