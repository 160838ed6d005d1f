package shim

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// heldFrames has every waiting frame, whichever of the seven places it waits in (see the
// package comment). It limits their size, and lets the proxy pass them on if the shim
// fails. Whoever removes a frame from such a place must call drop, as handleHeld does.
type heldFrames struct {
	size   int                   // bytes, with frameCost for each frame
	frames map[uint64]wire.Frame // by Seq, which take assigns
	last   uint64                // the last Seq that take has assigned
	began  uint64                // value of last when the current call of the proxy began
	gone   []wire.Frame          // frames that were held then and no longer are
}

const (
	// maxHeld limits the bytes of all waiting frames: two of the largest frames that the
	// proxy gives to an Interceptor. Beyond it, the client's requests fail and its
	// notifications are dropped. Frames of the agent must not be lost, so they pass too
	// early.
	maxHeld = 32 << 20

	// frameCost is the memory that a frame needs in addition to its bytes.
	frameCost = 128
)

// room reports whether m may be held.
func (h *heldFrames) room(m message) bool { return h.size+len(m.Raw)+frameCost <= maxHeld }

// take holds a frame, and returns a copy of it with a Seq.
func (h *heldFrames) take(m message) wire.Frame {
	h.size += len(m.Raw) + frameCost
	f := m.clone()
	h.last++
	f.Seq = h.last
	h.frames[f.Seq] = f
	return f
}

// drop removes those frames that are still held.
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

// begin must be called at the start of each call by the proxy.
func (h *heldFrames) begin() {
	h.began = h.last
	clear(h.gone)
	h.gone = h.gone[:0]
}

// before returns what was held when the current call by the proxy began.
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

// Held returns the frames that the proxy must pass on if the shim panics. The proxy calls
// it.
func (s *Shim) Held() []wire.Frame { return s.held.before() }

// tooMuch is the answer to a request that cannot be held.
var tooMuch = fault{wire.InternalError, "acptap has no room for what is sent before the session is open", nil}

// holdIn holds a frame and appends it to a list. If there is no room, it fails a request
// or drops a notification.
func (s *Shim) holdIn(list *[]wire.Frame, m message, out []wire.Frame) []wire.Frame {
	switch {
	case s.held.room(m):
		*list = append(*list, s.held.take(m))
	case m.env.ID != nil:
		return append(out, m.fail(tooMuch))
	}
	return out
}

// handleHeld handles frames that waited as if they had just arrived.
func (s *Shim) handleHeld(held, out []wire.Frame) []wire.Frame {
	for _, f := range held {
		s.held.drop(f)
		out = s.handle(read(released(f)), out)
	}
	return out
}
