package dialect

import (
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// A Lull remembers when the last frame of each session crossed the wire. Memory is bounded:
// of too many sessions, the least recent are forgotten. The zero value has seen none.
type Lull struct {
	last bounded.Map[string, time.Duration] // by session; those outside of sessions have the empty id
}

// maxLulls limits the sessions that a Lull remembers.
const maxLulls = 1 << 12

// Before processes the next frame, and returns how long its session was silent before it, or
// 0 if unknown. Frames that are not the connection's own do not count.
func (l *Lull) Before(f *Frame) (quiet time.Duration) {
	if f.Kind == wire.Stderr || f.Kind == wire.Mark {
		return 0
	}
	if f.Untimed {
		l.last.Drop(f.Session)
		return 0
	}
	if last, known := l.last.Get(f.Session); known {
		quiet = f.At - last
	}
	l.last.Limit = maxLulls
	l.last.Set(f.Session, f.At)
	return quiet
}
