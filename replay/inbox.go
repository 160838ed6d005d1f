package replay

import (
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/replay/internal/rpc"
)

// An inbox buffers what the client has sent until the player handles it. Its size is
// limited, except while a write to the client blocks: otherwise a client that writes
// before it reads would deadlock with us.
type inbox struct {
	more  chan struct{} // buffered; receives a value when something came
	left  chan struct{} // closed when the player gives up on a client that does not read
	whole bool          // long messages are kept whole

	mu     sync.Mutex
	room   *sync.Cond
	frames [][]byte // guarded by mu, as are the fields below
	size   int      // bytes in frames
	ended  bool     // the client's EOF has come
	busy   bool     // a write to the client is in progress
	stuck  bool     // that write has taken long
	closed bool     // frames are dropped
}

// inboxSize is the number of buffered bytes at which the inbox stops reading.
const inboxSize = 1 << 20

// stuckAfter is how long a write may take before we assume that the client is not
// reading.
const stuckAfter = 20 * time.Millisecond

// newInbox starts to read in, and signals more on arrivals. Unless whole is set, it keeps
// only the compared parts of a long frame. The reading goroutine ends with in: a blocked
// read cannot be interrupted.
func newInbox(in io.Reader, more chan struct{}, whole bool) *inbox {
	b := &inbox{more: more, left: make(chan struct{}), whole: whole}
	b.room = sync.NewCond(&b.mu)
	go b.read(in)
	return b
}

func (b *inbox) read(in io.Reader) {
	rpc.ReadLines(in, b.whole, func() {}, b.put)
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

// next returns the next frame, if there is one. ended means that no more will come.
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

// close makes the inbox drop all frames, now and later.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed, b.frames = true, nil
	b.mu.Unlock()
	b.room.Broadcast()
}

// An outbox buffers what is written to the client. It tells its inbox when the client does
// not read.
type outbox struct {
	w     io.Writer
	inbox *inbox
	timer *time.Timer
	buf   []byte
	gone  bool // the client has closed its end, or the player has given up on it
}

// outboxSize is the most that is written at once, in bytes: the capacity of a pipe.
const outboxSize = 64 << 10

func newOutbox(w io.Writer, in *inbox) *outbox {
	o := &outbox{w: w, inbox: in, buf: make([]byte, 0, outboxSize)}
	o.timer = time.AfterFunc(time.Hour, in.stall)
	o.timer.Stop()
	return o
}

// Write buffers p and writes the buffer when it is full. It never fails: if the client is
// gone, the bytes are dropped.
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

// WriteString is Write for a string of at most outboxSize bytes.
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

// send writes the buffer. The write cannot be interrupted: if the player gives up on the
// client, the writing goroutine keeps the buffer and lives on.
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

// writing notes that a write to the client begins or ends.
func (b *inbox) writing(busy bool) {
	b.mu.Lock()
	b.busy, b.stuck = busy, false
	b.mu.Unlock()
}

// stall notes that a write is taking long. The write may have just ended.
func (b *inbox) stall() {
	b.mu.Lock()
	b.stuck = b.busy
	b.mu.Unlock()
	b.room.Broadcast()
}
