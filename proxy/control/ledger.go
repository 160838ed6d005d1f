package control

import (
	"maps"
	"sync"
)

// A ledger knows which frames wait, so that the user is told of each that comes or goes,
// also when notifications were lost, or were overtaken by the answer to a request.
type ledger struct {
	mu      sync.Mutex
	tell    func(Notification) // guarded by mu: called by one goroutine at a time
	waiting map[uint64]bool    // guarded by mu: by the ids of frames
	asked   map[uint64]bool    // guarded by mu: what waited when the proxy was asked what waits; nil: it is not asked
	gone    map[uint64]bool    // guarded by mu: what went since then
	again   bool               // guarded by mu: notifications were lost since then
	lost    int                // guarded by mu: notifications, while the user is not told
}

// newLedger returns a ledger that waits for the answer to hello.
func newLedger(tell func(Notification)) *ledger {
	l := &ledger{tell: tell, waiting: map[uint64]bool{}}
	l.ask()
	return l
}

// ask notes that the proxy is asked what waits. The caller holds mu, or knows the ledger
// alone.
func (l *ledger) ask() { l.asked, l.gone, l.again = maps.Clone(l.waiting), map[uint64]bool{}, false }

// note takes a notification. It reports whether the proxy must be asked what waits, because
// notifications were lost. The user is told of that once it is made up for.
func (l *ledger) note(n Notification) (ask bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n.Kind {
	case "held":
		l.waiting[n.Held.ID] = true
	case "gone":
		delete(l.waiting, n.ID)
		if l.asked != nil {
			l.gone[n.ID] = true
		}
	case "lost":
		l.lost += n.Count
		if l.asked != nil {
			l.again = true
			return false
		}
		l.ask()
		return true
	}
	l.tell(n)
	return false
}

// replace takes what the proxy says in place of what was known when it was asked.
// Notifications that came since then are newer. It reports whether the proxy must be asked
// again.
func (l *ledger) replace(held []Held) (ask bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := map[uint64]bool{}
	for _, h := range held {
		there[h.ID] = true
		if !l.gone[h.ID] {
			l.waiting[h.ID] = true
			l.tell(Notification{Kind: "held", Held: &h})
		}
	}
	for id := range l.asked {
		if !there[id] && l.waiting[id] {
			delete(l.waiting, id)
			l.tell(Notification{Kind: "gone", ID: id})
		}
	}
	if l.again {
		l.ask()
		return true
	}
	l.asked, l.gone = nil, nil
	if l.lost > 0 {
		l.tell(Notification{Kind: "lost", Count: l.lost})
		l.lost = 0
	}
	return false
}
