package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A turn is the state of the work in a session.
type turn struct {
	prompts map[string]bool // ids of prompts without a response
	working bool            // version 2: from a prompt to idle
	number  int             // counts turns, from 1
	ended   chan struct{}   // closed at the end of the turn; nil if nobody waits
}

// busy reports whether a turn is under way.
func (t *turn) busy() bool { return len(t.prompts) > 0 || t.working }

// noteIdle wakes those who wait for the end of the turn, if no turn is under way.
func (t *turn) noteIdle() {
	if !t.busy() && t.ended != nil {
		close(t.ended)
		t.ended = nil
	}
}

// prompt handles session/prompt. It adds the context block if that is pending.
func (s *Shim) prompt(m message, out []wire.Frame) []wire.Frame {
	c := s.sessions[m.param("sessionId").Text()]
	if c == nil || c.opening || m.env.ID == nil {
		return s.toAgent(m, out)
	}
	if c.history && time.Since(c.seen) < quietTime {
		return s.awaitReplayEnd(c, m, out)
	}
	c.history = false
	key := string(m.env.ID)
	if len(c.prompts) == 0 {
		c.number++
	}
	h := c.context
	gives := h != nil && h.state == pending
	if gives {
		m = h.attach(m)
	}
	s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		if gives {
			h.answered(m.env.Error == nil)
		}
		if delete(c.prompts, key); len(c.prompts) > 0 {
			c.number++ // the next one has waited
		}
		if m.env.Error != nil || get(m.env.Result, "stopReason").Exists() {
			c.working = false
		}
		c.noteIdle()
		return append(out, m.Frame)
	}, forgotten: func() {
		delete(c.prompts, key)
		c.noteIdle()
	}})
	c.prompts[key] = true // not before: another prompt with this id is forgotten
	c.working = v2(s.own.dialect)
	return s.toAgent(m, out)
}

// awaitReplayEnd holds back the first prompt after a load until the agent has stopped
// sending a history that is withheld: some agents answer a load before they have sent all
// of it, and the rest would look like part of the turn.
func (s *Shim) awaitReplayEnd(c *session, m message, out []wire.Frame) []wire.Frame {
	c.opening = true
	out = s.hold(c, m, out)
	s.spawn(func() {
		limit := time.Now().Add(quietLimit)
		for wait := quietTime; wait > 0; {
			select {
			case <-time.After(wait):
			case <-s.over:
				return
			}
			s.do(func(out []wire.Frame) []wire.Frame {
				wait = min(quietTime-time.Since(c.seen), time.Until(limit))
				if wait > 0 {
					return out
				}
				c.history = false
				return s.release(c, out)
			})
		}
	})
	return out
}
