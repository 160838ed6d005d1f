package trace

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/proxy/wire"
)

// Blocks is a list of content blocks in which adjacent chunks of plain text are one block.
// A Trace keeps long blocks compressed, because a tape may say more than memory should hold
// (BenchmarkMemory).
type Blocks struct {
	list   []block
	joined bool // the last block is text that may still grow
	packed int  // number of blocks that pack has finished
	shelf  *shelf
}

// A block is one content block.
type block struct {
	packed []part // its first bytes, compressed
	size   int    // length of these bytes
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
		list = append(list, b.shelf.whole(&b.list[i]))
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

// pack moves long blocks that are not yet compressed onto pages.
func (b *Blocks) pack() {
	for i := b.packed; i < len(b.list); i++ {
		one, rest := &b.list[i], b.list[i].rest
		switch {
		case len(rest) >= leastPacked:
			one.packed = append(one.packed, b.shelf.put(rest))
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
	leastPacked = 64        // bytes; compressing less saves hardly anything
	mostLoose   = 7 << 17   // bytes; limits the text that waits for compression
	pageSize    = 128 << 10 // bytes; a larger page hardly compresses better, and takes longer to read
)

// A shelf compresses the blocks of a Trace. The zero value is ready to use.
type shelf struct {
	loose []*Blocks // have grown since the last pack
	size  int       // bytes by which they have grown
	spare [][]byte  // buffers in which text can grow
	page  *page     // the one being filled; nil: none
	text  []byte    // the text of page
	room  []byte    // buffer for compression
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	open  atomic.Pointer[openPage] // the page that was read last; the next read is often on it too
}

// A page is text of several blocks, compressed together.
type page struct{ packed []byte }

// An openPage is a page with its text.
type openPage struct {
	*page
	text []byte
}

// A part is the place of text on a page.
type part struct {
	page     *page
	from, to uint32
}

// put adds text to a page.
func (s *shelf) put(text []byte) part {
	if s.page == nil {
		s.page = new(page)
	}
	p := part{s.page, uint32(len(s.text)), uint32(len(s.text) + len(text))}
	if s.text = append(s.text, text...); len(s.text) >= pageSize {
		s.turn()
	}
	return p
}

// turn compresses the page being filled.
func (s *shelf) turn() {
	if s.page != nil {
		s.room = s.enc.EncodeAll(s.text, s.room[:0])
		s.page.packed = slices.Clone(s.room)
		s.page, s.text = nil, s.text[:0]
	}
}

// read returns the text of a part.
func (s *shelf) read(p part) []byte {
	open := s.open.Load()
	if open == nil || open.page != p.page {
		text, err := s.dec.DecodeAll(p.page.packed, nil)
		if err != nil {
			panic("trace: compressed text is damaged: " + err.Error())
		}
		open = &openPage{p.page, text}
		s.open.Store(open)
	}
	return open.text[p.from:p.to]
}

// note records that a list has grown by n bytes.
func (s *shelf) note(b *Blocks, n int) {
	if last := len(s.loose) - 1; last < 0 || s.loose[last] != b {
		s.loose = append(s.loose, b)
	}
	if s.size += n; s.size < mostLoose {
		return
	}
	if s.enc == nil {
		s.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		s.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	}
	clear(s.spare)
	s.spare = s.spare[:0]
	for _, b := range s.loose {
		b.pack()
	}
	s.turn()
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

// whole returns the complete JSON of b.
func (s *shelf) whole(b *block) json.RawMessage {
	if !b.text && b.packed == nil {
		return b.rest
	}
	raw := make([]byte, 0, b.length())
	for _, p := range b.packed {
		raw = append(raw, s.read(p)...)
	}
	raw = append(raw, b.rest...)
	if b.text {
		raw = append(raw, blockTail...)
	}
	return raw
}
