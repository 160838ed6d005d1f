package relay_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
)

// A tape is a Journal that stores what it receives.
type tape struct {
	facts relay.Facts

	mu      sync.Mutex
	changed *sync.Cond
	streams []*stream // guarded by mu; the first has the number 1
	closed  string    // guarded by mu
	faults  []error   // guarded by mu
}

// A stream is what one exchange left on a tape. Arrays are by direction.
type stream struct {
	request  wire.HTTP
	heads    []wire.HTTP
	sent     [2]bytes.Buffer // by its writer
	received [2]bytes.Buffer // by the other side
	ends     [2]*wire.StreamEnd
}

func newTape(f relay.Facts) *tape {
	t := &tape{facts: f}
	t.changed = sync.NewCond(&t.mu)
	return t
}

func (t *tape) Open(h wire.HTTP) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	t.streams = append(t.streams, &stream{request: h})
	return uint64(len(t.streams))
}

func (t *tape) Head(n uint64, origin wire.Origin, h wire.HTTP) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	h.Origin = origin
	t.streams[n-1].heads = append(t.streams[n-1].heads, h)
}

func (t *tape) AppendStream(n uint64, dir wire.Direction, origin wire.Origin, p []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	s := t.streams[n-1]
	if s.ends[dir] != nil || t.closed != "" {
		panic("bytes behind the end")
	}
	if origin.Sent() {
		s.sent[dir].Write(p)
	}
	if origin.Received() {
		s.received[dir].Write(p)
	}
	return nil
}

func (t *tape) EndStream(n uint64, dir wire.Direction, e wire.StreamEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	if t.streams[n-1].ends[dir] != nil {
		panic("ended twice")
	}
	t.streams[n-1].ends[dir] = &e
}

func (t *tape) Fault(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, err)
}

func (t *tape) Closed(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.changed.Broadcast()
	t.closed = why
}

func (t *tape) Close() error { return nil }

// why returns why the tape is closed, nothing while it is open.
func (t *tape) why() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// await waits until the tape has something.
func (t *tape) await(there func() bool) {
	hung := time.AfterFunc(2*time.Minute, func() { panic("it does not come:\n" + t.String()) })
	defer hung.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for !there() {
		t.changed.Wait()
	}
}

// stream returns a stream of the tape once both of its directions have ended.
func (t *tape) stream(n int) *stream {
	var s *stream
	t.await(func() bool {
		if len(t.streams) < n {
			return false
		}
		s = t.streams[n-1]
		return s.ends[0] != nil && s.ends[1] != nil
	})
	return s
}

// String returns the content of the tape as lines.
func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, s := range t.streams {
		fmt.Fprintf(&b, "%d %s %s %q\n", i+1, s.request.Method, s.request.Target, s.sent[0].String())
		for _, h := range s.heads {
			fmt.Fprintf(&b, "  %d %s %v\n", h.Status, h.Origin, headers(h.Headers))
		}
		fmt.Fprintf(&b, "  %q\n", s.received[1].String())
		for dir, e := range s.ends {
			if e != nil {
				fmt.Fprintf(&b, "  %s ended by %s: %s\n", wire.Direction(dir), e.By, e.Error)
			}
		}
	}
	return b.String() + "closed: " + t.closed
}

// headers returns the values that a tape has of headers, by name.
func headers(all []wire.Header) map[string]string {
	m := map[string]string{}
	for _, h := range all {
		m[h.Name] = h.Value
	}
	return m
}

// keep keeps all of every header.
func keep(h http.Header) []wire.Header {
	var all []wire.Header
	for name, values := range h {
		for _, v := range values {
			all = append(all, wire.Header{Name: name, Value: v})
		}
	}
	slices.SortFunc(all, func(a, b wire.Header) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A fixture is a relay that runs in front of a server.
type fixture struct {
	*relay.Relay
	url string // of the upstream's URL, through the relay

	mu    sync.Mutex
	began *sync.Cond // with mu
	tapes []*tape    // guarded by mu; in the order in which they began
	stop  func()
}

// newFixture returns a fixture whose relay has no Address yet.
func newFixture(t testing.TB, upstream string) *fixture {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	f.began = sync.NewCond(&f.mu)
	f.Relay = &relay.Relay{
		Upstream: u,
		Keep:     keep,
		Complain: func(err error) { t.Errorf("complaint: %v", err) },
		Begin: func(facts relay.Facts) (relay.Journal, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.tapes = append(f.tapes, newTape(facts))
			f.began.Broadcast()
			return f.tapes[len(f.tapes)-1], nil
		},
	}
	return f
}

// start starts a relay in front of the server at upstream. change, which may be nil,
// changes it before.
func start(t testing.TB, upstream string, change func(*relay.Relay)) *fixture {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, upstream)
	f.Address = &url.URL{Scheme: "http", Host: ln.Addr().String()}
	if change != nil {
		change(f.Relay)
	}
	f.url = f.Address.String() + f.Upstream.Path
	f.serve(t, ln, f.Relay, func() { f.Close("the test ended") })
	return f
}

// serve serves until the test ends or stop is called.
func (f *fixture) serve(t testing.TB, ln net.Listener, h http.Handler, closed func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- relay.Serve(ctx, ln, h) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
		closed()
	})
	t.Cleanup(f.stop)
}

// tape returns the nth tape, from 0, once it has begun.
func (f *fixture) tape(n int) *tape {
	hung := time.AfterFunc(2*time.Minute, func() { panic(fmt.Sprintf("no tape %d", n)) })
	defer hung.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for n >= len(f.tapes) {
		f.began.Wait()
	}
	return f.tapes[n]
}

func (f *fixture) all() []*tape {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tapes)
}

// server starts a server for a test.
func server(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}
