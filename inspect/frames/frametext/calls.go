package frametext

import (
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// calls tracks how long responses took, and which requests have none. It receives the
// frames of one tape in order.
type calls struct {
	requests filter.Requests[requestNote]
}

// A requestNote is what calls remembers about a request.
type requestNote struct {
	name      string
	shown     bool
	cancelled bool // it no longer needs a response
}

// observe processes the next frame. If it answers or cancels a known request, observe
// returns the time between the two, if both times are known. A request counts as
// unanswered only if it is shown.
func (c *calls) observe(f *dialect.Frame, shown bool) (latency time.Duration, ok bool) {
	note := requestNote{name: f.Annotation.Name(), shown: shown}
	c.requests.Observe(f, note, func(q *filter.Request[requestNote], reply *dialect.Annotation) {
		q.Note.cancelled = reply.Events.Has(dialect.RequestCancelled)
		latency, ok = q.Latency(f)
	})
	return latency, ok
}

// unanswered returns the number of shown requests without a response, and the first of
// them, such as `12 session/prompt`; it counts cancelled ones separately. label returns a
// frame's number as shown.
func (c *calls) unanswered(label func(seq uint64) string) (open, cancelled list) {
	for _, r := range c.requests.All() {
		called := func() string { return termtext.Spaced(label(r.Seq), termtext.Piece(r.Note.name)) }
		switch {
		case !r.Note.shown:
		case !r.Done:
			open.add(called)
		case r.Note.cancelled:
			cancelled.add(called)
		}
	}
	return open, cancelled
}
