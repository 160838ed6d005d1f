package proxy

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// maxPanic is how much is told of what was said in a panic.
const maxPanic = 300

// panicked returns a panic as an error, with the place that it came from; of one
// that goes on in another, the first. It is called by the function that was
// deferred to recover value.
func panicked(value any) error {
	said := fmt.Sprint(value)
	if len(said) > maxPanic {
		said = strings.ToValidUTF8(said[:maxPanic], "") + "…"
	}
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
