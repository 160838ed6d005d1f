package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// An openBuffer holds what both sides send for a session while it is being opened.
type openBuffer struct {
	opening    bool
	fromAgent  []wire.Frame
	fromClient []wire.Frame
	overflowed bool // there was no room for frames of the agent, so they pass
}

// holds reports whether frames of the agent are held.
func (b *openBuffer) holds() bool { return b.opening && !b.overflowed }

// tooMuch is the answer to a request that cannot be held back.
var tooMuch = fault{rpc.InternalError, "acptap has no room for what is sent before the session is open", nil}

// keep holds back a frame of the client and appends it to a list. If there is no room, it
// refuses a request and drops a notification.
func (s *Shim) keep(list *[]wire.Frame, m message, out []wire.Frame) []wire.Frame {
	switch {
	case s.kept.room(m):
		*list = append(*list, s.kept.take(m))
	case m.env.ID != nil:
		return append(out, m.fail(tooMuch))
	}
	return out
}

// hold holds a frame back until the session is open.
func (s *Shim) hold(c *session, m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.Dir == wire.ClientToAgent:
		return s.keep(&c.fromClient, m, out)
	case s.kept.room(m):
		c.fromAgent = append(c.fromAgent, s.kept.take(m))
		return out
	}
	held := c.fromAgent
	c.fromAgent, c.overflowed = nil, true
	return s.toClient(m, s.goOn(held, out))
}

// release ends the opening of a session, and handles the frames that were held.
func (s *Shim) release(c *session, out []wire.Frame) []wire.Frame {
	held := slices.Concat(c.fromAgent, c.fromClient)
	c.fromAgent, c.fromClient = nil, nil
	c.opening, c.overflowed = false, false
	return s.goOn(held, out)
}

// goOn handles frames that were held as if they came now.
func (s *Shim) goOn(held, out []wire.Frame) []wire.Frame {
	for _, f := range held {
		s.kept.drop(f)
		out = s.message(read(again(f)), out)
	}
	return out
}
