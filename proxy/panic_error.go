package proxy

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// maxPanic limits the bytes of a panic's text that are reported.
const maxPanic = 300

// panicked returns a panic as an error that names where it occurred: for nested panics,
// the first. It must be called by the deferred function that recovered value.
func panicked(value any) error {
	said := wire.Clip(fmt.Sprint(value), maxPanic)
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	place, began := "", false
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			began = true
		case began && !strings.HasPrefix(f.Function, "runtime."):
			place, began = fmt.Sprintf(" (%s:%d)", filepath.Base(f.File), f.Line), false
		}
	}
	return fmt.Errorf("panic: %s%s", said, place)
}
