package bucket

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/record"
)

// arrivals are the tapes of a store that have arrived in a bucket. All but has and hasNow
// are for one goroutine.
type arrivals struct {
	store *record.Store
	at    *ship.Destination
	name  string
	added map[string]ship.Cursor // that are not on the disk yet
	saved time.Time              // when they were last

	mu   sync.Mutex
	seen map[string]ship.Cursor
	read time.Time // when seen was
}

const (
	// What was added is saved after that time, or that many tapes. Whoever is killed
	// before only finds out again that they are there.
	maxUnsaved     = time.Second
	maxUnsavedOnes = 64

	// How old seen may be, for it to tell what other processes have added.
	maxSeenAge = time.Second
)

func (p *Pusher) newArrivals() (*arrivals, error) { return newArrivals(p.Store, p.To.Address, p.Raw) }

func newArrivals(store *record.Store, to Address, raw bool) (*arrivals, error) {
	of := to.Endpoint + " " + to.String()
	if raw {
		of += " raw"
	}
	a := &arrivals{store: store, at: ship.To(store.Dir(), of), name: to.String() + " at " + to.Endpoint, saved: time.Now()}
	a.added = map[string]ship.Cursor{}
	return a, a.look()
}

// look reads what is on the disk.
func (a *arrivals) look() (err error) {
	_, a.seen, err = a.at.Read()
	a.read = time.Now()
	return err
}

// has reports whether a tape has arrived, as it is now.
func (a *arrivals) has(info *record.Info) bool {
	a.mu.Lock()
	c, ok := a.seen[info.Tape]
	a.mu.Unlock()
	return ok && c == a.cursor(info)
}

// hasNow is has, with what others have added since.
func (a *arrivals) hasNow(info *record.Info) bool {
	a.mu.Lock()
	if time.Since(a.read) > maxSeenAge {
		a.look() // if it fails, the tape is pushed once more
	}
	a.mu.Unlock()
	return a.has(info)
}

// cursor returns the cursor of a tape that has arrived as it is now.
func (a *arrivals) cursor(info *record.Info) ship.Cursor {
	return ship.Cursor{Seq: info.Lines, Done: true, Turns: info.Turns, Notes: a.notes(info)}
}

// notes returns a fingerprint of what is written on a tape; empty if that is nothing.
func (a *arrivals) notes(info *record.Info) string {
	if len(info.Tags) == 0 && info.Notes == 0 {
		return ""
	}
	written, err := a.store.Notes(info.Tape)
	if err != nil {
		return "unreadable"
	}
	text, err := json.Marshal(written)
	if err != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:16]
}

// add adds a tape that has arrived as c says.
func (a *arrivals) add(tape string, c ship.Cursor) error {
	a.added[tape] = c
	if len(a.added) < maxUnsavedOnes && time.Since(a.saved) < maxUnsaved {
		return nil
	}
	return a.flush()
}

// flush saves what was added.
func (a *arrivals) flush() error {
	if len(a.added) == 0 {
		return nil
	}
	err := a.at.Update(func(u *ship.Update) {
		u.Head.Name = a.name
		for tape, c := range a.added {
			u.Put(tape, c)
		}
	})
	if err == nil {
		clear(a.added)
	}
	a.saved = time.Now()
	return err
}
