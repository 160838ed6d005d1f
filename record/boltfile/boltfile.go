// Package boltfile opens a bbolt file for each piece of work, locks it, checks it and
// closes it again, so that many processes can share it.
//
// A damaged file can make bbolt panic, fault, recurse endlessly or use up all memory. This
// package returns disk.ErrDamaged instead. It does not know what the file contains, and
// does not repair it.
package boltfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/acptap/acptap/record/disk"
)

// A File is the path of a bbolt file. The file is open only while a method runs: a writer
// excludes readers and readers exclude a writer, so it must not stay open in between.
type File struct {
	Path        string
	LockTimeout time.Duration // limits the wait for its lock; 0: no limit
}

func (p File) String() string { return p.Path }

// boltWait limits how long bbolt itself waits for its lock. Where disk.OpenLocked can
// wait, bbolt finds the lock already taken.
const boltWait = time.Second

// View calls f with a read transaction. What f reads is valid only during the call.
func (p File) View(f func(tx *bolt.Tx) error) error {
	return p.with(true, func(db *bolt.DB) error { return db.View(f) })
}

// Update calls f with a write transaction and commits it durably.
func (p File) Update(f func(tx *bolt.Tx) error) error {
	return p.with(false, func(db *bolt.DB) error { return db.Update(f) })
}

// UpdateOrCreate is Update, or Create if there is no file.
func (p File) UpdateOrCreate(f func(tx *bolt.Tx) error) error {
	err := p.Update(f)
	if errors.Is(err, fs.ErrNotExist) {
		err = p.Create(f)
	}
	if errors.Is(err, fs.ErrExist) { // another process created it meanwhile
		err = p.Update(f)
	}
	return err
}

func (p File) with(readOnly bool, f func(*bolt.DB) error) error {
	return p.guard(readOnly, f, func(path string, flag int) (*os.File, error) {
		return disk.OpenLocked(path, flag&^os.O_CREATE, readOnly, p.LockTimeout)
	})
}

// guard wraps all work with bbolt. bbolt panics on many kinds of damage, a truncated file
// causes a memory fault, and a panic in between leaves the lock held. guard returns
// disk.ErrDamaged in each case and releases the lock.
func (p File) guard(readOnly bool, f func(*bolt.DB) error, open func(path string, flag int) (*os.File, error)) (err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			// Leave the mapping, since bbolt may still use it. It would keep the lock too.
			if file != nil {
				disk.Unlock(file)
				file.Close()
			}
			err = fmt.Errorf("%s: %w (%v)", p, disk.ErrDamaged, r)
		}
	}()
	db, err := bolt.Open(p.Path, 0o600, &bolt.Options{
		ReadOnly: readOnly, Timeout: boltWait, NoGrowSync: true, FreelistType: bolt.FreelistMapType,
		OpenFile: func(path string, flag int, _ os.FileMode) (*os.File, error) {
			var err error
			if file, err = open(path, flag); err != nil {
				return nil, err
			}
			switch fi, err := file.Stat(); {
			case err == nil && fi.Size() > 0 && !readOnly:
				if err := checkFreeList(file); err != nil {
					file.Close()
					return nil, err
				}
			case err == nil && fi.Size() == 0 && readOnly:
				file.Close()
				return nil, fmt.Errorf("%s is empty: %w", p, disk.ErrDamaged) // bbolt would initialize it
			}
			return file, nil
		},
	})
	if err != nil {
		return p.explain(err)
	}
	db.AllocSize = 32 << 10
	if err = checkTree(db, file); err == nil {
		err = f(db)
	}
	if cerr := db.Close(); err == nil && cerr != nil {
		err = p.explain(cerr)
	}
	return err
}

// explain turns bbolt's errors into those of this package.
func (p File) explain(err error) error {
	switch {
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum),
		strings.HasPrefix(err.Error(), "file size too small"): // an error without a name
		return fmt.Errorf("%s: %w (%v)", p, disk.ErrDamaged, err)
	case errors.Is(err, berrors.ErrVersionMismatch):
		return fmt.Errorf("%s: %w (%v)", p, disk.ErrNewer, err)
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%s: another process has had it locked for %v", p, boltWait)
	case strings.Contains(err.Error(), p.Path):
		return err
	}
	return fmt.Errorf("%s: %w", p, err)
}

// Compact rewrites the file without deleted data, which bbolt leaves readable in free
// pages. Processes that wait for its lock open the new file. On Windows, where an open
// file cannot be replaced, it does nothing.
func (p File) Compact() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return p.with(false, func(old *bolt.DB) error {
		if err := checkFlat(old); err != nil {
			return err
		}
		tmp, err := p.Temporary()
		if err != nil {
			return err
		}
		defer os.Remove(tmp)
		fresh, err := bolt.Open(tmp, 0o600, &bolt.Options{NoGrowSync: true, FreelistType: bolt.FreelistMapType})
		if err != nil {
			return err
		}
		err = bolt.Compact(fresh, old, 1<<20)
		if err == nil { // while it is locked, otherwise it would be taken for a leftover
			err = disk.Rename(tmp, p.Path)
		}
		return errors.Join(err, fresh.Close())
	})
}

// Temporary creates an empty file next to the file and returns its path.
func (p File) Temporary() (string, error) {
	f, err := disk.CreateTemp(p.Path)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// Create creates the file with the contents that f writes. The file appears complete or
// not at all, however many processes try at once. If it exists, Create returns
// fs.ErrExist.
func (p File) Create(f func(tx *bolt.Tx) error) error {
	if _, err := os.Lstat(p.Path); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrExist)
	}
	err := p.createUnnamed(f)
	if errors.Is(err, errors.ErrUnsupported) {
		err = p.createNamed(f)
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(p.Path))
}

// createUnnamed creates a file that gets its name only when it is complete, so a killed
// process leaves nothing behind.
func (p File) createUnnamed(f func(tx *bolt.Tx) error) error {
	file, err := disk.CreateUnnamed(filepath.Dir(p.Path))
	if err != nil {
		return err
	}
	fill := func(db *bolt.DB) error {
		db.NoSync = true // no one can see it yet
		if err := db.Update(f); err != nil {
			return err
		}
		if err := db.Sync(); err != nil {
			return err
		}
		return disk.GiveName(file, p.Path)
	}
	return p.guard(false, fill, func(string, int) (*os.File, error) { return file, nil })
}

func (p File) createNamed(f func(tx *bolt.Tx) error) error {
	tmp, err := p.Temporary()
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := (File{Path: tmp}).Update(f); err != nil {
		return err
	}
	return os.Link(tmp, p.Path)
}
