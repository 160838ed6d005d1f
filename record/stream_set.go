package record

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// maxPending bounds the pending bytes of unfinished frames in all streams. Beyond it the
// longest frame is split into parts.
const maxPending = 16 << 20

// unknownStream plus the slot is the number of a stream whose head is lost.
const unknownStream = 1 << 32

// A streamPiece is a frame, or a part of one, and its place on the wire.
type streamPiece struct {
	wire.Piece
	Stream uint64
	Dir    wire.Direction
	Origin wire.Origin
}

// A streamSet splits the bytes of several streams in a journal, record by record in their
// slots, into pieces of frames. It keeps one decoder for each direction of each open
// stream. Its state is bounded and can be stored, so another set can continue and return
// the same pieces. The slices of a piece are valid only during the call of Emit.
type streamSet struct {
	Emit func(streamPiece) // receives the pieces; set before the first call

	slots   map[uint16]*stream
	pending int // bytes of all halves
	at      streamPiece
	emit    func(wire.Piece) // emits a piece of at
}

// A stream is an open stream. It is stored as JSON: an idle one takes less than 100 bytes.
type stream struct {
	Slot   uint16  `json:"s"`
	Number uint64  `json:"n"`
	Halves [2]half `json:"h"`
}

// sides bounds the directions of a stream, for loops.
const sides = wire.AgentToClient + 1

// A half is one direction of a stream.
type half struct {
	wire.Decoder
	Origin wire.Origin `json:"o,omitzero"` // of the latest bytes
	Ended  bool        `json:"x,omitempty"`
}

// Len returns the number of open streams.
func (s *streamSet) Len() int { return len(s.slots) }

// Head handles the head of a request, which begins a stream, or that of a response. It
// returns the stream's number.
func (s *streamSet) Head(slot uint16, dir wire.Direction, h *wire.HTTP) uint64 {
	one := s.slots[slot]
	if one == nil || one.Number != h.Stream {
		s.drop(slot) // one whose end is lost
		one = s.add(slot, h.Stream)
	}
	next := wire.NewDecoder(h.Status, func(name string) string { return wire.HeaderValue(h.Headers, name) })
	switch {
	case dir == wire.ClientToAgent:
		s.replace(one, wire.ClientToAgent, next)
	case next.Socket != nil:
		s.replace(one, wire.ClientToAgent, wire.Decoder{Socket: new(wire.SocketDecoder)})
		s.replace(one, wire.AgentToClient, next)
	case h.Status >= 200: // the response itself, not an interim one (1xx)
		s.replace(one, wire.AgentToClient, next)
	}
	return one.Number
}

// Feed handles bytes of one direction of the stream in a slot.
func (s *streamSet) Feed(slot uint16, dir wire.Direction, origin wire.Origin, p []byte) {
	one := s.slots[slot]
	if one == nil {
		one = s.add(slot, unknownStream+uint64(slot))
	}
	h := &one.Halves[dir]
	if h.Origin != origin {
		s.flush(one, dir, (*wire.Decoder).Flush)
		h.Origin = origin
	}
	if h.Decoder == (wire.Decoder{}) {
		h.Body = new(wire.BodyDecoder)
	}
	s.do(one, dir, func(d *wire.Decoder) { d.Feed(p, s.emit) })
	for before := s.pending + 1; s.pending > maxPending && s.pending < before; {
		before = s.pending
		s.spill()
	}
}

// End ends one direction of the stream in a slot. It returns the stream's number, and the
// framing after its last frame, which is valid until the next call.
func (s *streamSet) End(slot uint16, dir wire.Direction, number uint64) (stream uint64, lead []byte) {
	one := s.slots[slot]
	if one == nil || one.Number != number && one.Number <= unknownStream {
		return number, nil
	}
	s.do(one, dir, func(d *wire.Decoder) { lead = d.Flush(s.emit) })
	stream = one.Number
	one.Halves[dir] = half{Ended: true}
	if one.Halves[wire.ClientToAgent].Ended && one.Halves[wire.AgentToClient].Ended {
		delete(s.slots, slot)
	}
	return stream, lead
}

// Gap ends the unfinished frames of a direction, some bytes of which are missing in an
// unknown stream. If full returns true it stops early and returns false; the next call
// continues.
func (s *streamSet) Gap(dir wire.Direction, full func() bool) bool {
	if dir >= sides {
		return true
	}
	for _, slot := range s.sorted() {
		if full() {
			return false
		}
		s.flush(s.slots[slot], dir, (*wire.Decoder).Gap)
	}
	return true
}

// Flush ends unfinished frames at the end of the tape. It stops early like Gap.
func (s *streamSet) Flush(full func() bool) bool {
	for _, slot := range s.sorted() {
		for dir := range sides {
			if full() {
				return false
			}
			s.flush(s.slots[slot], dir, (*wire.Decoder).Flush)
		}
	}
	return true
}

func (s *streamSet) sorted() []uint16 { return slices.Sorted(maps.Keys(s.slots)) }

func (s *streamSet) add(slot uint16, number uint64) *stream {
	if s.slots == nil {
		s.slots = map[uint16]*stream{}
	}
	s.slots[slot] = &stream{Slot: slot, Number: number}
	return s.slots[slot]
}

// drop ends the stream in a slot, if there is one.
func (s *streamSet) drop(slot uint16) {
	if old := s.slots[slot]; old != nil {
		s.flush(old, wire.ClientToAgent, (*wire.Decoder).Flush)
		s.flush(old, wire.AgentToClient, (*wire.Decoder).Flush)
		delete(s.slots, slot)
	}
}

// replace sets the decoder of a direction.
func (s *streamSet) replace(one *stream, dir wire.Direction, next wire.Decoder) {
	s.flush(one, dir, (*wire.Decoder).Flush)
	one.Halves[dir].Decoder = next
}

// flush ends the frame of one direction of a stream. Remaining framing becomes a mark.
func (s *streamSet) flush(one *stream, dir wire.Direction, how func(*wire.Decoder, func(wire.Piece)) []byte) {
	s.do(one, dir, func(d *wire.Decoder) {
		if rest := how(d, s.emit); len(rest) > 0 {
			s.emit(wire.Piece{Lead: rest, Bytes: wire.Marked{Framing: int64(len(rest))}.JSON(), Kind: wire.Mark, Derived: true, Last: true})
		}
	})
}

// spill emits the longest unfinished frame.
func (s *streamSet) spill() {
	var longest *stream
	dir, most := wire.ClientToAgent, 0
	for _, slot := range s.sorted() {
		for side := range sides {
			if n := s.slots[slot].Halves[side].Pending(); n > most {
				longest, dir, most = s.slots[slot], side, n
			}
		}
	}
	s.do(longest, dir, func(d *wire.Decoder) { d.Spill(s.emit) })
}

// do calls some with the decoder of one direction of a stream.
func (s *streamSet) do(one *stream, dir wire.Direction, some func(*wire.Decoder)) {
	if s.emit == nil {
		s.emit = func(p wire.Piece) {
			s.at.Piece = p
			s.Emit(s.at)
		}
	}
	h := &one.Halves[dir]
	s.at = streamPiece{Stream: one.Number, Dir: dir, Origin: h.Origin}
	before := h.Pending()
	some(&h.Decoder)
	s.pending += h.Pending() - before
}

// MarshalJSON returns the state.
func (s *streamSet) MarshalJSON() ([]byte, error) {
	list := make([]*stream, 0, len(s.slots))
	for _, slot := range s.sorted() {
		list = append(list, s.slots[slot])
	}
	return json.Marshal(list)
}

var errImpossible = errors.New("a state in which no stream can be")

// UnmarshalJSON restores a state.
func (s *streamSet) UnmarshalJSON(b []byte) error {
	var list []*stream
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = streamSet{Emit: s.Emit}
	for _, one := range list {
		if one == nil || one.Slot == 0 || s.slots[one.Slot] != nil || !one.possible() {
			return errImpossible
		}
		if s.slots == nil {
			s.slots = map[uint16]*stream{}
		}
		s.slots[one.Slot] = one
		for k := range one.Halves {
			s.pending += one.Halves[k].Pending()
		}
	}
	if s.pending > maxPending+wire.MaxChecked {
		return errImpossible
	}
	return nil
}

// possible reports whether a streamSet can reach that state.
func (s *stream) possible() bool {
	for k := range s.Halves {
		d := &s.Halves[k].Decoder
		if d.Pending() > wire.MaxChecked || d.Socket != nil && d.Socket.Message.Left < 0 {
			return false
		}
	}
	return true
}
