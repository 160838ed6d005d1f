package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// onPrompt handles session/prompt. If the context block is pending, it adds the block.
func (s *Shim) onPrompt(m message, out []wire.Frame) []wire.Frame {
	c := s.byClientID[m.param("sessionId").Text()]
	if c == nil || c.opening.active || m.env.ID == nil {
		return s.toAgent(m, out)
	}
	if c.withholdHistory && time.Since(c.quietSince) < quietTime {
		return s.awaitReplayEnd(c, m, out)
	}
	c.withholdHistory = false
	key := string(m.env.ID)
	if len(c.turn.prompts) == 0 {
		c.turn.number++
	}
	var given *contextBlock
	if b := c.context; b != nil && b.state == pending {
		given = b
		m = b.attach(m)
	}
	s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		if given != nil {
			given.answered(m.env.Error == nil)
		}
		if delete(c.turn.prompts, key); len(c.turn.prompts) > 0 {
			c.turn.number++ // of the prompt that waited for this one
		}
		if m.env.Error != nil || get(m.env.Result, "stopReason").Exists() {
			c.turn.working = false
		}
		c.turn.wakeIfIdle()
		return append(out, m.Frame)
	}, displaced: func() {
		delete(c.turn.prompts, key)
		c.turn.wakeIfIdle()
	}})
	c.turn.prompts[key] = true // after expect, which may displace another prompt with this id
	c.turn.working = v2(s.dialect)
	return s.toAgent(m, out)
}

// awaitReplayEnd holds the first prompt after a load until the agent has stopped sending
// history that is withheld. Some agents answer a load before they have sent all history,
// and the rest would look like a part of the turn.
func (s *Shim) awaitReplayEnd(c *session, m message, out []wire.Frame) []wire.Frame {
	c.opening.active = true
	out = s.holdUntilOpen(c, m, out)
	s.startJob(func() {
		limit := time.Now().Add(quietLimit)
		for wait := quietTime; wait > 0; {
			select {
			case <-time.After(wait):
			case <-s.ends.agentGone:
				return
			}
			s.do(func(out []wire.Frame) []wire.Frame {
				wait = min(quietTime-time.Since(c.quietSince), time.Until(limit))
				if wait > 0 {
					return out
				}
				c.withholdHistory = false
				return s.endOpening(c, out)
			})
		}
	})
	return out
}
