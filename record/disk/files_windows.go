package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Open opens a file of a store, which must be a regular file.
func Open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular()}
	}
	return f, nil
}

// OpenLocked opens a file; bbolt waits for the lock itself.
func OpenLocked(path string, flag int, shared bool, timeout time.Duration) (*os.File, error) {
	return Open(path, flag)
}

// lockNow takes the exclusive lock of a file. It returns false if another process holds it.
func lockNow(f *os.File, _ string) (bool, error) {
	err := lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// RemoveLocked removes a file and releases its lock. On Windows the file stays if another
// process has it open.
func RemoveLocked(f *os.File) error {
	err := f.Close()
	os.Remove(f.Name())
	return err
}

// IsLocked reports whether another process holds the exclusive lock of a file.
func IsLocked(path string) bool {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lock(f, 0), windows.ERROR_LOCK_VIOLATION)
}

// Unlock does nothing: a lock ends with its handle.
func Unlock(*os.File) {}

func lock(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}

// Free returns the number of bytes that the user may still write to the disk of dir.
func Free(dir string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}

// SyncDir does nothing: NTFS keeps a journal of which files are in a directory.
func SyncDir(string) error { return nil }

// CheckWritable returns an error if files cannot be created in dir. On Windows the only
// way to know is to try.
func CheckWritable(string) error { return nil }

// OwnedByOther reports whether the file belongs to another user. On Windows the user's
// profile directory is private.
func OwnedByOther(string) (bool, error) { return false, nil }
