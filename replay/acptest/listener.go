package acptest

import (
	"io"
	"sync"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A listener judges the messages between a client and a replayed agent. It numbers them in
// the order in which they pass.
type listener struct {
	began time.Time

	mu       sync.Mutex
	split    [2]wire.Splitter // by direction; guarded by mu, as are the fields below
	long     [2][]byte        // the beginning of a line that is longer than a Splitter keeps
	tracker  *dialect.Tracker
	checker  *conform.Checker
	seq      uint64
	finished bool
}

func newListener() *listener {
	return &listener{
		began:   time.Now(),
		tracker: dialect.NewTracker(dialect.AnyProtocol),
		checker: conform.NewChecker(conform.Options{Beginning: true}),
	}
}

// client returns a reader of what the client sends.
func (l *listener) client(r io.Reader) io.Reader { return &clientReader{r, l} }

// agent returns a writer of what the client gets.
func (l *listener) agent(w io.Writer) io.Writer { return &agentWriter{w, l} }

type clientReader struct {
	io.Reader
	*listener
}

func (c *clientReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.take(wire.ClientToAgent, p[:n])
	return n, err
}

type agentWriter struct {
	io.Writer
	*listener
}

func (a *agentWriter) Write(p []byte) (int, error) {
	a.take(wire.AgentToClient, p)
	return a.Writer.Write(p)
}

func (l *listener) take(dir wire.Direction, p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.split[dir].Feed(p, func(piece []byte, end wire.LineEnd, last bool) { l.piece(dir, piece, last) })
}

// piece handles a line, or a piece of a line that is too long to be checked: the listener
// judges the beginning of such a line.
func (l *listener) piece(dir wire.Direction, piece []byte, last bool) {
	long := l.long[dir]
	switch {
	case !last && long == nil:
		l.long[dir] = append([]byte{}, piece...)
		return
	case !last:
		return
	case long != nil:
		l.long[dir] = nil
		l.frame(dir, long, wire.ScanPrefix(long))
		return
	}
	l.frame(dir, piece, wire.Scan(piece))
}

func (l *listener) frame(dir wire.Direction, raw []byte, e wire.Envelope) {
	l.seq++
	f := dialect.Frame{Frame: wire.Frame{Seq: l.seq, At: time.Since(l.began), Dir: dir, Kind: e.Kind, Size: int64(len(raw)), Raw: raw}}
	f.Annotation, _ = l.tracker.Observe(&f.Frame, e)
	f.Failed = dialect.Failed(e, &f.Annotation)
	l.checker.Add(&f)
}

// findings returns the findings, once no more messages will pass.
func (l *listener) findings() []conform.Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.finished {
		l.finished = true
		l.checker.End()
	}
	return l.checker.Findings()
}
