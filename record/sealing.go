package record

import (
	"encoding/json"
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

// A sealing moves the journal of one tape into the tape's file, block by block.
// The proxy that records does it behind its own work; for one that was killed
// somebody else does, who holds the tape's lock.
type sealing struct {
	store   *Store
	tape    string
	file    tapeFile // the tape's, or one that will be
	journal journal.Reader
	d       *dissector
	codec   codec

	sealed   *atomic.Int64 // journal position up to which all is sealed
	gone     int64         // position up to which segments were removed
	indexed  time.Time     // when the catalogue was last told
	indexing atomic.Bool   // it is being told
	telling  sync.WaitGroup
}

// Names in a tape's file.
var (
	bucketTape     = []byte("tape") // facts of the tape, and the sealed position
	bucketBlocks   = []byte("blocks")
	bucketSessions = []byte("sessions")
	keyInfo        = []byte("info")
	keyFormat      = []byte("format")
	keySealed      = []byte("sealed")
	keyHead        = []byte("head")
	keyRows        = []byte("rows")
	keyBytes       = []byte("bytes")
	keyState       = []byte("state")
)

// errOvertaken says that somebody else has sealed the block at hand.
var errOvertaken = errors.New("sealed by another process")

// indexEvery is how often the catalogue is told of a tape that grows.
const indexEvery = 5 * time.Second

// newSealing goes on where the tape's last block ends, or begins the tape. How
// far it is sealed is kept in position.
//
// known are the segments of a journal that nobody writes, else nil.
func newSealing(s *Store, tape string, known []int64, position *atomic.Int64) (*sealing, error) {
	if name := disk.Remote(s.dir); name != "" {
		return nil, fmt.Errorf("%s is on %s, where locks do not hold", s.dir, name)
	}
	k := &sealing{store: s, tape: tape, file: s.tapeFile(tape), sealed: position, journal: journal.Reader{Files: s.journal(tape), Known: known}}
	if err := k.resume(); err != nil {
		return nil, err
	}
	return k, nil
}

// resume takes over the state in the tape's last block.
func (k *sealing) resume() error {
	d, err := k.codec.resume(k.file)
	if errors.Is(err, os.ErrNotExist) {
		var start Start
		start, err = k.store.start(k.tape, k.journal.Segments())
		d = newDissector(Info{Tape: k.tape, Start: start})
	}
	if err != nil {
		return err
	}
	k.d = d
	k.journal.MoveTo(k.d.Position)
	k.gone = k.d.Position &^ (journal.SegmentSize - 1)
	k.sealed.Store(k.d.Position)
	return nil
}

// run seals what the journal holds: full blocks, and if rest is set the last one
// too, however small. It stops early, with io.ErrNoProgress, when stop says so.
func (k *sealing) run(rest bool, stop func() bool) error {
	for {
		if k.d.full() {
			if stop() {
				return io.ErrNoProgress
			}
			if err := k.seal(false); err != nil {
				return err
			}
		}
		r, err := k.journal.Next()
		if err == io.EOF {
			break
		}
		if err == journal.ErrRemoved && k.journal.SkipMissing() {
			continue
		}
		if err == journal.ErrRemoved {
			break
		}
		if err != nil {
			return err
		}
		if k.store.look != nil {
			k.store.look(r.Payload)
		}
		if k.d.record(r) {
			k.journal.Advance(r)
		}
	}
	if !rest || len(k.d.build.entries) == 0 && k.d.Position == k.sealed.Load() {
		return nil
	}
	if stop() {
		return io.ErrNoProgress
	}
	return k.seal(false)
}

// finish seals all that is left of a tape that nobody writes any more, and
// removes its journal. The caller holds the tape's lock, and removes that.
func (k *sealing) finish(stop func() bool) error {
	for {
		if err := k.run(false, stop); err != nil {
			return err
		}
		k.d.flush()
		if k.d.Info.Complete && len(k.d.build.entries) == 0 {
			break
		}
		if stop() {
			return io.ErrNoProgress
		}
		if err := k.seal(true); err != nil {
			return err
		}
	}
	k.journal.Close() // Windows does not remove what is open
	for _, p := range k.journal.Segments() {
		if err := os.Remove(k.journal.Files.Segment(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	k.index(true)
	return nil
}

// seal writes the block at hand. complete says that it is the tape's last.
func (k *sealing) seal(complete bool) error {
	d := k.d
	d.Info.Complete = complete
	from := k.sealed.Load()
	state, err := d.state()
	if err != nil {
		return err
	}
	s := k.codec.seal(blockHead{
		Version: Format, Tape: k.tape, Index: d.Index, First: d.first,
		From: from, To: d.Position,
	}, &d.build, state)
	write := func(tx *bolt.Tx) error { return k.write(tx, s) }
	err = k.file.Update(write)
	if errors.Is(err, os.ErrNotExist) {
		err = k.file.Create(write)
	}
	if err == errOvertaken {
		if err := k.resume(); err != nil {
			return err
		}
		if k.d.Index <= s.head.Index { // nobody has sealed it
			return fmt.Errorf("sealing tape %s: which of its blocks is the last: %w", k.tape, ErrDamaged)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("sealing tape %s: %w", k.tape, err)
	}
	k.sealed.Store(d.Position)
	d.next()
	for ; k.gone+journal.SegmentSize <= d.Position; k.gone += journal.SegmentSize {
		os.Remove(k.journal.Files.Segment(k.gone)) // one that stays is removed at the end
	}
	if !complete { // else the caller tells the catalogue
		k.index(false)
	}
	return nil
}

// write puts a block and what it changes into the tape's file.
func (k *sealing) write(tx *bolt.Tx, s sealed) error {
	d := k.d
	tape, err := tx.CreateBucketIfNotExists(bucketTape)
	if err != nil {
		return err
	}
	blocks, err := tx.CreateBucketIfNotExists(bucketBlocks)
	if err != nil {
		return err
	}
	sealedBefore := tape.Get(keySealed)
	if _, err := decodeSealedTo(sealedBefore); errors.Is(err, ErrNewer) {
		return err
	}
	if !isNext(s.head, tape, blocks) {
		return errOvertaken
	}
	head, err := json.Marshal(s.head)
	if err != nil {
		return err
	}
	// A bucket of its own for each block: in one bucket bbolt would write the
	// neighbours of a new block again with it.
	b, err := blocks.CreateBucket(s.head.key())
	if err != nil {
		return err
	}
	info := d.info()
	old := tape.Get(keyInfo)
	if old != nil {
		var before Info
		if _, err := decodeInfo(old, &before); err != nil {
			return err
		}
		info.Sessions = before.Sessions
	}
	more, err := putSessions(tx, d.touched)
	if err != nil {
		return err
	}
	info.Sessions += uint64(more)
	if err := dropState(blocks); err != nil {
		return err
	}
	to := sealedTo{s.head.Index, s.head.To, d.Taken}
	return errors.Join(
		b.Put(keyHead, head), b.Put(keyRows, s.rows), b.Put(keyBytes, s.bytes), b.Put(keyState, s.state),
		tape.Put(keyFormat, []byte(fmt.Sprint(Format))), tape.Put(keyInfo, info.encode(old)),
		tape.Put(keySealed, to.encode(sealedBefore)),
	)
}

// largeState is the size from which a state is not kept with each block: tens of
// thousands of open requests would take more room than the traffic.
const largeState = 64 << 10

// dropState removes the state from the block before the last two, if it is large.
// Who goes on behind a tape needs that of the last block, or of the one before
// where that is damaged.
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

// putSessions adds what a block tells of sessions, and returns how many more of
// them there are.
func putSessions(tx *bolt.Tx, touched map[string]*SessionInfo) (more int, err error) {
	sessions, err := tx.CreateBucketIfNotExists(bucketSessions)
	if err != nil {
		return 0, err
	}
	for id, later := range touched {
		all := *later
		old := sessions.Get([]byte(id))
		if old != nil {
			all = SessionInfo{}
			if _, err = decodeSession(old, &all); err != nil {
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
		if err := sessions.Put([]byte(id), all.encode(old)); err != nil {
			return 0, err
		}
	}
	return more, nil
}

// isNext reports whether the block with that head follows the last one in the
// tape's file: somebody else may have sealed it meanwhile. The last one's key
// says so and keySealed, of which one may be damaged.
func isNext(head blockHead, tape, blocks *bolt.Bucket) bool {
	last := -1
	if key, _ := blocks.Cursor().Last(); key != nil {
		last = keyIndex(key)
	}
	if last == head.Index-1 {
		return true
	}
	before, err := decodeSealedTo(tape.Get(keySealed))
	return err == nil && before.index == head.Index-1 && before.position == head.From
}

// index tells the catalogue of the tape, now and then, or at once. That may have
// to wait for other processes, so it does not hold up sealing.
func (k *sealing) index(now bool) {
	if now {
		k.telling.Wait()
		k.store.index(k.tape)
		return
	}
	if time.Since(k.indexed) < indexEvery || !k.indexing.CompareAndSwap(false, true) {
		return
	}
	k.indexed = time.Now()
	k.telling.Go(func() {
		k.store.index(k.tape)
		k.indexing.Store(false)
	})
}

// close ends the work, and waits for what it has begun.
func (k *sealing) close() {
	k.journal.Close()
	k.telling.Wait()
}
