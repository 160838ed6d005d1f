package record

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"

	"github.com/acptap/acptap/record/portable"
)

// The rows of a block are stored by column, since the values of one column are alike:
// compressed, they take less than 2 bytes a frame (BenchmarkColumns). In order:
//
//	dictionary   count · for each: length · text (methods, updates, sessions; entry 0 is "")
//	shape        2 bytes each: direction, origin, kind, end, failed, part, sub, untimed, derived, redelivered
//	at           ns since the entry before
//	size         bytes of the frame less bytes stored here
//	stored       bytes stored here
//	method, update, session    places in the dictionary
//	answers      number of the frame less the number it answers; 0 for none
//	events
//	back
//
// and in a block that needs disk.NeedsStreams
//
//	stream       its number, from 1 on; 0: the connection's own
//	lead         bytes of framing before those of the entry, stored here too
//
// All numbers but the shape are varints; at is signed. Only blocks that need
// disk.NeedsStreams use the last two bits of a shape and the kind 8 (body).
//
// A reader skips what follows the last column, unless the head of the block says that
// readers must know it.
type columns struct {
	dict  map[string]int
	words []string
}

const (
	shapeOrigin  = 2
	shapeKind    = 4
	shapeEnd     = 8
	shapeFailed  = 10
	shapePart    = 11
	shapeSub     = 12
	shapeUntimed = 13
	shapeDerived = 14
	shapeAgain   = 15
)

func bit(b bool) uint16 {
	if b {
		return 1
	}
	return 0
}

func (c *columns) place(s string) uint64 {
	n, ok := c.dict[s]
	if !ok {
		n = len(c.words)
		c.dict[s] = n
		c.words = append(c.words, s)
	}
	return uint64(n)
}

// encode appends the rows of a block to b.
func (c *columns) encode(b []byte, entries []entry, head blockHead) []byte {
	if c.dict == nil {
		c.dict = map[string]int{}
	}
	clear(c.dict)
	c.words = c.words[:0]
	c.place("")
	for i := range entries {
		e := &entries[i]
		c.place(e.Method)
		c.place(e.Update)
		c.place(e.Session)
	}
	b = binary.AppendUvarint(b, uint64(len(c.words)))
	for _, word := range c.words {
		b = append(binary.AppendUvarint(b, uint64(len(word))), word...)
	}
	for i := range entries {
		e := &entries[i]
		b = binary.LittleEndian.AppendUint16(b, uint16(e.Dir)|uint16(e.Origin)<<shapeOrigin|uint16(e.Kind)<<shapeKind|
			uint16(e.End)<<shapeEnd|bit(e.Failed)<<shapeFailed|bit(e.part)<<shapePart|bit(e.sub)<<shapeSub|bit(e.Untimed)<<shapeUntimed|
			bit(e.Derived)<<shapeDerived|bit(e.Redelivered)<<shapeAgain)
	}
	var last time.Duration
	for i := range entries {
		b = binary.AppendVarint(b, int64(entries[i].At-last))
		last = entries[i].At
	}
	for i := range entries {
		b = binary.AppendUvarint(b, uint64(entries[i].Size)-uint64(entries[i].stored))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, uint64(entries[i].stored))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, c.place(entries[i].Method))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, c.place(entries[i].Update))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, c.place(entries[i].Session))
	}
	for i := range entries {
		var back uint64
		if e := &entries[i]; e.Request != 0 {
			back = e.Seq - e.Request
		}
		b = binary.AppendUvarint(b, back)
	}
	for i := range entries {
		b = binary.AppendUvarint(b, uint64(entries[i].Events))
	}
	for i := range entries {
		b = binary.AppendUvarint(b, entries[i].back)
	}
	if head.hasStreams() {
		for i := range entries {
			b = binary.AppendUvarint(b, entries[i].Stream)
		}
		for i := range entries {
			b = binary.AppendUvarint(b, uint64(entries[i].lead))
		}
	}
	return b
}

// rowSize is the minimum size of an entry: its shape, and a byte in each column.
const rowSize = 2 + 9

var errShortRows = errors.New("they end too early")

// decodeColumns reads the rows of a block. It uses space if that is large enough.
func decodeColumns(b []byte, head blockHead, space []entry) ([]entry, error) {
	r := &varintReader{B: b}
	if head.Entries < 0 || head.Entries > min(len(b)/rowSize, mostEntries) {
		return nil, errShortRows
	}
	n := r.Count()
	if n > 1+3*head.Entries { // a method, an update and a session of each, and ""
		return nil, errShortRows
	}
	words := make([]string, n)
	for i := range words {
		words[i] = r.Text()
	}
	word := func() string {
		n := r.Uint()
		if n >= uint64(len(words)) {
			r.Bad = true
			return ""
		}
		return words[n]
	}
	entries := slices.Grow(space[:0], head.Entries)[:head.Entries]
	clear(entries)
	shapes := r.Bytes(2 * uint64(head.Entries))
	if r.Bad {
		return nil, errShortRows
	}
	for i := range entries {
		e, s := &entries[i], binary.LittleEndian.Uint16(shapes[2*i:])
		e.Dir, e.Origin, e.Kind = wire.Direction(s&3), wire.Origin(s>>shapeOrigin&3), wire.Kind(s>>shapeKind&15)
		e.End, e.Failed = wire.LineEnd(s>>shapeEnd&3), s>>shapeFailed&1 == 1
		e.part, e.sub, e.Untimed = s>>shapePart&1 == 1, s>>shapeSub&1 == 1, s>>shapeUntimed&1 == 1
		if head.hasStreams() {
			e.Derived, e.Redelivered = s>>shapeDerived&1 == 1, s>>shapeAgain&1 == 1
		}
	}
	var at time.Duration
	for i := range entries {
		at += time.Duration(r.Int())
		entries[i].At = at
	}
	for i := range entries {
		entries[i].Size = int64(r.Uint())
	}
	for i := range entries {
		entries[i].stored = int(min(r.Uint(), maxPlain))
		entries[i].Size += int64(entries[i].stored)
	}
	for i := range entries {
		entries[i].Method = word()
	}
	for i := range entries {
		entries[i].Update = word()
	}
	for i := range entries {
		entries[i].Session = word()
	}
	for i := range entries {
		entries[i].Request = r.Uint() // counted back from Seq, which number sets
	}
	for i := range entries {
		entries[i].Events = dialect.Events(r.Uint())
	}
	for i := range entries {
		entries[i].back = r.Uint()
	}
	if head.hasStreams() {
		for i := range entries {
			entries[i].Stream = r.Uint()
		}
		for i := range entries {
			entries[i].lead = int(min(r.Uint(), maxPlain))
		}
	}
	if r.Bad {
		return nil, errShortRows
	}
	if err := number(entries, head.First); err != nil {
		return nil, err
	}
	gatherBatches(entries)
	return entries, nil
}

var errWrongNumber = errors.New("there is no frame of such a number")

// number assigns the entries their numbers.
func number(entries []entry, first uint64) error {
	next, last := first, uint64(1)
	for i := range entries {
		e := &entries[i]
		if next == 0 || next > portable.MaxSeq || e.back > portable.MaxSeq || e.Size < 0 {
			return errWrongNumber
		}
		if e.part {
			next += e.back
		} else if e.back >= next {
			return errWrongNumber
		}
		e.Seq = next
		switch {
		case e.sub:
			e.Seq--
		case !e.part:
			next++
		}
		if e.Seq < last || e.Request > e.Seq {
			return errWrongNumber
		}
		last = e.Seq
		if e.Request != 0 {
			e.Request = e.Seq - e.Request
		}
	}
	return nil
}

// gatherBatches copies the entries that follow a batch into its frame.
func gatherBatches(entries []entry) {
	for i := range entries {
		if entries[i].Kind != wire.Batch || entries[i].sub {
			continue
		}
		for _, sub := range entries[i+1:] {
			if !sub.sub {
				break
			}
			entries[i].Entries = append(entries[i].Entries, sub.Annotation)
		}
	}
}
