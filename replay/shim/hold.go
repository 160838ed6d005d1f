package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A holding counts what is held back until it may go on: what comes before
// initialize is answered, for sessions that are being opened, or for ids that
// nobody knows yet.
type holding struct {
	size int // bytes
}

const (
	// maxHeld is how many bytes are held back at once: as many as two of the
	// largest frames that the proxy shows. What comes then from the client is
	// refused; what comes from the agent must not be lost, and passes before its
	// turn.
	maxHeld = 32 << 20

	// frameCost is what a frame takes beside its bytes.
	frameCost = 128
)

// room reports whether m can be held back.
func (h *holding) room(m message) bool { return h.size+len(m.Raw)+frameCost <= maxHeld }

// take returns a copy of a frame that is held back from now on.
func (h *holding) take(m message) wire.Frame {
	h.size += len(m.Raw) + frameCost
	return m.clone()
}

// drop takes frames off the count.
func (h *holding) drop(held ...wire.Frame) {
	for _, f := range held {
		h.size -= len(f.Raw) + frameCost
	}
}

// A doorway is what a session has while it is being opened: until its load is
// answered, what both sides send for it is held.
type doorway struct {
	opening   bool
	held      []wire.Frame // of the agent
	waiting   []wire.Frame // of the client
	overflown bool         // there was no room for what the agent sent: it passes
}

// holds reports whether what the agent sends is held.
func (d *doorway) holds() bool { return d.opening && !d.overflown }

// tooMuch is the answer to a request for which there is no room.
var tooMuch = fault{internalError, "acptap has no room for what is sent before the session is open", nil}

// keep puts a frame of the client into a list of those that are held back. If
// there is no room, a request is refused; a notification has nobody who waits
// for it.
func (s *Shim) keep(list *[]wire.Frame, m message, out []wire.Frame) []wire.Frame {
	switch {
	case s.kept.room(m):
		*list = append(*list, s.kept.take(m))
	case m.env.ID != nil:
		return append(out, m.fail(tooMuch))
	}
	return out
}

// hold keeps a frame until the session is open.
func (s *Shim) hold(c *session, m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.Dir == wire.ClientToAgent:
		return s.keep(&c.waiting, m, out)
	case s.kept.room(m):
		c.held = append(c.held, s.kept.take(m))
		return out
	}
	held := c.held
	c.held, c.overflown = nil, true
	return s.toClient(m, s.goOn(held, out))
}

// release lets go what was held while the session was opened.
func (s *Shim) release(c *session, out []wire.Frame) []wire.Frame {
	held := slices.Concat(c.held, c.waiting)
	c.held, c.waiting = nil, nil
	c.opening, c.overflown = false, false
	return s.goOn(held, out)
}

// goOn takes frames that were held as if they came now.
func (s *Shim) goOn(held, out []wire.Frame) []wire.Frame {
	for _, f := range held {
		s.kept.drop(f)
		out = s.message(read(again(f)), out)
	}
	return out
}
