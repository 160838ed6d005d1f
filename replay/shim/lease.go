package shim

import (
	"errors"

	"github.com/acptap/acptap/proxy/wire"
)

// acquireLease makes sure that no other proxy loads a session of an agent while the
// session is active here. It returns false if another proxy has the session. It must not
// be called in an act.
func (s *Shim) acquireLease(c *session, agent string) bool {
	have := false
	s.do(func(out []wire.Frame) []wire.Frame {
		have = c.lease != nil
		return out
	})
	if have {
		return true
	}
	taken, err := takeLease(s.Store.Dir(), agent, c.client)
	if err != nil {
		return !errors.Is(err, errLeased) // a store that cannot be written leases nothing
	}
	s.do(func(out []wire.Frame) []wire.Frame {
		if !c.closed {
			c.lease, taken = taken, nil
		}
		return out
	})
	if taken != nil {
		taken.release()
	}
	return true
}

// releaseLease lets other proxies load the session.
func (c *session) releaseLease() {
	if c.lease != nil {
		c.lease.release()
		c.lease = nil
	}
}
