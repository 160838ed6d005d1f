package proxy

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A destination is the receiving end of one direction.
type destination struct {
	w         io.Writer
	delivered atomic.Int64  // bytes that w has accepted
	broken    chan struct{} // closed at the first error of w
}

func newDestination(w io.Writer) *destination { return &destination{w: w, broken: make(chan struct{})} }

// write gives p to the receiver, and does nothing after an error. Calls must not overlap.
func (o *destination) write(p []byte) {
	for len(p) > 0 && !o.failed() {
		n, err := o.w.Write(p)
		o.delivered.Add(int64(n))
		p = p[n:]
		switch {
		case errors.Is(err, syscall.EAGAIN):
			time.Sleep(busyWait)
		case err != nil:
			close(o.broken)
		}
	}
}

func (o *destination) failed() bool {
	select {
	case <-o.broken:
		return true
	default:
		return false
	}
}

// full reports whether to stop reading dir: true for the client's stream once the agent
// accepts no more. The agent's output is recorded even if the client accepts none of it.
func (o *destination) full(dir wire.Direction) bool {
	return dir == wire.ClientToAgent && o.failed()
}
