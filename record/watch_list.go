package record

import (
	"maps"
	"os"
	"slices"
	"time"
)

// relistEvery is how often directories are listed even if their times have not changed:
// some file systems do not update these.
const relistEvery = 2 * time.Second

// mtimeGrain is the coarsest resolution of directory times that is supported.
const mtimeGrain = 100 * time.Millisecond

// A storeLook remembers the directories of a store as of their last listing.
type storeLook struct {
	at      time.Time // zero: never
	changed [2]time.Time
	failed  string // why they could not be listed
}

// stale reports whether files may have come or gone since.
func (l *storeLook) stale(s *Store, now time.Time) bool {
	changed := [2]time.Time{modified(s.live()), modified(s.tapes())}
	stale := l.failed != "" || now.Sub(l.at) > relistEvery || changed != l.changed ||
		slices.ContainsFunc(changed[:], func(t time.Time) bool { return l.at.Sub(t) < mtimeGrain })
	if l.changed = changed; stale {
		l.at = now
	}
	return stale
}

func modified(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// list yields tapes that have appeared or are gone.
func (w *watcher) list(now time.Time) {
	if !w.look.stale(w.store, now) {
		return
	}
	ids, journals, err := w.store.files()
	if err != nil {
		if text := err.Error(); text != w.look.failed {
			w.look.failed = text
			w.yield(Change{}, err)
		}
		return
	}
	w.look.failed = ""
	there := make(map[string]bool, len(ids))
	for _, id := range ids {
		there[id] = true
		segments, journaled := journals[id]
		t := w.tapes[id]
		switch {
		case t != nil:
			t.relist(segments)
		case journaled && len(segments) == 0 && !w.store.hasFile(id):
			// So far its id is only reserved.
		default:
			w.appear(id, segments, journaled)
		}
		if w.stopped {
			return
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.tapes)) {
		if !there[id] && !w.store.hasJournal(id) && !w.store.hasFile(id) {
			w.gone(w.tapes[id])
		}
	}
}

// appear yields a new tape, and opens it if its frames are wanted.
func (w *watcher) appear(id string, segments []int64, journaled bool) {
	live := journaled && w.store.isLive(id)
	t := &watched{tape: id, segments: segments}
	w.tapes[id] = t
	if !w.yield(Change{Kind: TapeAppeared, Tape: id, Live: live}, nil) {
		return
	}
	from, wanted := w.wanted(id, live)
	if wanted {
		t.next = max(from, 1)
		tape := &Tape{id: id, from: boltBlocks{w.store.tapeFile(id)}, store: w.store, codec: &w.codec}
		t.r = newBlockReader(tape, t.next, true)
		t.r.buf = &w.buf
	}
	switch {
	case live:
		w.live = append(w.live, t)
	case wanted:
		w.ended = append(w.ended, t)
	}
}

// relist takes the current list of a tape's segments.
func (t *watched) relist(segments []int64) {
	if slices.Equal(segments, t.segments) {
		return
	}
	t.segments, t.quiet = segments, false
	if t.r != nil && t.r.tail != nil {
		t.r.tail.journal.Known = segments
	}
}

// notes reports changed notes. It may do so more than once for one change, since files may
// have coarse times.
func (w *watcher) notes(now time.Time) {
	changed := modified(w.store.notes().Path)
	again := w.written != nil && (!changed.Equal(*w.written) || now.Sub(changed) < mtimeGrain)
	w.written = &changed
	if again && !w.stopped {
		w.yield(Change{Kind: NotesChanged}, nil)
	}
}

// gone yields the deletion of a tape.
func (w *watcher) gone(t *watched) {
	w.end(t)
	delete(w.tapes, t.tape)
	w.yield(Change{Kind: TapeDeleted, Tape: t.tape}, nil)
}
