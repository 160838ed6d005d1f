package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// maxOpen is how many requests of the client are remembered until they are
// answered. Of more, the oldest is forgotten, and its answer passes as it is.
const maxOpen = 1 << 16

// A call is a request of the client that the agent has not answered, and whose
// answer concerns the shim.
type call struct {
	answered  func(m message, out []wire.Frame) []wire.Frame // takes the agent's response
	forgotten func()                                         // called if that is not waited for any more; may be nil
	number    uint64
}

// calls are those that are open.
type calls struct {
	open  map[string]*call // by id as sent
	made  uint64
	order []opened // by age; with some that are not open any more
}

type opened struct {
	id     string
	number uint64
}

// add adds a call. What was open under the same id is forgotten.
func (l *calls) add(id []byte, c *call) {
	l.forget(string(id))
	if len(l.order) > 2*len(l.open)+16 {
		l.order = slices.DeleteFunc(l.order, func(o opened) bool { return !l.has(o) })
	}
	for len(l.open) >= maxOpen {
		oldest := l.order[0]
		l.order = l.order[1:]
		if l.has(oldest) {
			l.forget(oldest.id)
		}
	}
	l.made++
	c.number = l.made
	l.open[string(id)] = c
	l.order = append(l.order, opened{string(id), c.number})
}

func (l *calls) has(o opened) bool {
	c := l.open[o.id]
	return c != nil && c.number == o.number
}

// take returns the call with an id, which is not open any more; nil if there is
// none.
func (l *calls) take(id []byte) *call {
	c := l.open[string(id)]
	delete(l.open, string(id))
	return c
}

// forget gives up the call with an id, if there is one.
func (l *calls) forget(id string) {
	if c := l.open[id]; c != nil {
		delete(l.open, id)
		if c.forgotten != nil {
			c.forgotten()
		}
	}
}
