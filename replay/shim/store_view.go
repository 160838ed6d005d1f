package shim

import (
	"sync"

	"github.com/acptap/acptap/record"
)

// A storeQuery lists what is in the store. Callers that ask at the same time share a query.
type storeQuery struct {
	mu      sync.Mutex
	running bool       // guarded by mu
	next    *storeView // result of the next query; nil: no one has asked since the last one began; guarded by mu
}

// A storeView is what was in the store at one time.
type storeView struct {
	listing record.Listing
	offered map[string]record.SessionInfo // the sessions that may be listed and loaded here, by id
	err     error
	done    chan struct{} // closed when the other fields are set
}

// view returns what is in the store, including everything that was there when view was
// called. The caller must not change the view.
func (s *Shim) view() (*storeView, error) {
	s.query.mu.Lock()
	v := s.query.next
	if v == nil {
		v = &storeView{done: make(chan struct{})}
		s.query.next = v
	}
	if !s.query.running {
		s.query.running = true
		go s.runQueries() // may outlive the Shim: a query cannot be cancelled
	}
	s.query.mu.Unlock()
	select {
	case <-v.done:
	case <-s.ends.closed:
		return nil, errOver
	}
	if v.err != nil {
		return nil, unreadable("store", v.err)
	}
	return v, nil
}

// runQueries runs queries until no one asks for another.
func (s *Shim) runQueries() {
	defer s.handPanic()
	for {
		s.query.mu.Lock()
		v := s.query.next
		s.query.next = nil
		s.query.running = v != nil
		s.query.mu.Unlock()
		if v == nil {
			return
		}
		list := s.Store.ListRecorded
		if s.Imported {
			list = s.Store.List
		}
		v.listing, v.err = list()
		v.offered = s.offered(v.listing)
		close(v.done)
	}
}
