package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
)

// tapeFacts are the facts of a tape and of its sessions in the tape's file.
type tapeFacts struct {
	info     Info
	sessions []SessionInfo
	all      bool // no fact known here is missing

	infoValue     []byte   // as stored; nil if the facts were counted
	sessionValues [][]byte // as stored; nil if the facts were counted
}

// readFacts returns the facts of a tape's file. If they are missing or damaged, it counts
// them from the blocks.
func readFacts(file tapeFile) (tapeFacts, error) {
	facts, err := storedFacts(file)
	if !errors.Is(err, ErrDamaged) {
		return facts, err
	}
	counted, failed := recount(file)
	if failed != nil {
		return facts, err
	}
	return tapeFacts{info: counted.info, sessions: counted.sessions}, nil
}

// storedFacts returns the facts stored in a tape's file. Facts of another tape count as
// damage.
func storedFacts(file tapeFile) (facts tapeFacts, err error) {
	err = file.View(func(tx *bolt.Tx) error {
		tape := tx.Bucket(bucketTape)
		if tape == nil {
			return fmt.Errorf("%s is no tape: %w", file, ErrDamaged)
		}
		value := tape.Get(keyInfo)
		var err error
		if facts.all, err = new(tags).decodeInfo(value, &facts.info); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := file.holds(facts.info.Tape); err != nil {
			return err
		}
		facts.infoValue = bytes.Clone(value)
		return boltfile.EachValue(tx.Bucket(bucketSessions), func(k, v []byte) error {
			var one SessionInfo
			all, err := new(tags).decodeSession(v, &one)
			if err == nil && (one.ID != string(k) || one.Runs[0].Tape != facts.info.Tape) {
				err = fmt.Errorf("%s: session %q is said to be %q of tape %q: %w", file, k, one.ID, one.Runs[0].Tape, ErrDamaged)
			}
			facts.sessions, facts.all = append(facts.sessions, one), facts.all && all
			facts.sessionValues = append(facts.sessionValues, bytes.Clone(v))
			return err
		})
	})
	return facts, err
}

// put puts the facts of a tape into the catalogue. It keeps unknown tags of the tape's
// file, or else of the catalogue.
func (f *tapeFacts) put(tx *bolt.Tx) error {
	tapes, err := tx.CreateBucketIfNotExists(bucketTapes)
	if err != nil {
		return err
	}
	key := []byte(f.info.Tape)
	old := f.infoValue
	if old == nil {
		old = tapes.Get(key)
	}
	if err := tapes.Put(key, encodeTags(&f.info, old)); err != nil {
		return err
	}
	sessions, err := tx.CreateBucketIfNotExists(bucketSessions)
	if err != nil {
		return err
	}
	for i := range f.sessions {
		one := &f.sessions[i]
		key := []byte(one.key())
		old := sessions.Get(key)
		if f.sessionValues != nil {
			old = f.sessionValues[i]
		}
		if err := sessions.Put(key, encodeTags(one, old)); err != nil {
			return err
		}
	}
	return nil
}

// mend counts the facts of a tape again and stores them, if some are missing or damaged.
func (s *Store) mend(tape string) error {
	file := s.tapeFile(tape)
	facts, err := storedFacts(file)
	damaged := errors.Is(err, ErrDamaged)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && facts.all:
		return nil
	case err != nil && !damaged:
		return err
	}
	counted, err := recount(file)
	if err != nil || !damaged && !counted.whole { // otherwise the stored facts say more
		return err
	}
	return file.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketTape)
		if !bytes.Equal(b.Get(keySealed), counted.sealed) { // it has grown, and is counted next time
			return nil
		}
		if err := b.Put(keyInfo, encodeTags(&counted.info, b.Get(keyInfo))); err != nil {
			return err
		}
		return mendSessions(tx, counted)
	})
}

// mendSessions stores the counted sessions of a tape. If a block could not be read, it
// keeps those stored sessions that are readable.
func mendSessions(tx *bolt.Tx, counted recounted) error {
	b, err := tx.CreateBucketIfNotExists(bucketSessions)
	if err != nil {
		return err
	}
	fresh := map[string][]byte{}
	for i := range counted.sessions {
		one := &counted.sessions[i]
		fresh[one.ID] = encodeTags(one, b.Get([]byte(one.ID)))
	}
	var gone []string
	err = boltfile.EachValue(b, func(k, v []byte) error {
		var one SessionInfo
		if all, err := new(tags).decodeSession(v, &one); err == nil && all && !counted.whole {
			delete(fresh, string(k))
		} else if fresh[string(k)] == nil && !errors.Is(err, ErrNewer) {
			gone = append(gone, string(k))
		}
		return nil
	})
	for _, id := range gone {
		err = errors.Join(err, b.Delete([]byte(id)))
	}
	for id, value := range fresh {
		err = errors.Join(err, b.Put([]byte(id), value))
	}
	return err
}
