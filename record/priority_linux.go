package record

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority moves the calling goroutine to its own thread with a lower priority, so that
// dissecting hardly delays the pumps (BenchmarkFlood in cmd/acptap). The priority is only
// somewhat lower: next to busy processes a thread at the lowest one would hardly get any time,
// and would keep a processor of the Go scheduler, or the garbage collector, from all others
// meanwhile (BenchmarkBusy).
func LowerPriority() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 5)
}
