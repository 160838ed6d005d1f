package drive

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// An agentProcess is a running agent that exchanges lines with the driver.
type agentProcess struct {
	input  *proxy.Pipe
	lines  chan []byte  // the lines it writes, long ones shortened; closed at the end of its output
	spoke  atomic.Int64 // when it last wrote; ns since 1970
	cancel context.CancelFunc
	ended  chan error // receives the result of proxy.Proxy.Run
}

// startAgent runs the agent of p. It sets p.In and p.Out.
func startAgent(ctx context.Context, p proxy.Proxy) *agentProcess {
	ctx, cancel := context.WithCancel(ctx)
	out, stdout := io.Pipe()
	a := &agentProcess{input: proxy.NewPipe(), lines: make(chan []byte), cancel: cancel, ended: make(chan error, 1)}
	a.spoke.Store(time.Now().UnixNano())
	p.In, p.Out = a.input, stdout
	go func() {
		a.ended <- p.Run(ctx)
		a.input.Close() // if no agent started, nothing else closes it
		stdout.Close()
	}()
	go a.read(out)
	return a
}

// quiet returns the time since the agent last wrote.
func (a *agentProcess) quiet() time.Duration { return time.Since(time.Unix(0, a.spoke.Load())) }

// unread limits the time the agent has to read the rest of its input before it is
// stopped.
const unread = time.Second

// stop closes the agent's stdin, stops the agent, and waits until its process group has
// ended. It returns the result of proxy.Proxy.Run.
func (a *agentProcess) stop() error {
	a.input.End()
	drained := make(chan struct{})
	go func() {
		for range a.lines {
		}
		close(drained)
	}()
	select {
	case <-a.input.Drained():
	case <-time.After(unread):
	}
	a.cancel()
	err := <-a.ended
	<-a.input.Drained()
	<-drained
	return err
}

func (a *agentProcess) read(out *io.PipeReader) {
	defer close(a.lines)
	rpc.ReadLines(out, false, func() { a.spoke.Store(time.Now().UnixNano()) }, func(line []byte) { a.lines <- line })
}
