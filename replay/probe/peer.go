package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// A peer is a running agent or server whose traffic is recorded.
type peer struct {
	input  *proxy.Pipe
	lines  <-chan []byte
	output *io.PipeReader
	exited chan struct{} // closed when the peer has exited; err is set before
	err    error
	mark   string // environment entry that marks its processes; empty if it has none
	cancel context.CancelFunc
	stop   chan struct{} // closed when nobody reads lines any more
	grace  time.Duration
	handle chan proxy.Handle
}

// startPeer runs p, and sets its In, Out and Interceptors.
func startPeer(ctx context.Context, p proxy.Proxy, mark string) *peer {
	ctx, cancel := context.WithCancel(ctx)
	output, out := io.Pipe()
	a := &peer{
		input: proxy.NewPipe(), output: output, exited: make(chan struct{}), mark: mark, cancel: cancel,
		stop: make(chan struct{}), grace: p.Patience, handle: make(chan proxy.Handle, 1),
	}
	a.lines = script.Lines(output, a.stop)
	p.In, p.Out, p.Interceptors = a.input, out, append(p.Interceptors, &signaller{a.handle})
	if p.Peer == nil && mark != "" {
		p.Env = append(p.Env, markName+"="+mark)
	}
	go func() {
		a.err = p.Run(ctx)
		a.input.Close() // if nothing was started, nothing else closes it
		out.Close()
		close(a.exited)
	}()
	return a
}

// A signaller is an Interceptor that passes all bytes unchanged and obtains the Handle.
type signaller struct{ handle chan proxy.Handle }

func (s *signaller) Start(h proxy.Handle)          { s.handle <- h }
func (s *signaller) Wants(dir wire.Direction) bool { return false }
func (s *signaller) Held() []wire.Frame            { return nil }
func (s *signaller) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	return append(out, f)
}
func (s *signaller) End(_ wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	return out, nil
}

// CloseInput implements script.Process.
func (a *peer) CloseInput() { a.input.End() }

// Signal implements script.Process.
func (a *peer) Signal(name string) error {
	sig := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[name]
	select {
	case h := <-a.handle:
		a.handle <- h
		h.Signal(sig)
		return nil
	case <-a.exited:
		return errors.New("it has ended already")
	}
}

// Exited implements script.Process.
func (a *peer) Exited() <-chan struct{} { return a.exited }

// Children implements script.Process.
func (a *peer) Children() []string {
	select {
	case <-a.exited:
	default: // exclude the peer itself
	}
	var names []string
	for _, c := range marked(a.mark) {
		names = append(names, c.String())
	}
	return names
}

// end closes the input, stops the peer, and waits until it and its descendants have exited. It
// returns the result of proxy.Proxy.Run.
func (a *peer) end() error {
	a.input.End()
	close(a.stop)
	select {
	case <-a.exited:
	case <-time.After(a.grace):
	}
	a.cancel()
	<-a.exited
	a.output.Close()
	for range a.lines {
	}
	killMarked(a.mark)
	return a.err
}

// grace is how long an idle peer may take to exit.
const grace = time.Second

// A recording is a tape in progress.
type recording struct {
	store   *record.Store
	journal *record.Recorder
}

func newRecording(store *record.Store, start record.Start) (*recording, error) {
	journal, err := store.Record(start)
	return &recording{store, journal}, err
}

// tape finishes the recording and opens its tape.
func (r *recording) tape() (*record.Tape, error) {
	err := r.journal.Close()
	r.journal.Wait()
	if err != nil {
		return nil, err
	}
	return r.store.Open(r.journal.Tape())
}

// tail returns the last n lines of stderr on a tape.
func tail(t *record.Tape, n int) []string {
	var lines []string
	for f, err := range t.Frames(1) {
		if err != nil {
			break
		}
		if f.Kind == wire.Stderr {
			lines = append(lines, strings.TrimRight(string(f.Raw), "\r\n"))
		}
	}
	return lines[max(0, len(lines)-n):]
}
