package shim

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A holding has what is held back until it may go on, or is answered: what comes
// before initialize is answered, for sessions that are being opened, or for ids
// that nobody knows yet, and what the shim serves itself.
type heldFrames struct {
	size   int                   // bytes
	frames map[uint64]wire.Frame // by their Seq, which counts them
	last   uint64                // Seq that was given
	began  uint64                // last when the proxy's call at hand began
	gone   []wire.Frame          // that were there then, and are not any more
}

// begin notes that the proxy makes another call.
func (h *heldFrames) begin() {
	h.began = h.last
	clear(h.gone)
	h.gone = h.gone[:0]
}

// before returns what was held when the call at hand began.
func (h *heldFrames) before() []wire.Frame {
	held := slices.Clone(h.gone)
	for seq, f := range h.frames {
		if seq <= h.began {
			held = append(held, f)
		}
	}
	slices.SortFunc(held, func(a, b wire.Frame) int { return cmp.Compare(a.Seq, b.Seq) })
	return held
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
func (h *heldFrames) room(m message) bool { return h.size+len(m.Raw)+frameCost <= maxHeld }

// take returns a copy of a frame that is held back from now on.
func (h *heldFrames) take(m message) wire.Frame {
	h.size += len(m.Raw) + frameCost
	f := m.clone()
	h.last++
	f.Seq = h.last
	h.frames[f.Seq] = f
	return f
}

// drop takes frames out that are still there.
func (h *heldFrames) drop(held ...wire.Frame) {
	for _, f := range held {
		if _, ok := h.frames[f.Seq]; !ok {
			continue
		}
		delete(h.frames, f.Seq)
		h.size -= len(f.Raw) + frameCost
		if f.Seq <= h.began {
			h.gone = append(h.gone, f)
		}
	}
}

// Held returns what is to be passed on when the shim has failed. It is called by
// the proxy.
func (s *Shim) Held() []wire.Frame { return s.kept.before() }

// A doorway is what a session has while it is being opened: until its load is
// answered, what both sides send for it is held.
type openBuffer struct {
	opening    bool
	fromAgent  []wire.Frame
	fromClient []wire.Frame
	overflowed bool // there was no room for what the agent sent: it passes
}

// holds reports whether what the agent sends is held.
func (d *openBuffer) holds() bool { return d.opening && !d.overflowed }

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
		return s.keep(&c.fromClient, m, out)
	case s.kept.room(m):
		c.fromAgent = append(c.fromAgent, s.kept.take(m))
		return out
	}
	held := c.fromAgent
	c.fromAgent, c.overflowed = nil, true
	return s.toClient(m, s.goOn(held, out))
}

// release lets go what was held while the session was opened.
func (s *Shim) release(c *session, out []wire.Frame) []wire.Frame {
	held := slices.Concat(c.fromAgent, c.fromClient)
	c.fromAgent, c.fromClient = nil, nil
	c.opening, c.overflowed = false, false
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
