package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/acptap/acptap/record/disk"
)

// ErrRemoved says that a segment is gone: what is in it was sealed meanwhile.
var ErrRemoved = errors.New("segment removed meanwhile")

// A Reader reads the records of a journal, while it is written or afterwards.
type Reader struct {
	Files Files
	Known []int64      // the segments of a journal that nobody writes; nil: they are looked up each time
	End   func() int64 // how far the journal is written; nil: to where its bytes make sense

	pos   int64 // of the next record
	start Start // from the segment's header

	seg     *os.File
	base    int64  // position of seg
	offset  int64  // of buf in seg
	buf     []byte // what was read of seg from there on
	skipped int64  // damaged bytes before the record at pos
	left    int64  // where the last whole record of the segment before ended; 0 if there is none
	rest    int64  // bytes behind that, in skipped until the header of seg tells more
}

// A Positioned record stands at the reader's position.
type Positioned struct {
	Record
	Next    int64 // position behind it
	Skipped int64 // damaged bytes before it
}

// MoveTo makes position that of the next record.
func (c *Reader) MoveTo(position int64) {
	c.Close()
	*c = Reader{Files: c.Files, Known: c.Known, End: c.End, pos: position}
}

// Close closes the segment that is open. The reader can be used on.
func (c *Reader) Close() {
	if c.seg != nil {
		c.seg.Close()
		c.seg = nil
	}
}

// Next finds the record at the reader's position. The reader stays there until
// Advance. It returns io.EOF at the end of what is written, and ErrRemoved if
// the segment is gone. The record is valid until the next call.
func (c *Reader) Next() (Positioned, error) {
	for {
		if err := c.open(); err != nil {
			return Positioned{}, err
		}
		if r, ok, err := c.read(); ok || err != nil {
			return r, err
		}
		if !c.followed() {
			// What followed may be sealed, and gone like the segment itself.
			if c.End == nil && !disk.Exists(c.Files.Segment(c.base)) {
				return Positioned{}, ErrRemoved
			}
			return Positioned{}, io.EOF
		}
		// It may have grown before its successor began.
		if r, ok, err := c.read(); ok || err != nil {
			return r, err
		}
		c.leave()
	}
}

// minBuffer is how much of a segment is read at least, where there is as much.
const minBuffer = 64 << 10

// Quiet reports whether nothing was written behind the position, as one look into
// the segment tells: a following one may have been begun all the same. What takes
// much memory is given back then.
func (c *Reader) Quiet() bool {
	var magic [4]byte
	if c.seg == nil || c.pos == c.base {
		return false
	}
	if n, err := c.seg.ReadAt(magic[:], c.pos-c.base); n < len(magic) && err != io.EOF || magic != [4]byte{} {
		return false
	}
	if cap(c.buf) > minBuffer {
		c.buf, c.offset = nil, c.pos-c.base
	}
	return true
}

// read looks for the next record in the open segment. What was read behind the
// last record may have been written since, so it looks again. It looks a third
// time before it believes in damage: the writer may have finished a record while
// that was read, and begun the next. Where that one was seen, all before it is
// there by now.
func (c *Reader) read() (r Positioned, ok bool, err error) {
	for look := range 3 {
		if look > 0 {
			c.buf, c.offset = c.buf[:0], c.pos-c.base
			if err := c.fill(); err != nil {
				return Positioned{}, false, err
			}
		}
		if r, ok = c.parse(); ok && r.Skipped == c.skipped {
			break
		}
	}
	if ok {
		err = r.check()
	}
	return r, ok, err
}

// Advance goes on behind a record that was used.
func (c *Reader) Advance(r Positioned) { c.pos, c.skipped = r.Next, 0 }

// leave goes on in the next segment.
func (c *Reader) leave() {
	c.left = c.pos - c.base
	c.rest = int64(len(bytes.TrimRight(c.buf[min(c.left-c.offset, int64(len(c.buf))):], "\x00")))
	c.skipped += c.rest
	c.pos = c.base + SegmentSize
}

// open makes seg the segment of the reader's position.
func (c *Reader) open() error {
	base := c.pos &^ (SegmentSize - 1)
	if c.seg != nil && c.base == base {
		return nil
	}
	f, err := disk.Open(c.Files.Segment(base), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrRemoved
	}
	if err != nil {
		return err
	}
	c.Close()
	c.seg, c.base, c.offset, c.buf = f, base, 0, c.buf[:0]
	return nil
}

// fill reads what the segment holds by now.
func (c *Reader) fill() error {
	limit := int64(SegmentSize)
	if c.End != nil {
		limit = min(limit, c.End()-c.base)
	}
	limit -= c.offset
	for int64(len(c.buf)) < limit {
		if cap(c.buf) == len(c.buf) {
			c.buf = slices.Grow(c.buf, min(max(len(c.buf), minBuffer), SegmentSize-len(c.buf)))
		}
		n, err := c.seg.ReadAt(c.buf[len(c.buf):min(int64(cap(c.buf)), limit)], c.offset+int64(len(c.buf)))
		c.buf = c.buf[:len(c.buf)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
	}
	if c.pos > c.base {
		return nil
	}
	head, size, err := decodeSegmentHead(c.buf)
	switch {
	case errors.Is(err, disk.ErrNewer):
		return err
	case err == nil && (head.Tape != c.Files.tape() || head.Position != c.base):
		return fmt.Errorf("segment %x of tape %s says that it is %x of %s: %w", c.base, c.Files.tape(), head.Position, head.Tape, disk.ErrDamaged)
	case err == nil:
		c.start = head.Start
		if c.left > 0 {
			c.skipped += max(0, head.Before-c.left) - c.rest
			c.left, c.rest = 0, 0
		}
		c.pos = c.base + int64(size)
	}
	return nil // a header that is damaged, or not written yet: the records say
}

// parse looks for the record at the reader's position, or, where that is damaged,
// for the next one in the segment.
func (c *Reader) parse() (Positioned, bool) {
	at := int(c.pos - c.base - c.offset)
	off := at
	for off < len(c.buf) {
		r, size, sum, ok := parseHead(c.buf[off:])
		end := off + recordHead + size
		if ok && end <= len(c.buf) {
			if p := c.buf[off+recordHead : end]; checksum(p) == sum {
				r.Payload = p
				return Positioned{r, c.base + c.offset + int64(end), c.skipped + int64(off-at)}, true
			}
		}
		// Something is damaged, or this is the torn or still unwritten end: then
		// no record follows.
		if off = c.resync(off + 1); off < 0 {
			return Positioned{}, false
		}
	}
	return Positioned{}, false
}

// resync returns where the next whole record head stands, -1 if there is none.
func (c *Reader) resync(off int) int {
	magic := binary.LittleEndian.AppendUint32(nil, recordMagic)
	for off < len(c.buf) {
		i := bytes.Index(c.buf[off:], magic)
		if i < 0 {
			return -1
		}
		off += i
		if _, _, _, ok := parseHead(c.buf[off:]); ok {
			return off
		}
		off++
	}
	return -1
}

// followed reports whether a later segment was begun.
func (c *Reader) followed() bool {
	if c.End != nil {
		return c.End() >= c.base+SegmentSize
	}
	if begun(c.Files.Segment(c.base + SegmentSize)) {
		return true
	}
	return slices.ContainsFunc(c.Segments(), func(p int64) bool {
		return p > c.base && begun(c.Files.Segment(p))
	})
}

// SkipMissing passes over segments that are missing. It returns false if none is
// left.
func (c *Reader) SkipMissing() bool {
	for _, p := range c.Segments() {
		if p > c.pos {
			c.pos, c.left, c.rest = p, 0, 0
			return true
		}
	}
	return false
}

// Segments returns the positions of the journal's segments.
func (c *Reader) Segments() []int64 {
	if c.Known != nil {
		return c.Known
	}
	return c.Files.Segments()
}

// begun reports whether a segment has a header. One that was only opened ahead
// holds zeros.
func begun(path string) bool {
	f, err := disk.Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [len(segmentMagic)]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && magic != [len(segmentMagic)]byte{}
}
