package shim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// A lease gives one process exclusive use of a session. It ends when it is released or
// when the process ends, for any reason.
type lease struct{ file *os.File }

// errLeased says that another process holds a session's lease.
var errLeased = errors.New("the session is in use")

// takeLease takes the lease on an agent's session, which need not be on any tape. The
// lease is a locked file in the store's leases directory. release removes the file; a
// killed process's file is removed when a later lease is taken.
func takeLease(store, agent, clientID string) (*lease, error) {
	dir := filepath.Join(store, "leases")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + clientID))
	path := filepath.Join(dir, fmt.Sprintf("%x", sum[:16]))
	file, err := disk.TryLock(path, true)
	switch {
	case err != nil:
		return nil, err
	case file == nil:
		return nil, fmt.Errorf("session %s: %w", clientID, errLeased)
	}
	sweepLeases(dir, path)
	return &lease{file}, nil
}

func (l *lease) release() { disk.RemoveLocked(l.file) }

// sweepLeases removes the files of killed processes, except the one at path keep. It
// leaves files younger than a minute: a process may have created one and not locked it
// yet.
func sweepLeases(dir, keep string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); path == keep || err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if file, err := disk.TryLock(path, false); err == nil && file != nil {
			disk.RemoveLocked(file)
		}
	}
}

// acquireLease keeps other proxies from loading an agent's session while it is open here.
// It returns false if another proxy has the session. It must not be called in an act.
func (s *Shim) acquireLease(c *session, agent string) bool {
	have := false
	s.change(func() { have = c.lease != nil })
	if have {
		return true
	}
	taken, err := takeLease(s.Store.Dir(), agent, c.clientID)
	if err != nil {
		return !errors.Is(err, errLeased) // an unwritable store has no leases
	}
	s.change(func() {
		if !c.closed {
			c.lease, taken = taken, nil
		}
	})
	if taken != nil {
		taken.release()
	}
	return true
}

// releaseLease lets other proxies load the session.
func (c *session) releaseLease() {
	if c.lease != nil {
		c.lease.release()
		c.lease = nil
	}
}
