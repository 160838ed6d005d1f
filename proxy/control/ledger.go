package control

import (
	"maps"
	"sync"
)

// A ledger tracks which frames wait, so that the user hears of each one that comes or goes
// even if notifications were lost, or arrived before the answer to a request.
type ledger struct {
	mu      sync.Mutex
	tell    func(Notification) // guarded by mu: called by one goroutine at a time
	waiting map[uint64]bool    // guarded by mu: ids of the waiting frames
	asked   map[uint64]bool    // guarded by mu: waiting when the proxy was asked; nil: no question is pending
	gone    map[uint64]bool    // guarded by mu: frames that have gone since the question
	again   bool               // guarded by mu: notifications were lost since the question
	lost    int                // guarded by mu: lost notifications not yet reported to the user
}

// newLedger returns a ledger that expects the answer to hello.
func newLedger(tell func(Notification)) *ledger {
	l := &ledger{tell: tell, waiting: map[uint64]bool{}}
	l.ask()
	return l
}

// ask records that the proxy is being asked which frames wait. The caller holds mu, unless
// the ledger is new.
func (l *ledger) ask() { l.asked, l.gone, l.again = maps.Clone(l.waiting), map[uint64]bool{}, false }

// note handles a notification. If it reports a loss, note returns true: the caller must ask
// the proxy which frames wait. The user learns of the loss after the answer.
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

// replace handles the proxy's answer. Notifications that arrived since the question take
// precedence. replace returns true if the caller must ask again.
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
