// Package host gives MCP sessions to a server that has none. A Host stands where the
// server stands: to the client it speaks one of the proposals for sessions, and for each
// session it runs a server process, to which it speaks MCP as published. Nothing else
// keeps the state of a server on stdio apart.
//
// The proposals are SEP-1364, in its two alternatives, and the draft of data-layer
// sessions of 2026-02-23. Both are closed. A server that has sessions of its own is left
// alone: from its answer to initialize on, bytes pass as they come.
//
// Sessions do not outlive the Host, and a process that dies takes its session with it.
// The package knows nothing of storage.
package host

import (
	"cmp"
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Host says what runs, and by which rules.
type Host struct {
	Command  []string         // the server and its arguments
	Proposal dialect.Proposal // not NoProposal

	// Max is how many sessions there may be at a time. With 0 the server has none, and
	// says so in the way of the proposal.
	Max      int
	Idle     time.Duration // a session that is not used for so long ends; 0: never
	Required bool          // requests that name no session are refused; not in data-layer sessions
	Warm     int           // processes that are started ahead

	// Begin begins to record a process: that of a session, or with an empty id the one
	// that serves what belongs to no session. nil, and a nil Journal: it is not recorded.
	Begin func(session string) (Journal, error)

	// Complain is told of what goes wrong with recording, with starting a process, and
	// with messages that are too long. It must not block. nil: complaints are dropped.
	Complain func(error)

	// Patience is how long a process that is to end may take for each step: its stdin
	// closed twice, then SIGTERM, then SIGKILL. 0 is 2 s.
	Patience time.Duration
}

// A Journal records what the host and a process say to each other. It is closed when the
// process has ended.
type Journal interface {
	proxy.Journal
	Close() error
}

// Peer returns the host as an agent of proxy.Proxy, for one Run. Its status is that of the
// first process, which serves what belongs to no session. Processes get the signals that
// come to this process by themselves, as those of proxy.Proxy.
func (h *Host) Peer() *proxy.Peer {
	return &proxy.Peer{Run: h.run, Signal: func(os.Signal) {}}
}

func (h *Host) patience() time.Duration { return cmp.Or(h.Patience, 2*time.Second) }

func (h *Host) complain(err error) {
	if h.Complain != nil {
		h.Complain(err)
	}
}

// maxOpen is how many requests of the client may wait for an answer. Of more, the oldest
// are forgotten: their answers pass without a session.
const maxOpen = 1 << 16

// A run is one life of a Host.
type run struct {
	*Host
	out, err *outlet
	over     chan struct{} // closed when the first process has ended, and with it the host

	mu       sync.Mutex // guards the rest
	said     []byte     // lines for the client, written when mu is let go
	next     int        // number of the next process
	alive    map[int]*process
	sessions map[string]*process // those that the client may name
	first    *process
	warm     []*process
	requests bounded.Map[string, request] // of the client, by dialect.IDKey
	hello    []byte                       // params of the client's initialize; nil: there was none
	greeted  bool                         // the first process has answered that
	aside    bool                         // the server has sessions itself
	closing  bool
	status   int
	ended    bool // over is closed

	group sync.WaitGroup // the processes; Add is called with mu held, before closing
}

// A request is one of the client that is not answered yet.
type request struct {
	to        *process
	method    string
	id        []byte
	named     bool // it names its session
	creates   bool // to is to be a new session, and this is answered with it
	cancelled bool
}

// begins reports whether the client finds out with q what the server is.
func (q *request) begins() bool { return dialect.Does(q.method, dialect.Initializes|dialect.Discovers) }

// run is proxy.Peer.Run.
func (h *Host) run(ctx context.Context, in io.Reader, out, err io.Writer) int {
	r := &run{
		Host: h, out: &outlet{w: out}, err: &outlet{w: err}, over: make(chan struct{}),
		alive: map[int]*process{}, sessions: map[string]*process{},
		requests: bounded.Map[string, request]{Limit: maxOpen},
		aside:    h.Max == 0 && h.Proposal != dialect.SEP1364A2, // its own refusals of session methods are right
	}
	r.do(func() {
		r.first = r.start()
		r.warmUp()
	})
	eof := make(chan struct{})
	go func() { // ends with in, which the proxy closes when run has returned
		r.listen(in)
		close(eof)
	}()
	select {
	case <-eof:
	case <-r.over:
	case <-ctx.Done():
	}
	r.do(func() {
		r.closing = true
		for _, p := range r.alive {
			r.end(p)
			if ctx.Err() != nil {
				p.cancel()
			}
		}
	})
	stop := context.AfterFunc(ctx, func() {
		r.do(func() {
			for _, p := range r.alive {
				p.cancel()
			}
		})
	})
	defer stop()
	r.group.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// do calls act with mu held, and then writes what that has said to the client.
func (r *run) do(act func()) {
	r.mu.Lock()
	act()
	said := r.said
	r.said = nil
	r.mu.Unlock()
	if len(said) > 0 {
		r.out.Write(said)
	}
}

// say has a line be written to the client.
func (r *run) say(line []byte) { r.said = append(append(r.said, line...), '\n') }

// finish ends the host with a status.
func (r *run) finish(status int) {
	if !r.ended {
		r.ended, r.status = true, status
		close(r.over)
	}
}

// listen hands on what the client sends, until it ends.
func (r *run) listen(in io.Reader) {
	lines := lines{handle: r.fromClient, cut: r.cutOff}
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		lines.feed(buf[:n])
		if err != nil {
			lines.flush()
			return
		}
	}
}

// An outlet is a stream that several processes write to.
type outlet struct {
	mu sync.Mutex
	w  io.Writer
}

// Write fails only when the reader is gone, which the writers need not handle.
func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}
