// Package memtest is for tests of what reads bytes from outside: these may say
// anything of their sizes, and must not be believed.
package memtest

import (
	"runtime"
	"testing"
)

// most bounds what reading damaged bytes may allocate.
const most = 256 << 20

// Bound fails unless f allocates less than 256 MiB, all in all.
func Bound(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}
