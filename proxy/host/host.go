// Package host gives MCP sessions to a server that has none. A Host takes the server's
// place: with the client it speaks one of the proposals for sessions, and for each session
// it runs a server process, with which it speaks MCP as published. Only separate processes
// keep the states of a stdio server apart.
//
// The proposals are SEP-1364, in its two alternatives, and the draft of data-layer sessions
// of 2026-02-23. Both are closed. If the server's response to initialize shows that it has
// sessions of its own, bytes pass unchanged from then on.
//
// Sessions do not outlive the Host, and a process that dies takes its session with it. The
// package knows nothing about storage.
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

// A Host says what to run, and by which rules.
type Host struct {
	Command  []string         // the server and its arguments
	Proposal dialect.Proposal // not NoProposal

	// Max limits the number of concurrent sessions. With 0 the server has none, and says
	// so as the proposal defines it.
	Max      int
	Idle     time.Duration // a session unused for this long ends; 0 means never
	Required bool          // refuse requests that name no session; not for data-layer sessions
	Warm     int           // number of processes to start ahead

	// Begin begins recording a process: that of a session, or with an empty id the one
	// that serves requests without a session. If Begin is nil or returns a nil Journal,
	// the process is not recorded.
	Begin func(session string) (Journal, error)

	// Complain receives problems with recording, with starting a process, and with
	// overlong messages. It must not block. nil drops them.
	Complain func(error)

	// Patience bounds each step of ending a process: closing its stdin twice, then
	// SIGTERM, then SIGKILL. 0 is 2 s.
	Patience time.Duration
}

// A Journal records what the host and a process say to each other. It is closed when the
// process has ended.
type Journal interface {
	proxy.Journal
	Close() error
}

// Peer returns the host as an agent of proxy.Proxy, for one Run. Its status is that of the
// first process, which serves requests without a session. As with proxy.Proxy, processes
// receive signals to this process by themselves.
func (h *Host) Peer() *proxy.Peer {
	return &proxy.Peer{Run: h.run, Signal: func(os.Signal) {}}
}

func (h *Host) patience() time.Duration { return cmp.Or(h.Patience, 2*time.Second) }

func (h *Host) complain(err error) {
	if h.Complain != nil {
		h.Complain(err)
	}
}

// maxOpen limits the client's open requests. Beyond it the oldest are forgotten, and
// their responses pass without a session.
const maxOpen = 1 << 16

// A run is one run of a Host.
type run struct {
	*Host
	out, err *outlet
	over     chan struct{} // closed when the first process has ended, which ends the host

	mu       sync.Mutex // guards the fields below
	said     []byte     // lines for the client, written when mu is released
	next     int        // number of the next process
	alive    map[int]*process
	sessions map[string]*process // sessions that the client may name
	first    *process
	warm     []*process
	requests bounded.Map[string, request] // requests of the client, by dialect.IDKey
	hello    []byte                       // params of the client's initialize, or nil
	greeted  bool                         // the first process has answered initialize
	aside    bool                         // the server has sessions of its own
	closing  bool
	status   int
	ended    bool // over is closed

	group sync.WaitGroup // the processes; Add is called with mu held, before closing
}

// A request is a client's request that has no response yet.
type request struct {
	to        *process
	method    string
	id        []byte
	named     bool // it names its session
	creates   bool // it asks for a new session, which its process will serve
	cancelled bool
}

// begins reports whether q is the client's request for the server's capabilities.
func (q *request) begins() bool { return dialect.Does(q.method, dialect.Initializes|dialect.Discovers) }

// run is proxy.Peer.Run.
func (h *Host) run(ctx context.Context, in io.Reader, out, err io.Writer) int {
	r := &run{
		Host: h, out: &outlet{w: out}, err: &outlet{w: err}, over: make(chan struct{}),
		alive: map[int]*process{}, sessions: map[string]*process{},
		requests: bounded.Map[string, request]{Limit: maxOpen},
		aside:    h.Max == 0 && h.Proposal != dialect.SEP1364A2, // the server's own refusals of session methods are right
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

// do calls act with mu held, and then writes the lines it produced to the client.
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

// say queues a line for the client.
func (r *run) say(line []byte) { r.said = append(append(r.said, line...), '\n') }

// finish ends the host with a status.
func (r *run) finish(status int) {
	if !r.ended {
		r.ended, r.status = true, status
		close(r.over)
	}
}

// listen handles the client's input until it ends.
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
