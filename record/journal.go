package record

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

// A Journal records one tape. It is written by the proxy's pumps, each from its
// own goroutine. Behind it a sealer moves what was written into the tape's file.
type Journal struct {
	tape  string
	dir   string // live/ of the store
	start Start
	began time.Time // carries the monotonic clock
	lock  *os.File  // held while the journal is open

	mu      sync.Mutex
	seg     *os.File               // guarded by mu; nil once the journal is closed
	base    int64                  // guarded by mu: position of seg
	off     int64                  // guarded by mu: end of what was written to seg
	next    *os.File               // guarded by mu: the segment after seg, opened ahead; nil if there is none
	offsets [wire.Directions]int64 // guarded by mu: bytes seen of each direction
	lost    [wire.Directions]int64 // guarded by mu: bytes that are not in the journal and not yet marked as a gap
	buf     []byte                 // guarded by mu: one record
	room    int64                  // guarded by mu: what is set aside in a new segment
	told    bool                   // guarded by mu: of bytes or marks that could not be stored

	trouble func(error) // nil: nobody wants to know

	end     atomic.Int64   // position up to which the journal can be read
	full    chan struct{}  // a segment has ended: there is work for the sealer
	opening sync.WaitGroup // of the next segment
	sealed  atomic.Int64   // position up to which all is in the tape's file
	sealer  *sealer
}

// newJournal begins a tape in the store. The caller holds lock, the tape's lock file,
// and leaves it to the journal.
func newJournal(s *Store, tape string, start Start, began time.Time, lock *os.File) (*Journal, error) {
	j := &Journal{tape: tape, dir: s.live(), start: start, began: began, lock: lock, base: -segmentSize, full: make(chan struct{}, 1), trouble: s.Trouble}
	if err := j.advance(); err != nil {
		if j.next != nil {
			j.next.Close()
		}
		os.Remove(segmentPath(j.dir, tape, 0))
		return nil, err
	}
	return j, nil
}

// Tape returns the id of the tape that is being recorded.
func (j *Journal) Tape() string { return j.tape }

// Append records bytes before they are passed on. It does not keep p. An error
// means that they are not on the tape: they will show as a gap there.
func (j *Journal) Append(dir wire.Direction, origin wire.Origin, p []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var failed error
	for len(p) > 0 {
		n := min(len(p), recordSize)
		if err := j.append(dir, recordKind(origin), p[:n]); err != nil {
			failed = err
		}
		p = p[n:]
	}
	return failed
}

// EOF records that the writer of a direction closed it.
func (j *Journal) EOF(dir wire.Direction) { j.mark(dir, recEOF, wire.Marked{EOF: true}) }

// ReadFailed records that the stream of a direction could not be read on.
func (j *Journal) ReadFailed(dir wire.Direction, err error) {
	j.mark(dir, recError, wire.Marked{Error: err.Error()})
}

// Fault records that a part of acptap has failed, and does nothing any more.
func (j *Journal) Fault(err error) {
	j.mark(wire.AgentToClient, recFault, wire.Marked{Fault: err.Error()})
}

// Signal records that a signal was passed on to the agent.
func (j *Journal) Signal(sig os.Signal) {
	j.mark(wire.ClientToAgent, recSignal, wire.Marked{Signal: sig.String()})
}

// Exit records how the agent ended: its status, the signal that killed it or
// nil, and how many bytes of each direction reached the other side.
func (j *Journal) Exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	exit := &wire.Exit{Code: code, Delivered: delivered}
	if sig != nil {
		exit.Signal = sig.String()
	}
	j.mark(wire.AgentToClient, recExit, wire.Marked{Exit: exit})
}

// StartFailed records that there is no agent: it could not be started, and code
// is the status that tells so, as in a shell.
func (j *Journal) StartFailed(code int, err error) {
	j.mark(wire.AgentToClient, recExit, wire.Marked{Exit: &wire.Exit{Code: code, Error: err.Error()}})
}

// mark records an event. The bytes are safe already, so a failure is nothing
// that the caller could act on.
func (j *Journal) mark(dir wire.Direction, kind recordKind, m wire.Marked) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.append(dir, kind, m.JSON())
}

// append writes one record, and before it the gap that is still to be marked.
// Called with mu held.
func (j *Journal) append(dir wire.Direction, kind recordKind, p []byte) error {
	err := j.ready(kind)
	if err == nil {
		err = j.markGaps()
	}
	if err == nil {
		err = j.write(dir, kind, p)
	}
	if kind.isBytes() {
		j.offsets[dir] += int64(len(p))
		if err != nil {
			j.lost[dir] += int64(len(p))
		}
	}
	if err != nil && !j.told && j.seg != nil {
		j.told = true
		j.tell(fmt.Errorf("not all of tape %s is recorded: %w", j.tape, err))
	}
	return err
}

// tell tells of trouble.
func (j *Journal) tell(err error) {
	if j.trouble != nil {
		j.trouble(err)
	}
}

// ready reports why bytes should not be stored yet, after some could not be:
// small records would still fit here and there, and use up what is set aside for
// marks.
func (j *Journal) ready(kind recordKind) error {
	if !kind.isBytes() || j.lost == ([wire.Directions]int64{}) {
		return nil
	}
	return j.mayGrow()
}

// mayGrow reports why bytes should not go on in another segment: too much waits
// to be sealed already, or there would be no room for the segment after it,
// which is kept for marks. Called with mu held.
func (j *Journal) mayGrow() error {
	backlog := j.base + segmentSize - j.sealed.Load()
	if backlog > maxBacklog {
		return fmt.Errorf("%d bytes wait to be sealed", backlog)
	}
	free, err := disk.Free(j.dir)
	switch {
	case err != nil: // nobody knows
	case backlog > 16*segmentSize && free < minFree:
		return fmt.Errorf("%d bytes wait to be sealed, and only %d are free on the disk", backlog, free)
	case free < 2*segmentSize:
		return fmt.Errorf("only %d bytes are free on the disk", free)
	}
	return nil
}

func (j *Journal) markGaps() error {
	for dir := range wire.Directions {
		if j.lost[dir] == 0 {
			continue
		}
		if err := j.write(dir, recGap, wire.Marked{Gap: j.lost[dir]}.JSON()); err != nil {
			return err
		}
		j.lost[dir] = 0
	}
	return nil
}

// write puts a record behind the last one. A record that was written in part,
// as on a full disk, is overwritten by the next. Called with mu held.
func (j *Journal) write(dir wire.Direction, kind recordKind, p []byte) error {
	if j.seg == nil {
		return os.ErrClosed
	}
	size := int64(recordHead + len(p))
	if j.off+size > segmentSize {
		if kind.isBytes() {
			if err := j.mayGrow(); err != nil {
				return err
			}
		}
		if err := j.advance(); err != nil {
			return err
		}
	}
	j.buf = appendRecord(j.buf[:0], journalRecord{
		dir: dir, kind: kind, at: time.Since(j.began).Truncate(time.Microsecond), offset: uint32(j.offsets[dir]), payload: p,
	})
	if _, err := j.seg.WriteAt(j.buf, j.off); err != nil {
		if kind.isBytes() || j.next == nil || j.off == 0 {
			return err
		}
		// A mark fits on a full disk too: the next segment has room already.
		if err := j.advance(); err != nil {
			return err
		}
		if _, err := j.seg.WriteAt(j.buf, j.off); err != nil {
			return err
		}
	}
	j.off += size
	j.end.Store(j.base + j.off)
	return nil
}

// advance goes on in the next segment. Called with mu held.
func (j *Journal) advance() error {
	base := j.base + segmentSize
	head, err := segmentHead{
		Version: Format, Tape: j.tape, Position: base, Before: j.off, Offsets: j.offsets,
		Wall: time.Now().Round(0), At: time.Since(j.began), Start: j.start,
	}.encode()
	if err != nil {
		return err
	}
	j.room = int64(len(head)) + pageSize
	if j.next == nil {
		if j.next, err = createSegment(segmentPath(j.dir, j.tape, base), j.room); err != nil {
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
		default: // the sealer knows already
		}
	}
	j.seg, j.next, j.base, j.off = f, nil, base, int64(len(head))
	j.end.Store(base + j.off)
	j.opening.Go(j.prepare)
	return nil
}

// prepare opens the segment after the one that is being written, unless it is
// open: so no pump has to wait for it, and marks fit on a disk that is full.
func (j *Journal) prepare() {
	j.mu.Lock()
	base, room, wanted := j.base+segmentSize, j.room, j.next == nil && j.seg != nil
	j.mu.Unlock()
	if !wanted {
		return
	}
	f, err := createSegment(segmentPath(j.dir, j.tape, base), room)
	if err != nil {
		return // tried again later, and the pump that needs the segment will meet the error
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil && j.seg != nil && j.base+segmentSize == base {
		j.next = f
		return
	}
	f.Close() // a pump was faster, and has opened it
}

// sync makes durable what was written since position from, and returns the
// position of the segment from which to go on the next time.
func (j *Journal) sync(from int64) (int64, error) {
	j.mu.Lock()
	base := j.base
	j.mu.Unlock()
	for p := from &^ (segmentSize - 1); p <= base; p += segmentSize {
		f, err := disk.Open(segmentPath(j.dir, j.tape, p), os.O_WRONLY)
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

// segmentPath returns the name of the segment of tape at position.
func segmentPath(live, tape string, position int64) string {
	return pathOf(live, tape, fmt.Sprintf(".%016x", position))
}

// createSegment makes a segment in which the first size bytes have room, which
// is then certain if the disk fills up. One that is there already was opened
// ahead. One without room stays: somebody else may have found room for it.
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

// Close ends the tape. It seals what is left, for at most 50 ms: editors kill
// what takes longer. What is not sealed by then is a complete tape all the same,
// in its journal, and the next proxy seals it.
func (j *Journal) Close() error {
	j.stop()
	return j.sealer.stop()
}

// Wait returns when the work behind a closed journal has ended too, which Close
// does not wait for longer than 50 ms: only then is the tape not live any more.
func (j *Journal) Wait() { <-j.sealer.done }

// stop ends writing. What is in the journal stays.
func (j *Journal) stop() {
	j.mu.Lock()
	seg, next, base := j.seg, j.next, j.base+segmentSize
	j.seg, j.next = nil, nil
	j.mu.Unlock()
	j.opening.Wait()
	if seg != nil {
		seg.Close()
	}
	if next != nil {
		next.Close()
	}
	os.Remove(segmentPath(j.dir, j.tape, base)) // opened ahead, and not needed
}
