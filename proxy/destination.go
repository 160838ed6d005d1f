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
	delivered atomic.Int64  // bytes that w has taken
	broken    chan struct{} // closed at the first error of w
}

func newDestination(w io.Writer) *destination { return &destination{w: w, broken: make(chan struct{})} }

// write gives p to the receiver. After an error it takes no more. There must be
// one write at a time.
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

// full reports whether the stream of a direction is not to be read on: that of a
// client whose agent takes no more. What an agent says is recorded even if
// nobody gets it.
func (o *destination) full(dir wire.Direction) bool {
	return dir == wire.ClientToAgent && o.failed()
}
