package trace

import (
	"encoding/json"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/proxy/wire"
)

// Blocks is a list of content blocks in which adjacent chunks of plain text are one block.
// A Trace keeps long blocks compressed, because a tape may say more than memory should hold
// (BenchmarkMemory).
type Blocks struct {
	list   []block
	joined bool // the last block is text that may still grow
	packed int  // number of blocks that pack is done with
	shelf  *shelf
}

// A block is one content block.
type block struct {
	packed [][]byte // its first bytes, compressed
	size   int      // of these bytes
	rest   []byte
	text   bool // it is plain text and lacks blockTail
}

// Empty reports whether there are no blocks.
func (b *Blocks) Empty() bool { return len(b.list) == 0 }

// IsZero is Empty, for encoding/json.
func (b Blocks) IsZero() bool { return b.Empty() }

// Size returns the length of all blocks as JSON.
func (b *Blocks) Size() (n int) {
	for i := range b.list {
		n += b.list[i].length()
	}
	return n
}

// All returns the blocks, decompressed; nil if there are none.
func (b *Blocks) All() []json.RawMessage {
	var list []json.RawMessage
	for i := range b.list {
		list = append(list, b.shelf.open(&b.list[i]))
	}
	return list
}

// MarshalJSON returns an array.
func (b Blocks) MarshalJSON() ([]byte, error) { return json.Marshal(array(b.All())) }

func (b *block) length() int {
	if b.text {
		return b.size + len(b.rest) + len(blockTail)
	}
	return b.size + len(b.rest)
}

// set replaces the blocks by the elements of an array.
func (b *Blocks) set(f *frame, list []json.RawMessage) {
	*b = Blocks{shelf: &f.trace.shelf}
	for _, raw := range list {
		b.list = append(b.list, block{rest: raw})
		b.shelf.note(b, len(raw))
	}
}

// add appends a block. It joins consecutive chunks of plain text into one block. The text
// is joined as JSON, because a chunk may end between the two escapes of a surrogate pair.
func (b *Blocks) add(f *frame, raw wire.Value) {
	if f.trace.Brief || !raw.Exists() {
		return
	}
	b.shelf = &f.trace.shelf
	text, plain := plainText(raw)
	switch plain = plain && f.complete(raw); {
	case !plain:
		b.list = append(b.list, block{rest: f.keep(raw)})
	case text == "":
		return
	case b.joined:
		last := &b.list[len(b.list)-1]
		last.rest = append(last.rest, text...)
	default:
		b.list = append(b.list, block{rest: append(append(b.shelf.space(), blockHead...), text...), text: true})
	}
	b.joined = plain
	b.shelf.note(b, len(raw.Raw()))
}

// pack compresses what is long and was not yet compressed.
func (b *Blocks) pack() {
	for i := b.packed; i < len(b.list); i++ {
		one, rest := &b.list[i], b.list[i].rest
		switch {
		case len(rest) >= leastPacked:
			b.shelf.room = b.shelf.enc.EncodeAll(rest, b.shelf.room[:0])
			one.packed = append(one.packed, slices.Clone(b.shelf.room))
			one.size, one.rest = one.size+len(rest), nil
		case one.text:
			one.rest = slices.Clone(rest)
		}
		if one.text {
			b.shelf.spare = append(b.shelf.spare, rest[:0])
		}
	}
	b.packed = max(0, len(b.list)-1) // the last one may grow
}

const (
	leastPacked = 512     // bytes; less hardly becomes smaller
	mostLoose   = 1 << 20 // bytes; limits what waits for being compressed
)

// A shelf compresses the blocks of a Trace. The zero value is ready to use.
type shelf struct {
	loose []*Blocks // grew since the last time
	size  int       // by so many bytes
	spare [][]byte  // for text to grow in
	room  []byte    // to compress into
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// note tells that a list has grown by n bytes.
func (s *shelf) note(b *Blocks, n int) {
	if last := len(s.loose) - 1; last < 0 || s.loose[last] != b {
		s.loose = append(s.loose, b)
	}
	if s.size += n; s.size < mostLoose {
		return
	}
	if s.enc == nil {
		s.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		s.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	}
	clear(s.spare)
	s.spare = s.spare[:0]
	for _, b := range s.loose {
		b.pack()
	}
	clear(s.loose)
	s.loose, s.size = s.loose[:0], 0
}

// space returns an empty buffer.
func (s *shelf) space() (space []byte) {
	if last := len(s.spare) - 1; last >= 0 {
		space, s.spare = s.spare[last], s.spare[:last]
	}
	return space
}

// open returns a block whole.
func (s *shelf) open(b *block) json.RawMessage {
	if !b.text && b.packed == nil {
		return b.rest
	}
	raw := make([]byte, 0, b.length())
	for _, p := range b.packed {
		var err error
		if raw, err = s.dec.DecodeAll(p, raw); err != nil {
			panic("trace: compressed text is damaged: " + err.Error())
		}
	}
	raw = append(raw, b.rest...)
	if b.text {
		raw = append(raw, blockTail...)
	}
	return raw
}
