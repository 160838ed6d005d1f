package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// maxInput limits the bytes that may wait for a process before the host stops reading
// from the client. What the host itself says to a process never waits, so the two cannot
// deadlock.
const maxInput = 1 << 20

// A process is one process of the server.
type process struct {
	number int
	id     string // of its session; empty for the process that serves requests without one
	in     *proxy.Pipe
	out    *output
	cancel context.CancelFunc // ends the process step by step

	// The run's mu guards the fields below.
	session   bool        // it has a session, which the client may not know yet
	ready     bool        // it is initialised, and the client knows its session
	dismissed bool        // it must end, and its output is discarded
	hello     []byte      // the result of its initialize
	offer     []byte      // what the client offers it, as params of initialize; nil if unknown
	idle      *time.Timer // ends the session; may be nil
}

// start starts a process. A failure to start is reported as its end.
func (r *run) start() *process {
	r.next++
	p := &process{number: r.next, in: proxy.NewPipe()}
	if p.number > 1 || r.Proposal == dialect.SEP1364A2 && r.Max > 0 {
		p.id = rand.Text() // 128 bits in base32
	}
	p.out = &output{lines: lines{
		handle: r.fromServer(p),
		cut:    r.cutOffBy(p),
	}}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	r.alive[p.number] = p
	r.group.Go(func() {
		defer cancel()
		err := r.live(ctx, p)
		r.do(func() { r.exited(p, err) })
	})
	return p
}

// live runs a process, and records it.
func (r *run) live(ctx context.Context, p *process) error {
	var journal Journal
	err := (&proxy.Proxy{
		Command: r.Command, In: p.in, Out: p.out, Err: r.err,
		Complain: r.complain, Patience: r.patience(),
		Prepare: func() (proxy.Journal, []proxy.Interceptor) {
			if r.Begin == nil {
				return nil, nil
			}
			var err error
			if journal, err = r.Begin(p.id); err != nil {
				r.complain(fmt.Errorf("not recording: %w", err))
				journal = nil
			}
			if journal == nil {
				return nil, nil
			}
			return journal, nil
		},
	}).Run(ctx)
	p.in.Close()
	if journal != nil {
		if err := journal.Close(); err != nil {
			r.complain(err)
		}
	}
	return err
}

// warmUp starts the processes that should be started ahead.
func (r *run) warmUp() {
	for !r.aside && !r.closing && len(r.warm) < r.Warm && len(r.sessions)+len(r.warm) < r.Max {
		r.warm = append(r.warm, r.start())
	}
}

// end ends a process by closing its stdin; further steps follow if needed.
func (r *run) end(p *process) {
	p.in.End()
	p.stopIdle()
	time.AfterFunc(r.patience(), p.cancel)
}

// exited handles the end of a process.
func (r *run) exited(p *process, err error) {
	delete(r.alive, p.number)
	r.drop(p)
	status := 0
	var exit *proxy.ExitError
	var unstarted *proxy.StartError
	switch {
	case errors.As(err, &unstarted):
		status = unstarted.Code
		r.complain(err)
	case errors.As(err, &exit):
		status = exit.Code
	}
	switch {
	case p.dismissed:
	case p == r.first && (!p.session || r.closing || r.aside), r.inSession() == 0 && r.first.session:
		r.finish(status) // without refusing anything: the client sees the server end, as it would without acptap
	default:
		if p == r.first {
			r.status = status
		}
		r.fail(p, "the server process of this session has ended")
	}
}

// fail refuses a process's open requests.
func (r *run) fail(p *process, why string) {
	for key, q := range r.requests.All() {
		if q.to == p {
			r.requests.Drop(key)
			r.refuse(q.id, wire.InternalError, why)
		}
	}
}

// output is where a process writes.
type output struct {
	mu    sync.Mutex
	lines lines // guarded by mu
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines.feed(b)
	return len(b), nil
}

// Close handles an unfinished last line. It does not wait for a Write in progress, which
// may be blocked because the client does not read.
func (o *output) Close() error {
	if o.mu.TryLock() {
		defer o.mu.Unlock()
		o.lines.flush()
	}
	return nil
}
