package record

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority gives the calling goroutine a thread of its own at the lowest
// priority, so that dissecting never delays the pumps (BenchmarkFlood in
// cmd/acptap).
func LowerPriority() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
}
