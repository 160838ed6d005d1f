package shim

import (
	"sync"

	"github.com/acptap/acptap/record"
)

// A shelf is the store as the shim looks at it: one look at a time, however many
// ask.
type storeQuery struct {
	mu      sync.Mutex
	looking bool       // guarded by mu
	next    *storeView // that of those who ask now; nil: nobody has asked since the last look began; guarded by mu
}

// A view is what was in the store at one time.
type storeView struct {
	record.Listing
	offered map[string]record.SessionInfo // what of it may be listed and loaded here, by id
	err     error
	done    chan struct{} // closed when all of this is set
}

// view returns what is in the store: all that was there when it was called. It
// shares one look with all who ask while another goes on. Nobody may change it.
func (s *Shim) view() (*storeView, error) {
	s.query.mu.Lock()
	v := s.query.next
	if v == nil {
		v = &storeView{done: make(chan struct{})}
		s.query.next = v
	}
	if !s.query.looking {
		s.query.looking = true
		go s.runQueries() // cannot be called off, and may outlive the Shim
	}
	s.query.mu.Unlock()
	select {
	case <-v.done:
	case <-s.closed:
		return nil, errOver
	}
	if v.err != nil {
		return nil, unreadable("store", v.err)
	}
	return v, nil
}

// fill looks into the store as long as somebody asks.
func (s *Shim) runQueries() {
	defer s.handPanic()
	for {
		s.query.mu.Lock()
		v := s.query.next
		s.query.next = nil
		s.query.looking = v != nil
		s.query.mu.Unlock()
		if v == nil {
			return
		}
		list := s.Store.ListRecorded
		if s.Imported {
			list = s.Store.List
		}
		v.Listing, v.err = list()
		v.offered = s.offered(v.Listing)
		close(v.done)
	}
}
