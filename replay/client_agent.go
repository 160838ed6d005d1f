package replay

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A partner is the agent while it runs: lines go in, lines come out. Neither side
// waits for the other, since an agent may write before it reads.
type partner struct {
	lines  chan []byte // what it writes, shortened; closed at its end
	spoke  atomic.Int64
	cancel context.CancelFunc
	ended  chan error // what proxy.Proxy.Run returned

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte      // guarded by mu: what it has not been given yet
	closed  bool          // guarded by mu: nothing will be added
	written chan struct{} // closed when all was given to it
}

// startPartner runs the agent of p, whose In and Out are set here.
func startPartner(ctx context.Context, p proxy.Proxy) *partner {
	ctx, cancel := context.WithCancel(ctx)
	a := &partner{lines: make(chan []byte), cancel: cancel, ended: make(chan error, 1), written: make(chan struct{})}
	a.more = sync.NewCond(&a.mu)
	a.spoke.Store(time.Now().UnixNano())
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	p.In, p.Out = stdin, stdout
	go func() {
		a.ended <- p.Run(ctx)
		stdin.Close() // where there was no agent
		stdout.Close()
	}()
	go a.read(out)
	go a.write(in)
	return a
}

// send gives the agent a message.
func (a *partner) send(message []byte) {
	a.mu.Lock()
	a.waiting = append(a.waiting, append(message[:len(message):len(message)], '\n'))
	a.mu.Unlock()
	a.more.Signal()
}

// quiet returns how long the agent has said nothing.
func (a *partner) quiet() time.Duration { return time.Since(time.Unix(0, a.spoke.Load())) }

// unread is how long an agent has to read what it was sent before it is ended.
const unread = time.Second

// stop closes the agent's stdin, makes it end, and waits until it and all that
// belongs to it has gone. It returns how the agent ended.
func (a *partner) stop() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.more.Signal()
	drained := make(chan struct{})
	go func() {
		for range a.lines {
		}
		close(drained)
	}()
	select {
	case <-a.written:
	case <-time.After(unread):
	}
	a.cancel()
	err := <-a.ended
	<-a.written
	<-drained
	return err
}

func (a *partner) write(in *io.PipeWriter) {
	defer close(a.written)
	defer in.Close()
	for {
		a.mu.Lock()
		for len(a.waiting) == 0 && !a.closed {
			a.more.Wait()
		}
		messages := a.waiting
		a.waiting = nil
		a.mu.Unlock()
		if len(messages) == 0 {
			return
		}
		for _, m := range messages {
			if _, err := in.Write(m); err != nil {
				return // it takes no more; its end tells the rest
			}
		}
	}
}

func (a *partner) read(out *io.PipeReader) {
	defer close(a.lines)
	var split wire.Splitter
	var line []byte
	emit := func(piece []byte, _ wire.LineEnd, last bool) {
		line = shortened(append(line, piece...))
		if last {
			a.lines <- line
			line = nil
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		a.spoke.Store(time.Now().UnixNano())
		split.Feed(buf[:n], emit)
		if err != nil {
			split.Flush(emit)
			return
		}
	}
}
