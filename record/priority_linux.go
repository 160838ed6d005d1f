package record

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority moves the calling goroutine to its own thread with a lower priority, so that
// dissecting hardly delays the pumps (BenchmarkFlood in cmd/acptap). It is not the lowest
// priority: next to busy processes such a thread gets hardly any time, and while it waits it
// holds a processor of the Go scheduler, or delays the garbage collector, which stops the pumps
// for seconds (BenchmarkBusy in cmd/acptap).
func LowerPriority() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 5)
}
