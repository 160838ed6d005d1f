//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Open opens a file of a store, which must be a regular file: a link may lead elsewhere,
// and opening a FIFO or a device may block forever.
func Open(path string, flag int) (*os.File, error) {
	failed := func(err error) (*os.File, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: err} }
	fd, err := 0, error(unix.EINTR)
	for err == unix.EINTR {
		fd, err = unix.Open(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
	}
	if err != nil {
		return failed(err)
	}
	var s unix.Stat_t
	if err = unix.Fstat(fd, &s); err == nil && s.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular()
	}
	if err == nil {
		err = unix.SetNonblock(fd, false) // otherwise Go registers it with its poller
	}
	if err != nil {
		unix.Close(fd)
		return failed(err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// OpenLocked opens a file and waits for its lock: shared to read, exclusive to write.
// bbolt then takes the same lock on the same open file, and gets it at once. bbolt's own
// way of waiting, an attempt every 50 ms, starves among twenty processes.
func OpenLocked(path string, flag int, shared bool, timeout time.Duration) (*os.File, error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		f, err := Open(path, flag)
		if err != nil {
			return nil, err
		}
		if err := lock(f, how, timeout); err != nil {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if isStill(f, path) {
			return f, nil
		}
		f.Close() // deleted or replaced in the meantime
	}
}

// lock takes the lock of a file, or says who has held it too long. A call of flock cannot
// be cancelled. It continues on a separate descriptor, which is closed if it gets the
// lock too late; f is closed by then.
func lock(f *os.File, how int, timeout time.Duration) error {
	if timeout == 0 {
		return flock(f, how)
	}
	if err := flock(f, how|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		done <- flockFd(own, how)
		unix.Close(own)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(timeout):
	}
	if pid := lockHolder(f); pid != 0 {
		return heldError(fmt.Sprintf("process %d has held the lock for %v; if it is stopped, kill -CONT %d resumes it", pid, timeout, pid))
	}
	return heldError(fmt.Sprintf("another process has held the lock for %v; if it is stopped, kill -CONT resumes it", timeout))
}

// lockNow takes the exclusive lock of a file. It returns false if another process holds it,
// or if the file is gone.
func lockNow(f *os.File, path string) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil && isStill(f, path), err
}

// RemoveLocked removes a file and then releases its lock. In the other order,
// another process could lock the removed file.
func RemoveLocked(f *os.File) error {
	os.Remove(f.Name())
	return f.Close()
}

// IsLocked reports whether another process holds the exclusive lock of a file.
func IsLocked(path string) bool {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) && isStill(f, path)
}

// Unlock releases the lock of a file that cannot be closed completely.
func Unlock(f *os.File) { flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error { return flockFd(int(f.Fd()), how) }

func flockFd(fd, how int) error {
	for {
		err := unix.Flock(fd, how)
		if err != unix.EINTR {
			return err
		}
	}
}

// isStill reports whether path still leads to the open file.
func isStill(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// Free returns the number of bytes that a user may still write to the disk of dir.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

// SyncDir makes the directory's list of files durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) { // the file system does not need it
		err = nil
	}
	return errors.Join(err, d.Close())
}

// CheckWritable returns an error if files cannot be created in dir.
func CheckWritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "writing to", Path: dir, Err: err}
	}
	return nil
}

// OwnedByOther reports whether the file belongs to another user.
func OwnedByOther(path string) (bool, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return false, err
	}
	return int(s.Uid) != os.Geteuid(), nil
}
