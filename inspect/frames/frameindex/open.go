package frameindex

import (
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// Open holds the requests on a timeline's tapes that have no response and were not
// cancelled, by part.
type Open []filter.OpenRequests

// end records that nothing follows a frame on a part.
func (o *Open) end(part int, last uint64) { o.of(part).EndBefore(last + 1) }

// of returns the open requests of a part.
func (o *Open) of(part int) *filter.OpenRequests {
	for part >= len(*o) {
		*o = append(*o, filter.OpenRequests{})
	}
	return &(*o)[part]
}

// Has reports whether a request is open.
func (o Open) Has(seq uint64) bool {
	for i := range o {
		if o[i].Has(seq) {
			return true
		}
	}
	return false
}

// Answer returns the events of the answer to a request for a permission, if it has one.
func (o Open) Answer(request uint64) (events dialect.Events) {
	for i := range o {
		events |= o[i].Answer(request)
	}
	return events
}

// IsUnanswered reports whether a frame is an open request that will never get a response.
func (o Open) IsUnanswered(f *dialect.Frame) bool {
	if !f.NeedsAnswer() {
		return false
	}
	for i := range o {
		if o[i].IsUnanswered(f) {
			return true
		}
	}
	return false
}

func (o Open) clone() Open {
	other := make(Open, len(o))
	for i := range o {
		other[i] = o[i].Clone()
	}
	return other
}
