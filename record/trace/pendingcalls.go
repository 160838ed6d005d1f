package trace

import (
	"iter"
	"slices"
)

// maxPending is how many open calls a Trace remembers, as many as a
// dialect.Tracker: a cancelled request of MCP may never get a response.
const maxPending = 1 << 16

// pendingCalls are the open calls of a tape.
type pendingCalls struct {
	byKey map[callKey]*pendingCall
	order []*pendingCall // by request, with those that were taken since
}

func newPendingCalls() pendingCalls { return pendingCalls{byKey: make(map[callKey]*pendingCall)} }

// A goneCall is not open any more, though it has no response.
type goneCall struct {
	*pendingCall
	end End
}

// add returns the calls whose place w has taken: that with its id, and the oldest
// where too many are open.
func (p *pendingCalls) add(w *pendingCall) (gone []goneCall) {
	if old := p.take(w.key); old != nil {
		gone = append(gone, goneCall{old, Replaced})
	}
	if len(p.byKey) == maxPending {
		oldest := p.order[slices.IndexFunc(p.order, p.has)]
		gone = append(gone, goneCall{p.take(oldest.key), Forgotten})
	}
	if len(p.order) > 2*len(p.byKey)+64 {
		p.order = slices.DeleteFunc(p.order, func(w *pendingCall) bool { return !p.has(w) })
	}
	p.byKey[w.key] = w
	p.order = append(p.order, w)
	return gone
}

// take removes and returns the open call with that key, nil if there is none.
func (p *pendingCalls) take(key callKey) *pendingCall {
	w := p.byKey[key]
	delete(p.byKey, key)
	return w
}

func (p *pendingCalls) has(w *pendingCall) bool { return p.byKey[w.key] == w }

// all yields the open calls, by their requests.
func (p *pendingCalls) all() iter.Seq[*pendingCall] {
	return func(yield func(*pendingCall) bool) {
		for _, w := range p.order {
			if p.has(w) && !yield(w) {
				return
			}
		}
	}
}
