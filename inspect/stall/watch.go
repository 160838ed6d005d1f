package stall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Watch reports what hangs on one tape. Its zero value is ready to use. It is not safe
// for concurrent use.
type Watch struct {
	// After is how long an agent may be silent; 0: DefaultAfter. The limits of the other
	// kinds scale with it. It must not change after the first call.
	After time.Duration

	trace       trace.Trace
	connections dialect.Connections
	work        work
	agent       agent

	now     time.Duration
	next    time.Duration // nothing begins to hang before this time
	hanging []hanging     // in starting order
	changes []Change
}

// A subject is something that may hang: a session with its turn, a request, or the agent
// itself.
type subject interface {
	// waits returns how the subject may hang, and since when; false: it cannot.
	waits() (wait, bool)

	// names describes the subject.
	names() (session string, turn int, details []string)
}

// A wait is a way in which a subject may hang. A wait that begins again is a different
// one.
type wait struct {
	kind  Kind
	since place
}

// A place is a frame and its time.
type place struct {
	seq uint64
	at  time.Duration
}

// A hanging is a subject that was reported.
type hanging struct {
	subject
	wait
	Stall
	what string // its description when it began to hang
}

const (
	// maxHanging limits how much may hang at once. No one would read more.
	maxHanging = 256

	// maxTime clamps times so that adding two of them cannot overflow.
	maxTime = time.Duration(math.MaxInt64 / 4)
)

// Add processes the next frame of the tape, with its bytes, and keeps none of them. It
// returns what began to hang before the frame, and what the frame ends. The list is valid
// until the next call.
func (w *Watch) Add(f *dialect.Frame) []Change {
	w.changes = w.changes[:0]
	w.advance(f.At - 1)
	w.now = max(w.now, min(f.At, maxTime))
	if w.connections.StartsNext(f) {
		w.work.forget()
		w.agent = agent{}
		w.settle(f)
		w.trace.Next(dialect.Connection{})
	}
	w.trace.Brief = true
	w.trace.Add(f)
	here := place{f.Seq, w.now}
	w.work.take(f, here, w.trace.Events())
	w.agent.take(f, here, &w.work)
	if f.Events&(dialect.AgentEnded|dialect.BytesLost) != 0 {
		w.work.forget()
	}
	w.settle(f)
	if w.agent.broke.seq == f.Seq {
		w.begin(&w.agent, w.now)
	}
	w.next = min(w.next, w.now+w.shortest())
	return w.changes
}

// Now declares that no frame comes before tape time at, and returns what hangs by then.
// The list is valid until the next call.
func (w *Watch) Now(at time.Duration) []Change {
	w.changes = w.changes[:0]
	w.advance(at)
	return w.changes
}

// End marks the tape as finished and returns the stalls that this ends.
func (w *Watch) End() []Change {
	w.changes = w.changes[:0]
	w.work.forget()
	w.agent = agent{}
	w.settle(nil)
	return w.changes
}

// Hanging returns what hangs, in starting order.
func (w *Watch) Hanging() []Stall {
	list := make([]Stall, len(w.hanging))
	for i := range w.hanging {
		list[i] = w.hanging[i].Stall
	}
	return list
}

// Again reports everything that hangs once more, in its current state. The list is valid
// until the next call.
func (w *Watch) Again() []Change {
	w.changes = w.changes[:0]
	for i := range w.hanging {
		h := &w.hanging[i]
		_, _, details := h.names()
		c := Change{Stall: h.Stall, At: w.now}
		c.Text = begun(&c.Stall, w.now-c.Since, described(c.Turn, details))
		w.changes = append(w.changes, c)
	}
	return w.changes
}

// Connection returns what both sides have said about themselves so far.
func (w *Watch) Connection() dialect.Connection {
	if n := len(w.trace.Runs); n > 0 {
		return w.trace.Runs[n-1]
	}
	return dialect.Connection{}
}

func (w *Watch) after() time.Duration { return cmp.Or(w.After, DefaultAfter) }

// shortest returns the least time until something new can hang.
func (w *Watch) shortest() time.Duration {
	return min(Patience(Client, w.after()), afterClient)
}

// advance moves the time forward, and reports what hangs by then.
func (w *Watch) advance(to time.Duration) {
	to = min(to, maxTime)
	if to < w.next {
		w.now = max(w.now, to)
		return
	}
	type due struct {
		of subject
		at time.Duration
		wait
	}
	var list []due
	w.next = maxTime
	look := func(of subject) {
		waits, ok := of.waits()
		if !ok || slices.ContainsFunc(w.hanging, func(h hanging) bool { return h.subject == of }) {
			return
		}
		if at := waits.since.at + Patience(waits.kind, w.after()); at > to {
			w.next = min(w.next, at)
		} else {
			list = append(list, due{of, at, waits})
		}
	}
	w.work.each(look)
	look(&w.agent)
	slices.SortFunc(list, func(a, b due) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.since.seq, b.since.seq), cmp.Compare(a.kind, b.kind))
	})
	for _, d := range list {
		w.begin(d.of, d.at)
	}
	if len(w.hanging) == maxHanging {
		w.next = to + w.shortest()
	}
	w.now = max(w.now, to)
}

// begin reports that a subject hangs.
func (w *Watch) begin(of subject, at time.Duration) {
	waits, ok := of.waits()
	if !ok || len(w.hanging) == maxHanging {
		return
	}
	s := Stall{Kind: waits.kind, Frame: waits.since.seq, Since: waits.since.at}
	var details []string
	s.Session, s.Turn, details = of.names()
	what := described(s.Turn, details)
	s.Text = begun(&s, at-s.Since, what)
	w.hanging = append(w.hanging, hanging{of, waits, s, what})
	w.changes = append(w.changes, Change{Stall: s, At: at})
}

// settle reports what a frame, or the end of the tape if f is nil, has stopped from
// hanging as it did.
func (w *Watch) settle(f *dialect.Frame) {
	w.hanging = slices.DeleteFunc(w.hanging, func(h hanging) bool {
		if waits, ok := h.waits(); ok && waits == h.wait {
			return false
		}
		c := Change{Stall: h.Stall, Over: true, At: max(w.now, h.Since)}
		by := "the tape ended"
		if f != nil {
			c.By, c.Goes = f.Seq, f.Kind != wire.Mark && f.Kind != wire.Stderr
			by = frameWords(f)
		}
		c.over(h.what, by)
		w.changes = append(w.changes, c)
		return true
	})
}
