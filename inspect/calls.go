package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// maxCalls is how many requests are remembered; as many as dialect.Tracker
// waits for.
const maxCalls = 1 << 16

// calls knows how long responses took, and what has no response. It is given
// the frames of one tape in their order. Its memory is bounded: of more requests
// than maxCalls the oldest are forgotten, those with a response first.
type calls struct {
	asked []asked // by seq
}

type asked struct {
	seq    uint64
	at     time.Duration
	method string
	shown  bool
	done   bool // it has a response, or needs none
	undone bool // it was cancelled: it needs no response, and has none
}

// see takes the next frame. If it answers or cancels a request that was seen, it
// returns the time between the two. A request is only told of later if it is
// shown.
func (c *calls) see(f *dialect.Frame, shown bool) (latency time.Duration, ok bool) {
	for reply := range f.Replies() {
		latency, ok = c.settle(reply, f.At)
	}
	switch f.Kind {
	case wire.Request:
		c.ask(asked{seq: f.Seq, at: f.At, method: f.Method, shown: shown, done: !f.Asks()})
	case wire.Batch, wire.Unchecked:
		if !ok { // there may be requests in it
			c.ask(asked{seq: f.Seq, at: f.At, done: true})
		}
	}
	return latency, ok
}

func (c *calls) ask(a asked) {
	if len(c.asked) == maxCalls {
		c.asked = slices.DeleteFunc(c.asked, func(a asked) bool { return a.done })
		if n := len(c.asked); n > maxCalls/2 {
			c.asked = slices.Delete(c.asked, 0, n-maxCalls/2)
		}
	}
	c.asked = append(c.asked, a)
}

func (c *calls) settle(about *dialect.About, at time.Duration) (time.Duration, bool) {
	i, ok := slices.BinarySearchFunc(c.asked, about.Answers, func(a asked, seq uint64) int {
		return cmp.Compare(a.seq, seq)
	})
	if !ok {
		return 0, false
	}
	c.asked[i].done, c.asked[i].undone = true, about.Events.Has(dialect.RequestCancelled)
	return at - c.asked[i].at, true
}

// unanswered returns how many requests that were shown have no response, and the
// first of them, such as `12 session/prompt`; those that were cancelled apart.
func (c *calls) unanswered() (open, cancelled list) {
	for _, a := range c.asked {
		called := func() string { return words(strconv.FormatUint(a.seq, 10), piece(a.method)) }
		switch {
		case !a.shown:
		case !a.done:
			open.add(called)
		case a.undone:
			cancelled.add(called)
		}
	}
	return open, cancelled
}
