package dialect

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A Lull remembers when the last frame crossed the wire. The zero value has seen none.
type Lull struct {
	last  time.Duration
	known bool
}

// Before processes the next frame, and returns the silence before it, or 0 if unknown.
// Frames that are not the connection's own do not count.
func (l *Lull) Before(f *Frame) (quiet time.Duration) {
	if f.Kind == wire.Stderr || f.Kind == wire.Mark {
		return 0
	}
	if l.known && !f.Untimed {
		quiet = f.At - l.last
	}
	l.last, l.known = f.At, !f.Untimed
	return quiet
}
