package shim

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// heldFrames are the frames that are held back until they may go on or are
// answered: those that come before initialize is answered, for sessions that are
// being opened, or for ids that nobody knows yet, and requests that the shim serves
// itself.
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
