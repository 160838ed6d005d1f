package record

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// dataSync makes what was written to f durable, without its times.
func dataSync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// preallocate reserves the first size bytes of f, as well as the file system
// can. An error says that there is no room for them.
func preallocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINTR) {
		return nil
	}
	return os.NewSyscallError("fallocate", err)
}

// yieldToTraffic gives the calling goroutine a thread of its own at the lowest
// priority, so that dissecting never delays the pumps (BenchmarkFlood in
// cmd/acptap).
func yieldToTraffic() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
}

// remoteDisk reports the name of the file system of dir if locks and memory
// mapping do not hold there.
func remoteDisk(dir string) string {
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

// lockHolder returns a process that has the lock of a file, 0 if none is known:
// it may be in another container.
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
