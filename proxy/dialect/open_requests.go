package dialect

import (
	"cmp"
	"iter"

	"github.com/acptap/acptap/proxy/wire"
)

// maxOpen limits how many requests without a response are remembered; a cancelled MCP
// request may never get one.
const maxOpen = 1 << 16

// OpenRequests pairs requests with their responses. It holds a T for each open request;
// the zero T means none. Each side numbers its own requests, so the same id may be open
// in both directions at once; ids are compared as JSON values (IDKey). Over HTTP the same
// id may be open on several streams, if two clients share a guessed connection; a message
// then refers to the request on its own stream, or else to the newest on another. Over
// stdio the stream is 0. The memory is bounded. The zero value is empty and ready to use.
type OpenRequests[T any] struct {
	Limit    int // how many are remembered; 0: 65,536
	requests callMap[T]
}

// Ask adds a request by its direction, stream and id. It returns what this displaces: the
// open request with the same key, and the oldest one if more than Limit would be open.
func (o *OpenRequests[T]) Ask(dir wire.Direction, stream uint64, id []byte, v T) (replaced, forgotten T) {
	key := callKey{dir, IDKey(id), stream}
	replaced, _ = o.requests.Get(key)
	o.requests.Drop(key)
	o.requests.Limit = cmp.Or(o.Limit, maxOpen)
	forgotten, _ = o.requests.Set(key, v)
	return replaced, forgotten
}

// Answer removes the request that a response answers, and returns it. dir and stream
// are those of the response.
func (o *OpenRequests[T]) Answer(dir wire.Direction, stream uint64, id []byte) T {
	key, v, _ := o.requests.find(callKey{dir.Opposite(), IDKey(id), stream})
	o.requests.Drop(key)
	return v
}

// Find returns the open request, of a direction and an id, to which a message on a stream
// refers.
func (o *OpenRequests[T]) Find(dir wire.Direction, stream uint64, id []byte) T {
	_, v, _ := o.requests.find(callKey{dir, IDKey(id), stream})
	return v
}

// All yields the requests, oldest first.
func (o *OpenRequests[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range o.requests.All() {
			if !yield(v) {
				return
			}
		}
	}
}
