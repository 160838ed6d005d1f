package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A turn is what the agent does in response to a session's prompts.
type turn struct {
	prompts map[string]bool // ids of unanswered prompts; added and removed by onPrompt
	working bool            // version 2: from a prompt until the agent is idle; set and cleared by onPrompt and by followUpdate
	number  int             // number of the turn, from 1; counted by onPrompt
	ended   chan struct{}   // closed at the end of the turn; nil: no one is waiting; set by end, cleared by wakeIfIdle
}

// busy reports whether a turn is under way.
func (t *turn) busy() bool { return len(t.prompts) > 0 || t.working }

// end returns a channel that is closed when the current turn ends.
func (t *turn) end() <-chan struct{} {
	if t.ended == nil {
		t.ended = make(chan struct{})
	}
	return t.ended
}

// wakeIfIdle wakes those waiting for the end of the turn, if no turn is under way.
func (t *turn) wakeIfIdle() {
	if !t.busy() && t.ended != nil {
		close(t.ended)
		t.ended = nil
	}
}

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
	if c.watched != nil {
		out = c.watched.endReplay(out)
	}
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
			c.turn.number++ // for the prompt that waited for this one
		}
		if m.env.Error != nil || m.env.Result.Get("stopReason").Exists() {
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
// and the remainder would look like part of the turn.
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
