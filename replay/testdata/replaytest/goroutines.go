package replaytest

import (
	"runtime"
	"testing"
	"time"
)

// WaitForGoroutines waits for goroutines to end that are about to.
func WaitForGoroutines(t testing.TB, want int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Fatalf("got %d goroutines, want %d:\n%s", runtime.NumGoroutine(), want, buf[:runtime.Stack(buf, true)])
		}
	}
}
