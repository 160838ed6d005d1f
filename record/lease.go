package record

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

// ErrLeased says that somebody else has the lease of a session.
var ErrLeased = errors.New("the session is in use")

// leases is where sessions are leased. A file is there as long as its lease, and
// if a process was killed, until somebody gets one after that.
func (s *Store) leases() string { return filepath.Join(s.dir, "leases") }

// Lease takes the lease of an agent's session, which need not be in the store.
func (s *Store) Lease(agent, session string) (*Lease, error) {
	if err := os.MkdirAll(s.leases(), 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	path := filepath.Join(s.leases(), fmt.Sprintf("%x", sum[:16]))
	lock, err := disk.TryLock(path, true)
	switch {
	case err != nil:
		return nil, err
	case lock == nil:
		return nil, fmt.Errorf("session %s: %w", session, ErrLeased)
	}
	s.sweepLeases(path)
	return &Lease{lock}, nil
}

// Release gives the session back.
func (l *Lease) Release() error { return disk.RemoveLocked(l.lock) }

// sweepLeases removes what killed processes have left, but for one. A file that
// was just made may belong to somebody who is about to take its lock.
func (s *Store) sweepLeases(but string) {
	entries, _ := os.ReadDir(s.leases())
	for _, e := range entries {
		path := filepath.Join(s.leases(), e.Name())
		if info, err := e.Info(); path == but || err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if lock, err := disk.TryLock(path, false); err == nil && lock != nil {
			disk.RemoveLocked(lock)
		}
	}
}
