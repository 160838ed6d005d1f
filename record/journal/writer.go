package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
)

// A Writer writes the journal of one tape. Several goroutines may use it at once. Its
// owner stores what was written elsewhere, and reports its progress (Create).
type Writer struct {
	files Files
	start Start
	began time.Time // carries the monotonic clock

	mu      sync.Mutex
	seg     *os.File               // guarded by mu; nil once the journal is closed
	base    int64                  // guarded by mu: position of seg
	off     int64                  // guarded by mu: end of what was written to seg
	next    *os.File               // guarded by mu: the segment after seg, opened ahead; nil if there is none
	offsets [wire.Directions]int64 // guarded by mu: bytes seen of each direction
	lost    [wire.Directions]int64 // guarded by mu: bytes that are not in the journal and not yet marked as a gap
	buf     []byte                 // guarded by mu: one record
	room    int64                  // guarded by mu: space to reserve in a new segment
	sparing bool                   // the second segment is opened only when the first is half full, since one process may write many such journals
	needs   disk.Needs             // guarded by mu: of the segment that is being written
	streams streams                // guarded by mu
	told    bool                   // guarded by mu: an error has been reported
	closed  []*os.File             // guarded by mu: what Release closes

	onError func(error) // may be nil

	end     atomic.Int64   // position up to which the journal can be read
	full    chan struct{}  // a segment has ended
	opening sync.WaitGroup // of the next segment
	saved   *atomic.Int64  // position up to which the journal is in the tape's file
}

// Create creates the journal of a tape that began at the given time, which carries the
// monotonic clock. In saved the caller maintains the position up to which it has stored
// the records elsewhere. The rest is the backlog, which is limited. onError, which may be
// nil, is called once, when bytes could not be recorded.
func Create(files Files, start Start, began time.Time, saved *atomic.Int64, onError func(error)) (*Writer, error) {
	j := &Writer{files: files, start: start, began: began, base: -SegmentSize, full: make(chan struct{}, 1), saved: saved, onError: onError}
	if start.Transport != "" {
		j.needs, j.sparing = disk.Needs{disk.NeedsStreams}, true
	}
	if err := j.advance(); err != nil {
		if j.next != nil {
			j.next.Close()
		}
		os.Remove(files.Segment(0))
		return nil, err
	}
	return j, nil
}

// Tape returns the id of the tape that is being recorded.
func (j *Writer) Tape() string { return j.files.tape() }

// End returns the position up to which the journal can be read.
func (j *Writer) End() int64 { return j.end.Load() }

// Full receives a value when a segment has ended since the last receive.
func (j *Writer) Full() <-chan struct{} { return j.full }

// Append records bytes before they are passed on. It does not keep p. After an error the
// bytes are missing on the tape, which shows a gap.
func (j *Writer) Append(dir wire.Direction, origin wire.Origin, p []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.appendAll(dir, Kind(origin), 0, p)
}

// appendAll appends bytes as records of bounded size. Called with mu held.
func (j *Writer) appendAll(dir wire.Direction, kind Kind, slot uint16, p []byte) (failed error) {
	for len(p) > 0 {
		n := min(len(p), RecordSize)
		if err := j.append(dir, kind, slot, p[:n]); err != nil {
			failed = err
		}
		p = p[n:]
	}
	return failed
}

// EOF records that the writer of a direction closed it.
func (j *Writer) EOF(dir wire.Direction) { j.mark(dir, KindEOF, wire.Marked{EOF: true}) }

// ReadFailed records that reading the stream of a direction has failed.
func (j *Writer) ReadFailed(dir wire.Direction, err error) {
	j.mark(dir, KindReadError, wire.Marked{Error: err.Error()})
}

// Fault records that a part of acptap has failed and has stopped working.
func (j *Writer) Fault(err error) {
	j.mark(wire.AgentToClient, KindFault, wire.Marked{Fault: err.Error()})
}

// Signal records that a signal was passed on to the agent.
func (j *Writer) Signal(sig os.Signal) {
	j.mark(wire.ClientToAgent, KindSignal, wire.Marked{Signal: sig.String()})
}

// Note records the mark of a rule, before the frames it concerns, or of a load.
func (j *Writer) Note(dir wire.Direction, m wire.Marked) {
	if m.Rule != nil && len(m.Rule.Did) > maxNote {
		rule := *m.Rule
		rule.Did = wire.Clip(rule.Did, maxNote)
		m.Rule = &rule
	}
	j.mark(dir, KindRule, m)
}

// maxNote limits a mark, which must fit into one record: in the worst case JSON is six
// times as long.
const maxNote = 64 << 10

// Exit records how the agent ended: its status, the signal that killed it or nil, and how
// many bytes of each direction reached the other side.
func (j *Writer) Exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	exit := &wire.Exit{Code: code, Delivered: delivered}
	if sig != nil {
		exit.Signal = sig.String()
	}
	j.mark(wire.AgentToClient, KindExit, wire.Marked{Exit: exit})
}

// StartFailed records that the agent could not be started. code is the exit status
// that a shell uses for that.
func (j *Writer) StartFailed(code int, err error) {
	j.mark(wire.AgentToClient, KindExit, wire.Marked{Exit: &wire.Exit{Code: code, Error: err.Error()}})
}

// mark records an event. It returns no error, since the caller could not act on one.
func (j *Writer) mark(dir wire.Direction, kind Kind, m wire.Marked) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.append(dir, kind, 0, m.JSON())
}

// append writes one record, preceded by a mark for lost bytes if there are any. Called with
// mu held.
func (j *Writer) append(dir wire.Direction, kind Kind, slot uint16, p []byte) error {
	err := j.ready(kind)
	if err == nil {
		err = j.markGaps()
	}
	if err == nil {
		err = j.write(dir, kind, slot, p)
	}
	if kind.IsBytes() {
		j.offsets[dir] += int64(len(p))
		if err != nil {
			j.lost[dir] += int64(len(p))
		}
	}
	if err != nil {
		j.tell(err)
	}
	return err
}

// tell reports the first loss of data. Called with mu held.
func (j *Writer) tell(err error) {
	if j.told || j.seg == nil {
		return
	}
	j.told = true
	if j.onError != nil {
		j.onError(fmt.Errorf("not all of tape %s is recorded: %w", j.Tape(), err))
	}
}

// write writes a record after the last one. It overwrites one that was written only in
// part, as on a full disk. Called with mu held.
func (j *Writer) write(dir wire.Direction, kind Kind, slot uint16, p []byte) error {
	if j.seg == nil {
		return os.ErrClosed
	}
	size := int64(recordHead + len(p))
	if j.off+size > SegmentSize {
		if kind.IsBytes() {
			if err := j.mayGrow(); err != nil {
				return err
			}
		}
		if err := j.advance(); err != nil {
			return err
		}
	}
	j.buf = appendRecord(j.buf[:0], Record{
		Dir: dir, Kind: kind, Slot: slot, At: time.Since(j.began).Truncate(time.Microsecond), Offset: uint32(j.offsets[dir]), Payload: p,
	})
	if _, err := j.seg.WriteAt(j.buf, j.off); err != nil {
		if kind.IsBytes() || j.next == nil || j.off == 0 {
			return err
		}
		// A mark fits even on a full disk: the next segment has reserved space.
		if err := j.advance(); err != nil {
			return err
		}
		if _, err := j.seg.WriteAt(j.buf, j.off); err != nil {
			return err
		}
	}
	before := j.off
	j.off += size
	j.end.Store(j.base + j.off)
	if j.sparing && j.base == 0 && before < sparingUntil && j.off >= sparingUntil {
		j.opening.Go(j.Prepare)
	}
	return nil
}

// advance moves to the next segment. Called with mu held.
func (j *Writer) advance() error {
	base := j.base + SegmentSize
	head, err := segmentHead{
		Version: disk.Format, Needs: j.needs, Tape: j.Tape(), Position: base, Before: j.off, Offsets: j.offsets,
		Wall: time.Now().Round(0), At: time.Since(j.began), Start: j.start,
	}.encode()
	if err != nil {
		return err
	}
	j.room = int64(len(head)) + pageSize
	if j.next == nil {
		if j.next, err = createSegment(j.files.Segment(base), j.room); err != nil {
			return err
		}
	}
	f := j.next
	if _, err := f.WriteAt(head, 0); err != nil {
		return err
	}
	if j.seg != nil {
		j.seg.Close()
		select {
		case j.full <- struct{}{}:
		default: // the last value has not been received yet
		}
	}
	j.seg, j.next, j.base, j.off = f, nil, base, int64(len(head))
	j.end.Store(base + j.off)
	j.opening.Go(j.Prepare)
	return nil
}

// sparingUntil is the part of its first segment that a sparing Writer fills before
// opening the second.
const sparingUntil = SegmentSize / 2

// Prepare opens the next segment ahead of time. Pumps then need not wait for it, and marks
// fit even on a full disk.
func (j *Writer) Prepare() {
	j.mu.Lock()
	early := j.sparing && j.base == 0 && j.off < sparingUntil
	base, room, wanted := j.base+SegmentSize, j.room, j.next == nil && j.seg != nil && !early
	j.mu.Unlock()
	if !wanted {
		return
	}
	f, err := createSegment(j.files.Segment(base), room)
	if err != nil {
		return // tried again later; a pump that needs the segment gets the error
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil && j.seg != nil && j.base+SegmentSize == base {
		j.next = f
		return
	}
	f.Close() // a pump has opened it in the meantime
}

// Sync makes durable what was written since position from, and returns the position of the
// segment to continue from next time.
func (j *Writer) Sync(from int64) (int64, error) {
	j.mu.Lock()
	base := j.base
	j.mu.Unlock()
	for p := from &^ (SegmentSize - 1); p <= base; p += SegmentSize {
		f, err := disk.Open(j.files.Segment(p), os.O_WRONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue // sealed
		}
		if err == nil {
			err = errors.Join(disk.SyncData(f), f.Close())
		}
		if err != nil {
			return p, err
		}
	}
	return base, nil
}

// createSegment creates a segment and reserves its first size bytes, so they can be
// written even if the disk fills up. A segment that exists was opened ahead. If there is
// no space the file stays, since another goroutine may have found space.
func createSegment(path string, size int64) (*os.File, error) {
	f, err := disk.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := disk.Preallocate(f, size); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends writing, and keeps what is in the journal. It does not wait for the disk;
// Release does.
func (j *Writer) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = append(j.closed, j.seg, j.next)
	j.seg, j.next = nil, nil
}

// Release closes the files that Close left open.
func (j *Writer) Release() {
	j.opening.Wait()
	j.mu.Lock()
	files, ahead := j.closed, j.files.Segment(j.base+SegmentSize)
	j.closed = nil
	j.mu.Unlock()
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
	os.Remove(ahead) // not needed
}
