package frametext

import (
	"strconv"
	"time"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// calls knows how long responses took, and what has no response. It is given
// the frames of one tape in their order.
type calls struct {
	asked filter.Asked[asked]
}

// An asked is what is kept of a request.
type asked struct {
	method string
	shown  bool
	undone bool // it was cancelled: it needs no response, and has none
}

// see takes the next frame. If it answers or cancels a request that was seen, it
// returns the time between the two, if both are known. A request is only told of later if it is
// shown.
func (c *calls) see(f *dialect.Frame, shown bool) (latency time.Duration, ok bool) {
	for reply := range f.Replies() {
		latency, ok = c.settle(reply, f)
	}
	switch f.Kind {
	case wire.Request:
		c.asked.Add(filter.Request[asked]{Seq: f.Seq, At: f.At, Untimed: f.Untimed, Done: !f.Asks(), Note: asked{method: f.Method, shown: shown}})
	case wire.Batch, wire.Oversized:
		if !ok { // there may be requests in it
			c.asked.Add(filter.Request[asked]{Seq: f.Seq, At: f.At, Untimed: f.Untimed, Done: true})
		}
	}
	return latency, ok
}

func (c *calls) settle(reply *dialect.Annotation, f *dialect.Frame) (time.Duration, bool) {
	r := c.asked.Find(reply.Request)
	if r == nil {
		return 0, false
	}
	r.Done, r.Note.undone = true, reply.Events.Has(dialect.RequestCancelled)
	if r.Untimed || f.Untimed {
		return 0, false
	}
	return f.At - r.At, true
}

// unanswered returns how many requests that were shown have no response, and the
// first of them, such as `12 session/prompt`; those that were cancelled apart.
func (c *calls) unanswered() (open, cancelled list) {
	for _, r := range c.asked.All() {
		called := func() string { return termtext.Spaced(strconv.FormatUint(r.Seq, 10), termtext.Piece(r.Note.method)) }
		switch {
		case !r.Note.shown:
		case !r.Done:
			open.add(called)
		case r.Note.undone:
			cancelled.add(called)
		}
	}
	return open, cancelled
}
