package relay

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/acptap/acptap/proxy/wire"
)

// A tape guards access to a connection's Journal, if it has one. The first panic of a
// Journal ends the recording, but not the traffic.
type tape struct {
	journal  Journal // may be nil
	complain func(error)
	broken   atomic.Bool
}

func (t *tape) recording() bool { return t.journal != nil && !t.broken.Load() }

// do calls note with the Journal, if there is one.
func (t *tape) do(note func(Journal)) {
	if t.recording() {
		defer t.guard()
		note(t.journal)
	}
}

func (t *tape) guard() {
	v := recover()
	if v == nil || t.broken.Swap(true) {
		return
	}
	err := fmt.Errorf("recording: panic: %v\n%s", v, debug.Stack())
	t.complain(err)
	defer func() { recover() }() // it has failed before
	t.journal.Fault(err)
}

// close ends the tape.
func (t *tape) close(why string) {
	if t.journal == nil {
		return
	}
	t.do(func(j Journal) { j.Closed(why) })
	defer t.guard()
	if err := t.journal.Close(); err != nil {
		t.complain(err)
	}
}

// A flow records one direction of a stream. Bytes of a body may still be read after the
// exchange has ended; they are ignored.
type flow struct {
	tape   *tape
	stream uint64
	dir    wire.Direction
	hidden bool // the bytes are credentials and are not recorded

	mu     sync.Mutex
	ended  bool // guarded by mu
	broken bool // guarded by mu: it ended abnormally
}

// write records bytes. It returns false if the direction has ended.
func (f *flow) write(origin wire.Origin, p []byte) (open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || len(p) == 0 || f.hidden || !f.tape.recording() {
		return !f.ended
	}
	defer f.tape.guard()
	_ = f.tape.journal.AppendStream(f.stream, f.dir, origin, p) // the journal itself remembers a gap
	return true
}

// end ends the direction. Only the first call counts.
func (f *flow) end(by wire.Peer, why string) { f.finish(wire.StreamEnd{By: by, Error: why}) }

// finish is end for a direction that may have trailers.
func (f *flow) finish(e wire.StreamEnd) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	f.ended, f.broken = true, e.Error != ""
	f.tape.do(func(j Journal) { j.EndStream(f.stream, f.dir, e) })
}

// whole reports whether the direction has ended normally.
func (f *flow) whole() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended && !f.broken
}
