package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// SyncData makes what was written to f durable, without its times.
func SyncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// Preallocate reserves the first size bytes of f, as far as the file system supports
// that. An error says that there is no space for them.
func Preallocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: f.Name(), Err: err}
	}
	return nil
}

// CreateUnnamed creates a file without a name on the disk of dir. It returns
// errors.ErrUnsupported if the file system cannot.
func CreateUnnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == unix.EISDIR { // the kernel does not know the flag
		err = errors.ErrUnsupported
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir, "unnamed")), nil
}

// GiveName links an unnamed file to path, unless another file has that name.
func GiveName(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == unix.ENOENT { // there is no /proc
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
	}
	return nil
}

// Remote returns the name of the file system of dir if locks and memory mapping do not work
// there.
func Remote(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	switch uint32(s.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case 0x53464846: // WSLFS, in the Linux subsystem of Windows
		return "drvfs"
	}
	return ""
}

// lockHolder returns a process that holds the lock of a file, or 0 if unknown: it may be
// in another container.
func lockHolder(f *os.File) (pid int) {
	var s unix.Stat_t
	locks, err := os.Open("/proc/locks") // proc_locks(5)
	if err != nil || unix.Fstat(int(f.Fd()), &s) != nil {
		return 0
	}
	defer locks.Close()
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(s.Dev), unix.Minor(s.Dev), s.Ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		var n, mode, where string
		if _, err := fmt.Sscanf(lines.Text(), "%s FLOCK ADVISORY %s %d %s", &n, &mode, &pid, &where); err == nil && where == file {
			return pid
		}
	}
	return 0
}
