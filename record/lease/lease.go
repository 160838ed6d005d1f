// Package lease lets one client at a time be at work in a session of an agent,
// whatever processes they are served by.
package lease

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// A Lease is a session that one client is at work in: nobody else gets it until
// it is released, or the process has ended, in whatever way.
type Lease struct{ lock *os.File }

// ErrHeld says that somebody else has the lease of a session.
var ErrHeld = errors.New("the session is in use")

// Acquire takes the lease of an agent's session, which need not be on any tape.
// store is the directory of the store; a file is in its directory leases as long as
// there is a lease, and if a process was killed, until somebody gets one after that.
func Acquire(store, agent, session string) (*Lease, error) {
	dir := filepath.Join(store, "leases")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	path := filepath.Join(dir, fmt.Sprintf("%x", sum[:16]))
	lock, err := disk.TryLock(path, true)
	switch {
	case err != nil:
		return nil, err
	case lock == nil:
		return nil, fmt.Errorf("session %s: %w", session, ErrHeld)
	}
	sweep(dir, path)
	return &Lease{lock}, nil
}

// Release gives the session back.
func (l *Lease) Release() error { return disk.RemoveLocked(l.lock) }

// sweep removes what killed processes have left, but for one file. One that was just
// made may belong to somebody who is about to take its lock.
func sweep(dir, but string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); path == but || err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if lock, err := disk.TryLock(path, false); err == nil && lock != nil {
			disk.RemoveLocked(lock)
		}
	}
}
