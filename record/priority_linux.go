package record

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority moves the calling goroutine to its own thread at the lowest priority, so
// dissecting never delays the pumps (BenchmarkFlood in cmd/acptap).
func LowerPriority() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
}
