package filter

import (
	"cmp"
	"slices"
	"time"
)

// Asked are the requests that were seen on a tape, each with what somebody wants
// to know of it when its response comes. Its memory is bounded: of more than
// 65,536 the oldest are forgotten, those that are done first. The zero value has
// none.
type Asked[T any] struct {
	list []Request[T] // by Seq
}

// maxAsked is how many requests are kept; as many as dialect.Tracker waits for.
const maxAsked = 1 << 16

// A Request is one of Asked.
type Request[T any] struct {
	Seq     uint64        // of its frame
	At      time.Duration // of its frame, as in wire.Frame
	Untimed bool          // as there
	Done    bool          // it has a response, or needs none
	Note    T
}

// Add adds a request whose number is larger than those before.
func (a *Asked[T]) Add(r Request[T]) {
	if len(a.list) == maxAsked {
		a.list = slices.DeleteFunc(a.list, func(r Request[T]) bool { return r.Done })
		if n := len(a.list); n > maxAsked/2 {
			a.list = slices.Delete(a.list, 0, n-maxAsked/2)
		}
	}
	a.list = append(a.list, r)
}

// Find returns the request with a number, nil if it is not there. It is valid
// until the next Add.
func (a *Asked[T]) Find(seq uint64) *Request[T] {
	i, ok := slices.BinarySearchFunc(a.list, seq, func(r Request[T], seq uint64) int { return cmp.Compare(r.Seq, seq) })
	if !ok {
		return nil
	}
	return &a.list[i]
}

// All returns the requests in their order. They are valid until the next Add.
func (a *Asked[T]) All() []Request[T] { return a.list }
