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
	size   int                   // bytes, with frameCost for each frame
	frames map[uint64]wire.Frame // by Seq, which take gives them
	last   uint64                // the last Seq that was given
	began  uint64                // value of last when the current call of the proxy began
	gone   []wire.Frame          // frames that were held then and are no longer
}

// begin notes that the proxy has made another call.
func (h *heldFrames) begin() {
	h.began = h.last
	clear(h.gone)
	h.gone = h.gone[:0]
}

// before returns what was held when the current call of the proxy began.
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
	// largest frames that the proxy shows. Beyond it, requests of the client are
	// refused and its notifications dropped. Frames of the agent must not be lost,
	// so they pass too early.
	maxHeld = 32 << 20

	// frameCost is how many bytes of memory a frame needs beside its own.
	frameCost = 128
)

// room reports whether m can be held back.
func (h *heldFrames) room(m message) bool { return h.size+len(m.Raw)+frameCost <= maxHeld }

// take holds a frame back, and returns a copy of it with a Seq.
func (h *heldFrames) take(m message) wire.Frame {
	h.size += len(m.Raw) + frameCost
	f := m.clone()
	h.last++
	f.Seq = h.last
	h.frames[f.Seq] = f
	return f
}

// drop removes those of the frames that are still held.
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

// Held returns the frames that the proxy must pass on if the shim fails. The proxy calls
// it.
func (s *Shim) Held() []wire.Frame { return s.kept.before() }
