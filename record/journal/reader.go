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

// ErrRemoved says that a segment is gone because its contents have since been stored
// elsewhere.
var ErrRemoved = errors.New("segment removed meanwhile")

// A Reader reads the records of a journal, during or after writing.
type Reader struct {
	Files Files
	Known []int64      // the segments, if the journal is no longer written; nil: look them up each time
	End   func() int64 // end of the journal; nil: read as far as its bytes make sense

	pos   int64 // of the next record
	start Start // from the segment's header

	seg     *os.File
	base    int64  // position of seg
	offset  int64  // of buf in seg
	buf     []byte // bytes read from seg, starting at offset
	skipped int64  // damaged bytes before the record at pos
	left    int64  // end of the last whole record of the previous segment; 0: none
	rest    int64  // bytes after that, part of skipped until the header of seg says more
}

// A Positioned is the record at the reader's position.
type Positioned struct {
	Record
	Next    int64 // position after it
	Skipped int64 // damaged bytes before it
}

// MoveTo goes to the record at position.
func (j *Reader) MoveTo(position int64) {
	j.Close()
	*j = Reader{Files: j.Files, Known: j.Known, End: j.End, pos: position}
}

// Close closes the open segment. The reader can still be used.
func (j *Reader) Close() {
	if j.seg != nil {
		j.seg.Close()
		j.seg = nil
	}
}

// Next returns the record at the reader's position, which is valid until the next call. The
// reader stays there until Advance. Next returns io.EOF at the end of the journal, and
// ErrRemoved if the segment is gone.
func (j *Reader) Next() (Positioned, error) {
	for {
		if err := j.open(); err != nil {
			return Positioned{}, err
		}
		if r, ok, err := j.read(); ok || err != nil {
			return r, err
		}
		if !j.followed() {
			// The following segments may be gone, like this one.
			if j.End == nil && !disk.Exists(j.Files.Segment(j.base)) {
				return Positioned{}, ErrRemoved
			}
			return Positioned{}, io.EOF
		}
		// The segment may have grown before the next one was begun.
		if r, ok, err := j.read(); ok || err != nil {
			return r, err
		}
		j.leave()
	}
}

// minBuffer is the size of a buffer that a quiet Reader keeps.
const minBuffer = 64 << 10

// Quiet reports whether nothing was written after the position. It checks only the
// current segment; the next one may already exist. If so, Quiet frees a large buffer.
func (j *Reader) Quiet() bool {
	var magic [4]byte
	if j.seg == nil || j.pos == j.base {
		return false
	}
	if n, err := j.seg.ReadAt(magic[:], j.pos-j.base); n < len(magic) && err != io.EOF || magic != [4]byte{} {
		return false
	}
	if cap(j.buf) > minBuffer {
		j.buf, j.offset = nil, j.pos-j.base
	}
	return true
}

// read looks for the next record in the open segment. If there is none, it reads the
// segment again: the record may have been written since. Before it reports damage it reads
// a third time, since the writer may have finished one record and begun the next during the
// second read. Once the later record is visible, all bytes before it are there.
func (j *Reader) read() (r Positioned, ok bool, err error) {
	for look := range 3 {
		if look > 0 {
			j.buf, j.offset = j.buf[:0], j.pos-j.base
			if err := j.fill(); err != nil {
				return Positioned{}, false, err
			}
		}
		if r, ok = j.parse(); ok && r.Skipped == j.skipped {
			break
		}
	}
	return r, ok, nil
}

// Advance moves past r.
func (j *Reader) Advance(r Positioned) { j.pos, j.skipped = r.Next, 0 }

// leave moves to the next segment.
func (j *Reader) leave() {
	j.left = j.pos - j.base
	j.rest = int64(len(bytes.TrimRight(j.buf[min(j.left-j.offset, int64(len(j.buf))):], "\x00")))
	j.skipped += j.rest
	j.pos = j.base + SegmentSize
}

// open opens the segment of the reader's position.
func (j *Reader) open() error {
	base := j.pos &^ (SegmentSize - 1)
	if j.seg != nil && j.base == base {
		return nil
	}
	f, err := disk.Open(j.Files.Segment(base), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrRemoved
	}
	if err != nil {
		return err
	}
	j.Close()
	j.seg, j.base, j.offset, j.buf = f, base, 0, j.buf[:0]
	return nil
}

// fill reads what the segment currently holds.
func (j *Reader) fill() error {
	info, err := j.seg.Stat()
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	limit := min(info.Size(), SegmentSize)
	if j.End != nil {
		limit = min(limit, j.End()-j.base)
	}
	if have, all := len(j.buf), int(limit-j.offset); have < all {
		j.buf = slices.Grow(j.buf, all-have)
		n, err := j.seg.ReadAt(j.buf[have:all], limit-int64(all-have))
		j.buf = j.buf[:have+n]
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading the journal: %w", err)
		}
	}
	if j.pos > j.base {
		return nil
	}
	head, size, err := decodeSegmentHead(j.buf)
	switch {
	case errors.Is(err, disk.ErrNewer):
		return err
	case err == nil && (head.Tape != j.Files.tape() || head.Position != j.base):
		return fmt.Errorf("segment %x of tape %s says that it is %x of %s: %w", j.base, j.Files.tape(), head.Position, head.Tape, disk.ErrDamaged)
	case err == nil:
		j.start = head.Start
		if j.left > 0 {
			j.skipped += max(0, head.Before-j.left) - j.rest
			j.left, j.rest = 0, 0
		}
		j.pos = j.base + int64(size)
	}
	return nil // a header that is damaged or not written yet: let the records decide
}

// parse looks for the record at the reader's position or, if that is damaged, for the next
// one in the segment.
func (j *Reader) parse() (Positioned, bool) {
	at := int(j.pos - j.base - j.offset)
	off := at
	for off < len(j.buf) {
		r, size, sum, ok := parseHead(j.buf[off:])
		end := off + recordHead + size
		if ok && end <= len(j.buf) {
			if p := j.buf[off+recordHead : end]; checksum(p) == sum {
				r.Payload = p
				return Positioned{r, j.base + j.offset + int64(end), j.skipped + int64(off-at)}, true
			}
		}
		// Something is damaged, or this is the torn or unwritten end, which no record
		// follows.
		if off = j.resync(off + 1); off < 0 {
			return Positioned{}, false
		}
	}
	return Positioned{}, false
}

// resync returns the offset of the next whole record head, or -1 if there is none.
func (j *Reader) resync(off int) int {
	magic := binary.LittleEndian.AppendUint32(nil, recordMagic)
	for off < len(j.buf) {
		i := bytes.Index(j.buf[off:], magic)
		if i < 0 {
			return -1
		}
		off += i
		if _, _, _, ok := parseHead(j.buf[off:]); ok {
			return off
		}
		off++
	}
	return -1
}

// followed reports whether a later segment exists.
func (j *Reader) followed() bool {
	if j.End != nil {
		return j.End() >= j.base+SegmentSize
	}
	if begun(j.Files.Segment(j.base + SegmentSize)) {
		return true
	}
	return slices.ContainsFunc(j.Segments(), func(p int64) bool {
		return p > j.base && begun(j.Files.Segment(p))
	})
}

// SkipMissing skips missing segments. It returns false if no segment is left.
func (j *Reader) SkipMissing() bool {
	for _, p := range j.Segments() {
		if p > j.pos {
			j.pos, j.left, j.rest = p, 0, 0
			return true
		}
	}
	return false
}

// Segments returns the positions of the journal's segments.
func (j *Reader) Segments() []int64 {
	if j.Known != nil {
		return j.Known
	}
	return j.Files.Segments()
}

// begun reports whether a segment has a header. One that was only opened ahead holds zeros.
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
