package replay

import (
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/replay/internal/lines"
)

// An inbox holds what the client has sent and the player has not looked at yet. Its
// size is bounded while the player works. While the player waits for the client to
// read, the inbox takes everything: a client that writes before it reads would
// otherwise wait for us while we wait for it.
type inbox struct {
	more  chan struct{} // holds one when something came; buffered
	left  chan struct{} // closed when a client that does not read is not waited for any more
	whole bool

	mu     sync.Mutex
	room   *sync.Cond
	frames [][]byte // guarded by mu, as are those below
	size   int      // bytes in frames
	ended  bool     // the client's EOF has come
	busy   bool     // we write to the client
	stuck  bool     // and it does not take that
	closed bool     // nobody looks any more
}

// inboxSize is how many bytes wait while the other side is at work.
const inboxSize = 1 << 20

// stuckAfter is how long a write may take until the client is held to be one
// that does not read.
const stuckAfter = 20 * time.Millisecond

// newInbox starts to read in, and tells more of what comes. Unless whole is set,
// only as much of a frame is kept as is compared. The goroutine that reads ends
// with in; a read that blocks cannot be interrupted.
func newInbox(in io.Reader, more chan struct{}, whole bool) *inbox {
	b := &inbox{more: more, left: make(chan struct{}), whole: whole}
	b.room = sync.NewCond(&b.mu)
	go b.read(in)
	return b
}

func (b *inbox) read(in io.Reader) {
	lines.Read(in, b.whole, func() {}, b.put)
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) put(frame []byte) {
	b.mu.Lock()
	for b.size > inboxSize && !b.stuck && !b.closed {
		b.room.Wait()
	}
	if !b.closed {
		b.frames = append(b.frames, frame)
		b.size += len(frame)
	}
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) signal() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// next returns the next frame, if there is one. ended says that none will come.
func (b *inbox) next() (frame []byte, ok, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.frames) == 0 {
		return nil, false, b.ended
	}
	frame = b.frames[0]
	b.frames[0] = nil
	b.frames = b.frames[1:]
	b.size -= len(frame)
	b.room.Signal()
	return frame, true, false
}

// close makes the reader drop what still comes.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed, b.frames = true, nil
	b.mu.Unlock()
	b.room.Broadcast()
}

// An outbox writes to the client and tells the inbox when that does not read.
type outbox struct {
	w     io.Writer
	inbox *inbox
	timer *time.Timer
	buf   []byte
	gone  bool // the client has closed its end, or was left
}

// outboxSize is what is written at once: what a pipe takes.
const outboxSize = 64 << 10

func newOutbox(w io.Writer, in *inbox) *outbox {
	o := &outbox{w: w, inbox: in, buf: make([]byte, 0, outboxSize)}
	o.timer = time.AfterFunc(time.Hour, in.stall)
	o.timer.Stop()
	return o
}

// Write takes p, and writes when enough has come together. It never fails: what
// a client that has gone away would have got is lost with it.
func (o *outbox) Write(p []byte) (int, error) {
	if len(o.buf)+len(p) > outboxSize {
		o.flush()
	}
	for piece := range slices.Chunk(p, outboxSize) {
		if o.buf = append(o.buf, piece...); len(o.buf) == outboxSize {
			o.flush()
		}
	}
	return len(p), nil
}

// WriteString is Write for what is short.
func (o *outbox) WriteString(s string) {
	if len(o.buf)+len(s) > outboxSize {
		o.flush()
	}
	o.buf = append(o.buf, s...)
}

func (o *outbox) flush() {
	if !o.gone && len(o.buf) > 0 {
		o.send()
	}
	o.buf = o.buf[:0]
}

// send writes what has come together. The write cannot be interrupted: where the
// client is left, its goroutine stays behind, with the buffer.
func (o *outbox) send() {
	o.inbox.writing(true)
	o.timer.Reset(stuckAfter)
	written, p := make(chan error, 1), o.buf
	go func() {
		_, err := o.w.Write(p)
		written <- err
	}()
	select {
	case err := <-written:
		o.gone = err != nil && !errors.Is(err, io.ErrShortWrite)
	case <-o.inbox.left:
		o.gone, o.buf = true, nil
	}
	o.timer.Stop()
	o.inbox.writing(false)
}

// writing notes when a write to the client begins and ends.
func (b *inbox) writing(busy bool) {
	b.mu.Lock()
	b.busy, b.stuck = busy, false
	b.mu.Unlock()
}

// stall notes that a write takes long. It may come when that has just ended.
func (b *inbox) stall() {
	b.mu.Lock()
	b.stuck = b.busy
	b.mu.Unlock()
	b.room.Broadcast()
}
