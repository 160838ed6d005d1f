package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
)

// A tapeWriter moves the journal of one tape into the tape's file, block by block. The
// recording proxy does so in the background; if it was killed, another process that holds
// the tape's lock does.
type tapeWriter struct {
	store   *Store
	tape    string
	file    tapeFile // the tape's file, or a temporary one that becomes it
	journal journal.Reader
	d       *dissector
	codec   *codec // if several writers share it, only the holder of the turn may use it

	saved    *atomic.Int64 // journal position up to which everything is in the file
	gone     int64         // position up to which segments were removed
	indexed  time.Time     // when the catalogue was last updated
	indexing atomic.Bool   // the catalogue is being updated
	telling  sync.WaitGroup
}

// errOvertaken says that another process has written the current block.
var errOvertaken = errors.New("sealed by another process")

// indexEvery is the interval at which the catalogue is updated for a growing tape.
const indexEvery = 5 * time.Second

// newTapeWriter continues after the tape's last block, or begins the tape. It keeps its
// progress in position. known are the segments of a journal no longer being written,
// otherwise nil.
func newTapeWriter(s *Store, tape string, known []int64, position *atomic.Int64, c *codec) (*tapeWriter, error) {
	if name := disk.Remote(s.dir); name != "" {
		return nil, fmt.Errorf("%s is on %s, where locks do not hold", s.dir, name)
	}
	w := &tapeWriter{store: s, tape: tape, file: s.tapeFile(tape), saved: position, codec: c, journal: journal.Reader{Files: s.journal(tape), Known: known}}
	if err := w.resume(); err != nil {
		return nil, err
	}
	return w, nil
}

// resume restores the state in the tape's last block.
func (w *tapeWriter) resume() error {
	d, err := w.codec.resume(w.file)
	if errors.Is(err, os.ErrNotExist) {
		var start Start
		start, err = w.store.start(w.tape, w.journal.Segments())
		d = newDissector(Info{Tape: w.tape, Start: start})
	}
	if err != nil {
		return err
	}
	w.d = d
	w.journal.MoveTo(w.d.Position)
	w.gone = w.d.Position &^ (journal.SegmentSize - 1)
	w.saved.Store(w.d.Position)
	return nil
}

// writeBlocks writes the full blocks that the journal holds, and if rest is set the last
// one too, however small. When stop returns true, it stops early with io.ErrNoProgress.
func (w *tapeWriter) writeBlocks(rest bool, stop func() bool) error {
	for {
		if w.d.full() {
			if stop() {
				return io.ErrNoProgress
			}
			if err := w.writeBlock(false); err != nil {
				return err
			}
		}
		r, err := w.journal.Next()
		if err == io.EOF {
			break
		}
		if err == journal.ErrRemoved && w.journal.SkipMissing() {
			continue
		}
		if err == journal.ErrRemoved {
			break
		}
		if err != nil {
			return err
		}
		if w.store.testHook != nil {
			w.store.testHook(r.Payload)
		}
		if w.d.record(r) {
			w.journal.Advance(r)
		}
	}
	if !rest {
		return nil
	}
	if len(w.d.build.entries) > 0 || w.d.Position != w.saved.Load() {
		if stop() {
			return io.ErrNoProgress
		}
		if err := w.writeBlock(false); err != nil {
			return err
		}
	}
	w.d.build = builder{} // a resting tape keeps no space for a block
	return nil
}

// finish writes the rest of a tape that is no longer recorded, and removes its journal.
// The caller holds the tape's lock, and removes the lock file.
func (w *tapeWriter) finish(stop func() bool) error {
	for {
		if err := w.writeBlocks(false, stop); err != nil {
			return err
		}
		whole := w.d.end(w.d.full)
		if whole && w.d.Info.Complete && len(w.d.build.entries) == 0 {
			break
		}
		if stop() {
			return io.ErrNoProgress
		}
		if err := w.writeBlock(whole); err != nil {
			return err
		}
	}
	w.journal.Close() // Windows does not remove open files
	for _, p := range w.journal.Segments() {
		if err := os.Remove(w.journal.Files.Segment(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	w.index(true)
	return nil
}

// writeBlock writes the current block. complete says that it is the last one of the tape.
func (w *tapeWriter) writeBlock(complete bool) error {
	d := w.d
	d.Info.Complete = complete
	from := w.saved.Load()
	state, err := d.state()
	if err != nil {
		return err
	}
	head := d.head()
	head.From, head.To = from, d.Position
	s := w.codec.encode(head, &d.build, state)
	err = w.file.UpdateOrCreate(func(tx *bolt.Tx) error { return w.put(tx, s) })
	if err == errOvertaken {
		if err := w.resume(); err != nil {
			return err
		}
		if w.d.Index <= s.head.Index { // no other process has written it
			return fmt.Errorf("sealing tape %s: which of its blocks is the last: %w", w.tape, ErrDamaged)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("sealing tape %s: %w", w.tape, err)
	}
	w.saved.Store(d.Position)
	d.next()
	for ; w.gone+journal.SegmentSize <= d.Position; w.gone += journal.SegmentSize {
		os.Remove(w.journal.Files.Segment(w.gone)) // on failure it is removed at the end
	}
	if !complete { // otherwise the caller updates the catalogue
		w.index(false)
	}
	return nil
}

// put puts a block, and the facts that it changes, into the tape's file.
func (w *tapeWriter) put(tx *bolt.Tx, s encodedBlock) error {
	d := w.d
	tape, err := tx.CreateBucketIfNotExists(bucketTape)
	if err != nil {
		return err
	}
	blocks, err := tx.CreateBucketIfNotExists(bucketBlocks)
	if err != nil {
		return err
	}
	sealedBefore := tape.Get(keySealed)
	if _, err := decodeCheckpoint(sealedBefore); errors.Is(err, ErrNewer) {
		return err
	}
	if !isNext(s.head, tape, blocks) {
		return errOvertaken
	}
	head, err := s.head.encode()
	if err != nil {
		return err
	}
	// Each block has its own bucket: in a shared one, bbolt would rewrite the neighbours of
	// a new block.
	b, err := blocks.CreateBucket(s.head.key().encode())
	if err != nil {
		return err
	}
	info := d.info()
	old := tape.Get(keyInfo)
	if old != nil {
		var before Info
		if _, err := new(tags).decodeInfo(old, &before); err != nil {
			return err
		}
		info.Sessions = before.Sessions
	}
	more, err := putSessions(tx, d.sessionChanges)
	if err != nil {
		return err
	}
	info.Sessions += uint64(more)
	if err := dropState(blocks); err != nil {
		return err
	}
	to := checkpoint{s.head.Index, s.head.To, d.Taken}
	return errors.Join(
		b.Put(keyHead, head), b.Put(keyRows, s.rows), b.Put(keyBytes, s.bytes), b.Put(keyState, s.state),
		tape.Put(keyFormat, []byte(fmt.Sprint(Format))), tape.Put(keyInfo, encodeTags(&info, old)),
		tape.Put(keySealed, encodeTags(&to, sealedBefore)),
	)
}

// largeState is the size from which states of older blocks are dropped: with tens of
// thousands of open requests they would take more space than the traffic.
const largeState = 64 << 10

// dropState removes the state from the third-last block if it is large. Continuing a tape
// needs the state of the last block, or of the one before if that is damaged.
func dropState(blocks *bolt.Bucket) error {
	c := blocks.Cursor()
	c.Last()
	c.Prev()
	key, _ := c.Prev()
	if key == nil {
		return nil
	}
	b := blocks.Bucket(key)
	if b == nil || boltfile.CheckLeaf(b) != nil || len(b.Get(keyState)) < largeState {
		return nil
	}
	return b.Delete(keyState)
}

// putSessions adds what a block says about sessions, and returns how many more of them
// now exist.
func putSessions(tx *bolt.Tx, changes map[string]*SessionInfo) (more int, err error) {
	sessions, err := tx.CreateBucketIfNotExists(bucketSessions)
	if err != nil {
		return 0, err
	}
	for id, later := range changes {
		all := *later
		old := sessions.Get([]byte(id))
		if old != nil {
			all = SessionInfo{}
			if _, err = new(tags).decodeSession(old, &all); err != nil {
				return 0, err
			}
			if all.exists() {
				more--
			}
			all.extend(*later)
		}
		if all.exists() {
			more++
		}
		if err := sessions.Put([]byte(id), encodeTags(&all, old)); err != nil {
			return 0, err
		}
	}
	return more, nil
}

// isNext reports whether the block with that head follows the last one in the tape's
// file: another process may have written it in the meantime. Both the last block's key
// and keySealed show this; either may be damaged.
func isNext(head blockHead, tape, blocks *bolt.Bucket) bool {
	last := -1
	key, _ := blocks.Cursor().Last()
	if key, ok := parseBlockKey(key); ok {
		last = key.index
	}
	if last == head.Index-1 {
		return true
	}
	before, err := decodeCheckpoint(tape.Get(keySealed))
	return err == nil && before.index == head.Index-1 && before.position == head.From
}

// index updates the catalogue for the tape, either now and then or at once. That may have
// to wait for other processes, so it does not delay the blocks.
func (w *tapeWriter) index(now bool) {
	if now {
		w.telling.Wait()
		w.store.index(w.tape)
		return
	}
	if time.Since(w.indexed) < indexEvery || !w.indexing.CompareAndSwap(false, true) {
		return
	}
	w.indexed = time.Now()
	w.telling.Go(func() {
		w.store.index(w.tape)
		w.indexing.Store(false)
	})
}

// close ends the work, and waits for updates of the catalogue.
func (w *tapeWriter) close() {
	w.journal.Close()
	w.telling.Wait()
}
