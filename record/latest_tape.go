package record

import (
	"cmp"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/record/tapeid"
)

// A latestTape makes ids rise even if the clock is set back: tapes are listed by id, and
// the last one must be the newest. Start.Time remains what the clock showed.
type latestTape struct {
	mu    sync.Mutex
	id    string    // the latest id that this process has used; guarded by mu
	began time.Time // when that tape began, by the monotonic clock; guarded by mu
	shown time.Time // what the clock showed then; guarded by mu
}

// after returns the time for the id of a tape that began when the clock showed shown. It
// lists the store only for the first tape of this process, and if the clock was set back
// since the one before.
func (l *latestTape) after(s *Store, began, shown time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := []string{l.id}
	if l.id == "" || began.Sub(l.began)-shown.Sub(l.shown) > time.Second {
		ids = append(s.named(), l.id)
	}
	at := tapeid.After(ids, shown)
	l.id, l.began, l.shown = tapeid.New(at), began, shown
	return at
}

// named returns possible tape ids, taken from file names: unsorted, with repetitions. It is
// faster than Tapes.
func (s *Store) named() (ids []string) {
	for _, dir := range [...]string{s.tapes(), s.live()} {
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(-1)
		d.Close()
		for _, name := range names {
			id, _, _ := strings.Cut(name, ".")
			ids = append(ids, id)
		}
	}
	return ids
}

// eras maps tapes to eras, which are separated by the clock being set back. Tapes too far
// ahead of the clock are in the first era, as in a Listing.
type eras map[string]int

// erasOf returns the eras of tapes, given in the order of a Listing.
func erasOf(tapes []Info) eras {
	of, era, until := eras{}, 0, time.Now().Add(tapeid.MaxAhead)
	for _, i := range tapes {
		began := tapeid.Time(i.Tape)
		switch {
		case began.After(until):
			of[i.Tape] = -1
			continue
		case began.Sub(i.Start.Time) > time.Second:
			era++
		}
		if era > 0 {
			of[i.Tape] = era
		}
	}
	return of
}

// compare compares the eras in which two sessions were last used.
func (e eras) compare(a, b *SessionInfo) int {
	return cmp.Compare(e[a.Runs[len(a.Runs)-1].Tape], e[b.Runs[len(b.Runs)-1].Tape])
}
