package proxy

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A pump's buffer grows when a read fills it: most agents never write more than a few
// kilobytes at a time, and those that flood fill as much in one read as the widened pipe
// holds.
const (
	minBuffer = 32 << 10
	maxBuffer = pipeSize
)

// busyWait is the pause before retrying when another process has made a descriptor
// non-blocking: stderr is often shared with the client, and libuv does that to what it
// shares.
const busyWait = time.Millisecond

// A pump carries one stream to a sink, in a goroutine of its own.
type pump struct {
	moves atomic.Uint32 // even while it reads, odd while it handles what it read
	done  chan struct{} // closed when it has ended
}

func newPump() *pump { return &pump{done: make(chan struct{})} }

// A sink handles what a pump has read.
type sink interface {
	// take records and forwards p, and reports whether to read more.
	take(p []byte) bool

	// end says that no more will be read.
	end()
}

// run reads src until it ends or dst has enough. It returns io.EOF if src ended, the
// error if reading failed, or nil if dst has enough.
func (p *pump) run(src io.Reader, dst sink) error {
	defer dst.end()
	buf := make([]byte, minBuffer)
	for {
		n, err := src.Read(buf)
		p.moves.Add(1)
		if n > 0 && !dst.take(buf[:n]) {
			return nil
		}
		switch {
		case errors.Is(err, syscall.EAGAIN):
			time.Sleep(busyWait)
		case err != nil:
			return err
		case n == len(buf) && n < maxBuffer:
			buf = make([]byte, 2*n)
		}
		p.moves.Add(1)
	}
}

// A tap reports a chunk to the journal and forwards it.
type tap struct {
	dir         wire.Direction
	gate        *recorderGate
	destination *destination
}

func (t tap) take(p []byte) bool {
	if !t.gate.append(t.dir, wire.Wire, p) {
		return false
	}
	t.destination.write(p)
	return !t.destination.full(t.dir)
}

func (t tap) end() {}
