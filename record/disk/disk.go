// Package disk opens the files of a store without following links, locks them between
// processes, and makes them durable, on every system that acptap runs on. It does not know
// what they contain.
//
// Locks are those of the operating system, so a lock ends with the process that holds it.
// They do not work on the file systems that Remote names.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors that callers may test for. They are wrapped with the place where they occurred.
var (
	ErrDamaged = errors.New("damaged")
	ErrNewer   = errors.New("written by a newer acptap; update acptap to read it")
)

// errNotRegular creates the error on demand, which makes every proxy start faster.
func errNotRegular() error { return fmt.Errorf("no regular file: %w", ErrDamaged) }

// Format is raised when a reader of the older form could misread what is on disk.
// Journals, tapes, portable files and the catalogue contain it.
const Format = 1

// Exists reports whether path leads to anything, even a broken link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TryLock takes the exclusive lock of a file, which it creates if create is set. It
// returns nil without an error if another process holds the lock, or if the file is gone.
func TryLock(path string, create bool) (*os.File, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := Open(path, flag)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked, err := lockNow(f, path)
	if !locked {
		f.Close()
		f = nil
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return f, nil
}

// A heldError says who has held a lock for too long.
type heldError string

func (e heldError) Error() string { return string(e) }

// IsHeld reports whether err says that another process has held a lock for too long.
func IsHeld(err error) bool {
	_, ok := errors.AsType[heldError](err)
	return ok
}
