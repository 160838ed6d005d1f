package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/disk"
)

// blockSize is the number of bytes of frames that fill a block. A commit waits for the
// disk, and smaller blocks compress worse (BenchmarkSeal).
const blockSize = 1 << 20

// A block is a stretch of a tape as it is sealed: the fields of its frames, and their
// bytes. It can be read alone. It holds three kinds of entries:
//
//   - a frame, with its bytes;
//   - a part: bytes of a line that is longer than wire.MaxChecked. The frame's own
//     entry, in this block or a later one, then holds the last of its bytes, and
//     says how many frames were numbered since the line began;
//   - an entry of a batch, without bytes, after the frame of the batch.
//
// Frames are numbered consecutively. Where a portable file skips numbers, a part without
// bytes says how many.
type block struct {
	head    blockHead
	entries []entry
	raw     []byte // the bytes of the entries, in order; nil if only the fields were read
}

// An entry is one row of a block.
type entry struct {
	dialect.Frame        // Raw points into the block; nil if only the fields were read
	part          bool   // bytes of a line that ends later; Seq is that of the next frame
	sub           bool   // an entry of the preceding batch; only its Annotation counts
	back          uint64 // of a line that came in parts: Seq minus the number of the next frame when it began; of a part: the number of frame numbers skipped before the next frame
	stored        int    // its bytes in this block, without the lead
	lead          int    // bytes of framing before those
}

// A blockHead is what a reader needs to find its way without decompressing. It is stored
// as JSON.
type blockHead struct {
	Version  int           `json:"version"`
	Needs    disk.Needs    `json:"needs,omitempty"` // to read rows, bytes and state
	Tape     string        `json:"tape"`
	Index    int           `json:"index"` // from 0
	First    uint64        `json:"first"` // number of the first frame, or of the next one if the block holds parts only
	Frames   int           `json:"frames"`
	Entries  int           `json:"entries"`
	Raw      int           `json:"raw"`  // bytes before compression
	From     int64         `json:"from"` // journal positions that the block covers
	To       int64         `json:"to"`
	Began    time.Duration `json:"began"`
	Ended    time.Duration `json:"ended"`
	Failed   int           `json:"failed,omitempty"` // responses with an error
	Sessions []string      `json:"sessions,omitempty"`
	RowsSum  uint32        `json:"rowsSum"`
	BytesSum uint32        `json:"bytesSum"`
	StateSum uint32        `json:"stateSum"`
}

// hasStreams reports whether entries of the block may belong to streams.
func (h blockHead) hasStreams() bool { return slices.Contains(h.Needs, disk.NeedsStreams) }

func (h blockHead) key() blockKey { return blockKey{h.First, h.Index} }

// A blockKey is the key of a block in the tape's file. Keys sort by first frame; a block
// that holds only parts comes before the one with their frame.
type blockKey struct {
	first uint64 // its first frame, or the next one if it holds parts only
	index int
}

func (k blockKey) encode() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, k.first), uint32(k.index))
}

// parseBlockKey parses what encode wrote.
func parseBlockKey(b []byte) (k blockKey, ok bool) {
	if len(b) != 12 {
		return blockKey{}, false
	}
	return blockKey{binary.BigEndian.Uint64(b), int(binary.BigEndian.Uint32(b[8:]))}, true
}

// An encodedBlock is a block as it is stored.
type encodedBlock struct {
	head               blockHead
	rows, bytes, state []byte // compressed
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum includes the tape and the place, which detects a block that ended up elsewhere.
func (h blockHead) sum(p []byte) uint32 {
	seed := binary.BigEndian.AppendUint64([]byte(h.Tape), h.First)
	return crc32.Update(crc32.Checksum(seed, castagnoli), castagnoli, p)
}

// A builder collects the entries of the next block. It copies their bytes.
type builder struct {
	entries []entry
	raw     []byte
	frames  int
}

func (b *builder) add(e entry, bytes []byte) {
	if n := len(b.raw); n > blockSize/16 && n+len(e.Lead)+len(bytes) > cap(b.raw) {
		// Four times the room, or that for a whole block: growing by less, append would
		// leave several times the block's size to the collector (BenchmarkSeal).
		more := max(min(3*n, blockSize+blockSize/16-n), len(e.Lead)+len(bytes))
		b.raw = slices.Grow(b.raw, more)
		b.entries = slices.Grow(b.entries, min(3*len(b.entries), more*len(b.entries)/n))
	}
	b.raw = append(append(b.raw, e.Lead...), bytes...)
	e.stored, e.lead = len(bytes), len(e.Lead)
	e.Raw, e.Lead = nil, nil
	b.entries = append(b.entries, e)
	if !e.part && !e.sub {
		b.frames++
	}
}

func (b *builder) reset() {
	clear(b.entries) // or they keep strings alive
	b.entries, b.raw, b.frames = b.entries[:0], b.raw[:0], 0
}

// block returns what has been collected. It is valid until the next reset.
func (b *builder) block(head blockHead) *block {
	blk := &block{head: head, entries: b.entries, raw: b.raw}
	blk.slice()
	return blk
}

// slice points the Lead and Raw of each entry at their bytes.
func (b *block) slice() {
	at := 0
	for i := range b.entries {
		e := &b.entries[i]
		if e.lead > 0 {
			e.Lead = b.raw[at : at+e.lead : at+e.lead]
			at += e.lead
		}
		e.Raw = b.raw[at : at+e.stored : at+e.stored]
		at += e.stored
	}
}

// A codec compresses and decompresses blocks. It reuses its buffers, so each goroutine
// needs its own.
type codec struct {
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	cols columns
	rows []byte
}

// blockWindow is how far the compressor looks back: a whole block.
const blockWindow = blockSize

// maxPlain bounds what a damaged block can make a reader allocate: the bytes of a segment,
// a line that ends in it, and some slack. maxState does that for the state, which holds a
// pending line of each direction and all open requests: 65,536 of about 400 bytes each
// (TestOpenRequests).
const (
	maxPlain = 8 << 20
	maxState = 48 << 20
)

var errWrongSum = errors.New("wrong check sum")

func (c *codec) compress(p []byte) []byte {
	if c.enc == nil {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(blockWindow), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			panic("record: zstd options: " + err.Error())
		}
		c.enc = enc
	}
	return c.enc.EncodeAll(p, nil)
}

func (c *codec) decompress(p, space []byte) ([]byte, error) {
	if c.dec == nil {
		c.dec = newDecoder(maxPlain)
	}
	return c.dec.DecodeAll(p, space[:0])
}

// newDecoder returns a decoder that refuses to decompress to more than most bytes.
func newDecoder(most uint64) *zstd.Decoder {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("record: zstd options: " + err.Error())
	}
	return dec
}

// encode compresses what b holds. state is the state of the dissector at the end of the
// block.
func (c *codec) encode(head blockHead, b *builder, state []byte) encodedBlock {
	head.Entries, head.Frames, head.Raw = len(b.entries), b.frames, len(b.raw)
	seen := map[string]bool{"": true}
	last := ""
	for i := range b.entries {
		e := &b.entries[i]
		if e.Failed {
			head.Failed++
		}
		if e.Session != last && !seen[e.Session] {
			seen[e.Session] = true
			head.Sessions = append(head.Sessions, e.Session)
		}
		last = e.Session
	}
	if n := len(b.entries); n > 0 {
		head.Began, head.Ended = b.entries[0].At, b.entries[n-1].At
	}
	c.rows = c.cols.encode(c.rows[:0], b.entries, head)
	s := encodedBlock{rows: c.compress(c.rows), bytes: c.compress(b.raw), state: c.compress(state)}
	head.RowsSum, head.BytesSum, head.StateSum = head.sum(s.rows), head.sum(s.bytes), head.sum(s.state)
	s.head = head
	return s
}

// A decodeBuffer is space that successive blocks are decoded into.
type decodeBuffer struct {
	entries   []entry
	rows, raw []byte
}

// decode decodes a block, with its bytes if withBytes is set. The block is valid until buf
// is used again.
func (c *codec) decode(s encodedBlock, withBytes bool, buf *decodeBuffer) (*block, error) {
	h := s.head
	damaged := func(what string, err error) error {
		return fmt.Errorf("block %d of tape %s: its %s: %w (%v)", h.Index, h.Tape, what, ErrDamaged, err)
	}
	if h.sum(s.rows) != h.RowsSum {
		return nil, damaged("rows", errWrongSum)
	}
	var err error
	if buf.rows, err = c.decompress(s.rows, buf.rows); err != nil {
		return nil, damaged("rows", err)
	}
	if buf.entries, err = decodeColumns(buf.rows, h, buf.entries); err != nil {
		return nil, damaged("rows", err)
	}
	b := &block{head: h, entries: buf.entries}
	if !withBytes {
		return b, nil
	}
	if h.sum(s.bytes) != h.BytesSum {
		return nil, damaged("bytes", errWrongSum)
	}
	if buf.raw, err = c.decompress(s.bytes, buf.raw); err != nil {
		return nil, damaged("bytes", err)
	}
	b.raw = buf.raw
	total := 0
	for i := range b.entries {
		total += b.entries[i].lead + b.entries[i].stored
	}
	if total != len(b.raw) {
		return nil, damaged("bytes", fmt.Errorf("%d instead of %d", len(b.raw), total))
	}
	b.slice()
	return b, nil
}

func (c *codec) decodeState(s encodedBlock) ([]byte, error) {
	if s.head.sum(s.state) != s.head.StateSum {
		return nil, fmt.Errorf("state in block %d of tape %s: %w", s.head.Index, s.head.Tape, ErrDamaged)
	}
	dec := newDecoder(maxState)
	defer dec.Close()
	state, err := dec.DecodeAll(s.state, nil)
	if err != nil {
		return nil, fmt.Errorf("state in block %d of tape %s: %w (%v)", s.head.Index, s.head.Tape, ErrDamaged, err)
	}
	return state, nil
}

// headSum precedes the last member of a head: the checksum of all bytes before headSum.
// Heads written by a newer acptap may lack it.
var headSum = []byte(`,"sum":`)

// encode returns the head as it is stored.
func (h blockHead) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1]
	return fmt.Appendf(text, "%s%d}", headSum, crc32.Checksum(text, castagnoli)), nil
}

// intact reports whether a head matches its checksum. A head without one counts as intact.
func intact(head []byte) bool {
	i := bytes.LastIndex(head, headSum)
	if i < 0 {
		return true
	}
	sum, last := bytes.CutSuffix(head[i+len(headSum):], []byte("}"))
	n, err := strconv.ParseUint(string(sum), 10, 32)
	if !last || errors.Is(err, strconv.ErrSyntax) {
		return true // a member that is not ours
	}
	return err == nil && uint32(n) == crc32.Checksum(head[:i], castagnoli)
}

func decodeBlockHead(p []byte) (blockHead, error) {
	var h blockHead
	if !intact(p) {
		return h, fmt.Errorf("head of a block: %w", ErrDamaged)
	}
	if err := json.Unmarshal(p, &h); err != nil {
		if newer := disk.CheckNeeds("a block", p); newer != nil {
			return h, newer
		}
		return h, fmt.Errorf("head of a block: %w: %w", ErrDamaged, err)
	}
	if err := h.Needs.Check(fmt.Sprintf("block %d of tape %.64q", h.Index, h.Tape)); err != nil {
		return h, err
	}
	if h.Version > Format {
		return h, fmt.Errorf("block of version %d: %w", h.Version, ErrNewer)
	}
	return h, nil
}
