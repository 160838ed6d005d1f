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

// arrivals holds the tapes of a store that have arrived in a bucket. Only has and
// hasNow are safe for concurrent use.
type arrivals struct {
	store *record.Store
	at    *ship.Destination
	name  string
	added map[string]ship.Cursor // not saved to disk yet
	saved time.Time              // when added was last saved

	mu   sync.Mutex
	seen map[string]ship.Cursor
	read time.Time // when seen was read from disk
}

const (
	// Additions are saved after this time, or once there are this many. If the process is
	// killed before that, the next one only has to find out again what has arrived.
	maxUnsaved     = time.Second
	maxUnsavedOnes = 64

	// hasNow rereads seen when it is older than this, to learn what other processes have
	// added.
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

// look reads what is saved on disk.
func (a *arrivals) look() (err error) {
	_, a.seen, err = a.at.Read()
	a.read = time.Now()
	return err
}

// has reports whether a tape has arrived in its current state.
func (a *arrivals) has(info *record.Info) bool {
	a.mu.Lock()
	c, ok := a.seen[info.Tape]
	a.mu.Unlock()
	return ok && c == a.cursor(info)
}

// hasNow is like has, but first reads what other processes have added.
func (a *arrivals) hasNow(info *record.Info) bool {
	a.mu.Lock()
	if time.Since(a.read) > maxSeenAge {
		a.look() // ignore the error: at worst the tape is pushed once more
	}
	a.mu.Unlock()
	return a.has(info)
}

// cursor returns the cursor of a tape that has arrived in its current state.
func (a *arrivals) cursor(info *record.Info) ship.Cursor {
	return ship.Cursor{Seq: info.Lines, Done: true, Turns: info.Turns, Notes: a.notes(info)}
}

// notes returns a fingerprint of the notes and tags of a tape, or "" if it has none.
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

// add adds a tape that has arrived, with its cursor.
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
