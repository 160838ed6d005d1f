package shim

import (
	"errors"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// acquireLease makes sure that no other proxy loads a session of an agent while it
// is active here. It returns false if another proxy has the session. It must not be
// called in an act.
func (s *Shim) acquireLease(c *session, agent string) bool {
	have := false
	s.do(func(out []wire.Frame) []wire.Frame {
		have = c.lease != nil
		return out
	})
	if have {
		return true
	}
	lease, err := s.Store.Lease(agent, c.client)
	if err != nil {
		return !errors.Is(err, record.ErrLeased) // a store that cannot be written leases nothing
	}
	s.do(func(out []wire.Frame) []wire.Frame {
		if !c.closed {
			c.lease, lease = lease, nil
		}
		return out
	})
	if lease != nil {
		lease.Release()
	}
	return true
}

// releaseLease lets other proxies load the session.
func (c *session) releaseLease() {
	if c.lease != nil {
		c.lease.Release()
		c.lease = nil
	}
}
