package filter

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Requests holds a tape's requests, each with a note to use when its response comes.
// Memory is bounded: beyond 65,536 requests the answered ones are forgotten, then the
// oldest. The zero value is empty.
type Requests[T any] struct {
	list []Request[T] // by Seq
}

// maxRequests limits the requests kept; dialect.Tracker waits for as many.
const maxRequests = 1 << 16

// A Request is an element of Requests.
type Request[T any] struct {
	Seq     uint64        // of its frame
	At      time.Duration // of its frame, as in wire.Frame
	Untimed bool          // as in wire.Frame
	Done    bool          // it has a response or needs none
	Note    T
}

// Observe processes the next frame. It calls answered with each request that the frame
// answers or cancels, and with the reply. Then, if the frame may contain a request, it
// adds the frame with a note. Both arguments are valid until answered returns.
func (r *Requests[T]) Observe(f *dialect.Frame, note T, answered func(*Request[T], *dialect.Annotation)) {
	for reply := range f.Replies() {
		if q := r.Find(reply.Request); q != nil {
			q.Done = true
			answered(q, reply)
		}
	}
	switch f.Kind {
	case wire.Request, wire.Batch, wire.Oversized:
		r.Add(Request[T]{Seq: f.Seq, At: f.At, Untimed: f.Untimed, Done: !f.Asks(), Note: note})
	}
}

// Latency returns the time from the request to the frame that answers it. ok is false if
// either time is unknown.
func (q *Request[T]) Latency(f *dialect.Frame) (latency time.Duration, ok bool) {
	if q.Untimed || f.Untimed {
		return 0, false
	}
	return f.At - q.At, true
}

// Add adds a request. Its number must be larger than all earlier ones.
func (r *Requests[T]) Add(q Request[T]) {
	if len(r.list) == maxRequests {
		r.list = slices.DeleteFunc(r.list, func(q Request[T]) bool { return q.Done })
		if n := len(r.list); n > maxRequests/2 {
			r.list = slices.Delete(r.list, 0, n-maxRequests/2)
		}
	}
	r.list = append(r.list, q)
}

// Find returns the request with the given number, or nil. It is valid until the next Add.
func (r *Requests[T]) Find(seq uint64) *Request[T] {
	i, ok := slices.BinarySearchFunc(r.list, seq, func(q Request[T], seq uint64) int { return cmp.Compare(q.Seq, seq) })
	if !ok {
		return nil
	}
	return &r.list[i]
}

// All returns the requests in order. They are valid until the next Add.
func (r *Requests[T]) All() []Request[T] { return r.list }

// OpenRequests holds a tape's requests that have no response and were not cancelled, and the
// answers to permission requests. Memory is bounded as for Requests. The zero value is empty.
type OpenRequests struct {
	seqs    []uint64 // in order
	ended   uint64   // requests before this number will never get a response
	answers []answer // by request
}

// An answer is what was decided about a permission.
type answer struct {
	request uint64
	events  dialect.Events
}

func (a answer) compare(request uint64) int { return cmp.Compare(a.request, request) }

// Observe processes the next frame.
func (o *OpenRequests) Observe(f *dialect.Frame) {
	if f.Asks() {
		if len(o.seqs) == maxRequests {
			o.seqs = slices.Delete(o.seqs, 0, maxRequests/2)
		}
		o.seqs = append(o.seqs, f.Seq)
	}
	for reply := range f.Replies() {
		if i, ok := slices.BinarySearch(o.seqs, reply.Request); ok {
			o.seqs = slices.Delete(o.seqs, i, i+1)
		}
		if reply.Events&permissionEvents != 0 {
			o.keep(answer{reply.Request, reply.Events})
		}
	}
	if f.Events.Has(dialect.AgentEnded) {
		o.EndBefore(f.Seq)
	}
}

func (o *OpenRequests) keep(a answer) {
	if len(o.answers) == maxRequests {
		o.answers = slices.Delete(o.answers, 0, maxRequests/2)
	}
	i, _ := slices.BinarySearchFunc(o.answers, a.request, answer.compare)
	o.answers = slices.Insert(o.answers, i, a)
}

// Answer returns the events of the answer to a request for a permission, if it has one.
func (o *OpenRequests) Answer(request uint64) dialect.Events {
	i, found := slices.BinarySearchFunc(o.answers, request, answer.compare)
	if !found {
		return 0
	}
	return o.answers[i].events
}

// EndBefore records that no request before the given frame will get a response, because a
// tape ended there.
func (o *OpenRequests) EndBefore(seq uint64) { o.ended = max(o.ended, seq) }

// Has reports whether a request is open.
func (o *OpenRequests) Has(seq uint64) bool {
	_, found := slices.BinarySearch(o.seqs, seq)
	return found
}

// IsUnanswered reports whether a frame is an open request that will never get a response.
func (o *OpenRequests) IsUnanswered(f *dialect.Frame) bool {
	return f.Seq < o.ended && f.NeedsAnswer() && o.Has(f.Seq)
}

// Clone returns the requests that are open now, and the answers so far.
func (o *OpenRequests) Clone() OpenRequests {
	return OpenRequests{slices.Clone(o.seqs), o.ended, slices.Clone(o.answers)}
}
