package frametext

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A lull knows when something crossed the wire last. The zero value knows nothing.
type lull struct {
	last  time.Duration
	known bool
}

// before takes the next frame, and returns how long nothing has come before it; 0 if
// that is not known. What is no frame of the connection does not count.
func (l *lull) before(f *dialect.Frame) (quiet time.Duration) {
	if f.Kind == wire.Stderr || f.Kind == wire.Mark {
		return 0
	}
	if l.known && !f.Untimed {
		quiet = f.At - l.last
	}
	l.last, l.known = f.At, !f.Untimed
	return quiet
}
