package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/record/disk"
)

// errSealed says that a segment is gone: somebody sealed it meanwhile.
var errSealed = errors.New("sealed meanwhile")

// A chain reads the records of a journal, while it is written or afterwards.
type chain struct {
	live, tape string
	known      []int64      // the segments of a journal that nobody writes; nil: they are looked up each time
	pos        int64        // of the next record
	end        func() int64 // how far the journal is written; nil: to where its bytes make sense
	start      Start        // from the segment's header

	seg     *os.File
	base    int64  // position of seg
	buf     []byte // what was read of seg so far
	skipped int64  // damaged bytes before the record at pos
	left    int64  // where the last whole record of the segment before ended; 0 if there is none
	rest    int64  // bytes behind that, in skipped until the header of seg tells more
}

// A found record stands at the chain's position.
type found struct {
	journalRecord
	next    int64 // position behind it
	skipped int64 // damaged bytes before it
}

func (c *chain) close() {
	if c.seg != nil {
		c.seg.Close()
		c.seg = nil
	}
}

// next finds the record at the chain's position. The chain stays there until
// advance. It returns io.EOF at the end of what is written, and errSealed if
// the segment is gone. The record is valid until the next call.
func (c *chain) next() (found, error) {
	for {
		if err := c.open(); err != nil {
			return found{}, err
		}
		if r, ok, err := c.read(); ok || err != nil {
			return r, err
		}
		if !c.followed() {
			// What followed may be sealed, and gone like the segment itself.
			if c.end == nil && !disk.Exists(segmentPath(c.live, c.tape, c.base)) {
				return found{}, errSealed
			}
			return found{}, io.EOF
		}
		// It may have grown before its successor began.
		if r, ok, err := c.read(); ok || err != nil {
			return r, err
		}
		c.leave()
	}
}

// read looks for the next record in the open segment. What was read behind the
// last record may have been written since, so it looks again. It looks a third
// time before it believes in damage: the writer may have finished a record while
// that was read, and begun the next. Where that one was seen, all before it is
// there by now.
func (c *chain) read() (r found, ok bool, err error) {
	for look := range 3 {
		if look > 0 {
			c.buf = c.buf[:min(c.pos-c.base, int64(len(c.buf)))]
			if err := c.fill(); err != nil {
				return found{}, false, err
			}
		}
		if r, ok = c.parse(); ok && r.skipped == c.skipped {
			break
		}
	}
	return r, ok, nil
}

// advance goes on behind a record that was used.
func (c *chain) advance(r found) { c.pos, c.skipped = r.next, 0 }

// leave goes on in the next segment.
func (c *chain) leave() {
	c.left = c.pos - c.base
	c.rest = int64(len(bytes.TrimRight(c.buf[min(c.left, int64(len(c.buf))):], "\x00")))
	c.skipped += c.rest
	c.pos = c.base + segmentSize
}

// open makes seg the segment of the chain's position.
func (c *chain) open() error {
	base := c.pos &^ (segmentSize - 1)
	if c.seg != nil && c.base == base {
		return nil
	}
	f, err := disk.Open(segmentPath(c.live, c.tape, base), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return errSealed
	}
	if err != nil {
		return err
	}
	c.close()
	c.seg, c.base, c.buf = f, base, c.buf[:0]
	return nil
}

// fill reads what the segment holds by now.
func (c *chain) fill() error {
	limit := int64(segmentSize)
	if c.end != nil {
		limit = min(limit, c.end()-c.base)
	}
	for int64(len(c.buf)) < limit {
		if cap(c.buf) == len(c.buf) {
			c.buf = slices.Grow(c.buf, min(max(len(c.buf), 64<<10), segmentSize-len(c.buf)))
		}
		n, err := c.seg.ReadAt(c.buf[len(c.buf):min(int64(cap(c.buf)), limit)], int64(len(c.buf)))
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
	case errors.Is(err, ErrNewer):
		return err
	case err == nil && (head.Tape != c.tape || head.Position != c.base):
		return fmt.Errorf("segment %x of tape %s says that it is %x of %s: %w", c.base, c.tape, head.Position, head.Tape, ErrDamaged)
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

// parse looks for the record at the chain's position, or, where that is damaged,
// for the next one in the segment.
func (c *chain) parse() (found, bool) {
	off := int(c.pos - c.base)
	for off < len(c.buf) {
		r, size, sum, ok := parseHead(c.buf[off:])
		end := off + recordHead + size
		if ok && end <= len(c.buf) {
			if p := c.buf[off+recordHead : end]; checksum(p) == sum {
				r.payload = p
				skipped := c.skipped + int64(off) - (c.pos - c.base)
				return found{r, c.base + int64(end), skipped}, true
			}
		}
		// Something is damaged, or this is the torn or still unwritten end: then
		// no record follows.
		if off = c.resync(off + 1); off < 0 {
			return found{}, false
		}
	}
	return found{}, false
}

// resync returns where the next whole record head stands, -1 if there is none.
func (c *chain) resync(off int) int {
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
func (c *chain) followed() bool {
	if c.end != nil {
		return c.end() >= c.base+segmentSize
	}
	if begun(segmentPath(c.live, c.tape, c.base+segmentSize)) {
		return true
	}
	return slices.ContainsFunc(c.segments(), func(p int64) bool {
		return p > c.base && begun(segmentPath(c.live, c.tape, p))
	})
}

// jump passes over segments that are missing. It returns false if none is left.
func (c *chain) jump() bool {
	for _, p := range c.segments() {
		if p > c.pos {
			c.pos, c.left, c.rest = p, 0, 0
			return true
		}
	}
	return false
}

func (c *chain) segments() []int64 {
	if c.known != nil {
		return c.known
	}
	return segments(c.live, c.tape)
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

// segments returns the positions of the segments of a tape, in order.
func segments(live, tape string) []int64 {
	entries, _ := os.ReadDir(live)
	var at []int64
	for _, e := range entries {
		ending, ok := strings.CutPrefix(e.Name(), tape+".")
		if p, valid := segmentPosition(ending); ok && valid {
			at = append(at, p)
		}
	}
	slices.Sort(at)
	return at
}

// segmentPosition returns the position that the name of a segment ends with.
func segmentPosition(ending string) (at int64, ok bool) {
	at, err := strconv.ParseInt(ending, 16, 64)
	return at, err == nil && len(ending) == 16
}
