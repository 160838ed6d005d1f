package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/tapeid"
)

// The catalogue is one bbolt file with what listings need. The tapes are the
// truth: a tape that is not in the catalogue, or that has changed since, is read
// itself, and one that is only in the catalogue is none.
var bucketTapes = []byte("tapes") // tape → Info; its sessions are in bucketSessions: agent NUL session NUL tape → SessionInfo (facts_encoding.go)

// index tells the catalogue what the tape's file says. A failure leaves the
// catalogue as it was, and costs only time: listings then read the tape itself.
func (s *Store) index(tape string) error {
	facts, err := readFacts(s.tapeFile(tape))
	if err != nil {
		return err
	}
	write := func(tx *bolt.Tx) error {
		if err := s.checkCatalogue(tx); err != nil {
			return err
		}
		if knowsMore(tx, facts.info) || !s.hasFile(tape) { // deleted, and forgotten, while this waited
			return nil
		}
		if err := facts.put(tx); err != nil {
			return err
		}
		return put(tx, bucketTape, keyFormat, fmt.Append(nil, Format))
	}
	return s.catalogue().UpdateOrCreate(write)
}

// checkCatalogue returns why the catalogue is left alone: only a newer acptap can
// read and write it.
func (s *Store) checkCatalogue(tx *bolt.Tx) error {
	b := tx.Bucket(bucketTape)
	if b == nil {
		return nil
	}
	if err := disk.CheckNeeds(s.catalogue().String(), b.Get(keyHead)); err != nil {
		return err
	}
	if version, err := strconv.Atoi(string(b.Get(keyFormat))); err == nil && version > Format {
		return fmt.Errorf("%s: version %d: %w", s.catalogue(), version, ErrNewer)
	}
	return nil
}

// knowsMore reports whether the catalogue has a later state of the tape: what
// was read of it may have waited long for the catalogue's lock.
func knowsMore(tx *bolt.Tx, info Info) bool {
	b := tx.Bucket(bucketTapes)
	if b == nil {
		return false
	}
	var known Info
	_, err := new(tags).decodeInfo(b.Get([]byte(info.Tape)), &known)
	return err == nil && known.Complete && !info.Complete
}

// put is Bucket.Put for a bucket that may not be there yet.
func put(tx *bolt.Tx, bucket, key, value []byte) error {
	b, err := tx.CreateBucketIfNotExists(bucket)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

// key returns what the catalogue knows a session on one tape by.
func (s *SessionInfo) key() string { return s.Agent + "\x00" + s.ID + "\x00" + s.Runs[0].Tape }

// joinRuns makes sessions of what each tape tells of them. A run that begins with
// session/new begins another session, whatever its id: agents that forget their
// sessions count from one again in each process. What is loaded or deleted later
// is the latest in which something was said.
func joinRuns(runs []*SessionInfo) []SessionInfo {
	slices.SortFunc(runs, func(a, b *SessionInfo) int {
		return cmp.Or(a.Began().Compare(b.Began()), strings.Compare(a.Runs[0].Tape, b.Runs[0].Tape))
	})
	sessions := make([]SessionInfo, 0, len(runs))
	type name struct{ agent, id string }
	latest := make(map[name]int, len(runs)) // index in sessions
	for _, one := range runs {
		n := name{one.Agent, one.ID}
		i, ok := latest[n]
		if !ok || one.made {
			if !ok || one.Runs[0].Turns > 0 || sessions[i].Runs[0].Turns == 0 {
				latest[n] = len(sessions)
			}
			sessions = append(sessions, *one)
			continue
		}
		s := &sessions[i]
		s.describe(*one) // what it is called and where it is follows its latest run
		s.Runs = append(s.Runs, one.Runs...)
	}
	return sessions
}

// A Listing is what is in a store.
type Listing struct {
	Tapes    []Info
	Sessions []SessionInfo // without those that were deleted
	Deleted  []SessionInfo // of these the frames are still there, for what was forked from them
	Broken   []Broken      // tapes that cannot be read
	NotesErr error         // why the tags and notes on all tapes are missing, if they are
}

// Broken is a tape that cannot be read, and why.
type Broken struct {
	Tape string
	Err  error
}

// List returns all tapes, oldest first, and all sessions, by the time of their
// last frame, oldest first. Of a tape that is more than 8 MiB behind with sealing
// it tells what is sealed. A store that is not there is empty.
func (s *Store) List() (Listing, error) { return s.list(true) }

// ListRecorded is List as if nothing had been imported. What was imported
// becomes part of the sessions of the same agent and id that were recorded here,
// and anybody can have written it.
func (s *Store) ListRecorded() (Listing, error) { return s.list(false) }

func (s *Store) list(imported bool) (Listing, error) {
	ids, err := s.Tapes()
	if err != nil {
		return Listing{}, err
	}
	known, told, _ := s.readCatalogue(len(ids)) // without it the tapes are read themselves
	journals := s.journals()
	l := Listing{Tapes: make([]Info, 0, len(ids))}
	asKnown := make(map[string]bool, len(ids)) // their sessions are those of the catalogue
	runs := make([]*SessionInfo, 0, len(told))
	for _, tape := range ids {
		segments, waits := journals[tape]
		if info, ok := known[tape]; ok && info.Complete && !waits {
			if info.Imported && !imported {
				continue
			}
			asKnown[tape] = true
			l.Tapes = append(l.Tapes, *info)
			continue
		}
		info, more, err := s.listInfo(tape, segments)
		switch {
		case errors.Is(err, ErrNoTape): // deleted meanwhile
		case err == nil && info.Imported && !imported:
		case err != nil:
			asKnown[tape] = true
			l.Broken = append(l.Broken, Broken{tape, err})
		default:
			l.Tapes = append(l.Tapes, info)
			for i := range more {
				runs = append(runs, &more[i])
			}
		}
	}
	for _, one := range told {
		if asKnown[one.Runs[0].Tape] {
			runs = append(runs, one)
		}
	}
	l.addSessions(runs)
	s.addNotes(&l)
	return l, nil
}

// addSessions adds the sessions that these runs make up.
func (l *Listing) addSessions(runs []*SessionInfo) {
	runs = slices.DeleteFunc(runs, func(one *SessionInfo) bool { return one.Runs[0].Frames == 0 })
	for _, one := range joinRuns(runs) {
		switch {
		case !one.exists():
		case one.Deleted:
			l.Deleted = append(l.Deleted, one)
		default:
			l.Sessions = append(l.Sessions, one)
		}
	}
	for _, list := range [][]SessionInfo{l.Sessions, l.Deleted} {
		slices.SortFunc(list, func(a, b SessionInfo) int {
			return cmp.Or(a.Updated().Compare(b.Updated()), strings.Compare(a.ID, b.ID))
		})
	}
}

// Tapes returns the ids of all tapes, oldest first, without a look into them. A
// store that is not there is empty.
func (s *Store) Tapes() ([]string, error) {
	ids, _, err := s.files()
	return ids, err
}

// Live returns the ids of the tapes that are being recorded, oldest first, without a look
// into them.
func (s *Store) Live() []string {
	return tapeid.Sort(slices.DeleteFunc(slices.Collect(maps.Keys(s.journals())), func(tape string) bool { return !s.isLive(tape) }))
}

// files returns the ids of all tapes, oldest first, and the journals among them.
// Journals are looked for first: what is sealed meanwhile is among the tapes then.
func (s *Store) files() (ids []string, journals map[string][]int64, err error) {
	if err := s.checkOwner(); err != nil {
		return nil, nil, err
	}
	journals = s.journals()
	entries, err := os.ReadDir(s.tapes())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	ids = slices.Collect(maps.Keys(journals))
	for _, e := range entries {
		if tape, ok := strings.CutSuffix(e.Name(), ".db"); ok && tapeid.IsValid(tape) {
			ids = append(ids, tape)
		}
	}
	return tapeid.Sort(ids), journals, nil
}

// readCatalogue returns what the catalogue has, and of one that is damaged what
// could be read of it: tapes by their ids, and what each tells of its sessions. So
// many tapes are expected in it.
func (s *Store) readCatalogue(expected int) (tapes map[string]*Info, runs []*SessionInfo, err error) {
	tapes = make(map[string]*Info, expected)
	var t tags
	var infos batch[Info]
	var sessions batch[struct {
		SessionInfo
		run [1]Run
	}]
	err = s.catalogue().View(func(tx *bolt.Tx) error {
		if err := s.checkCatalogue(tx); err != nil {
			return err
		}
		err := boltfile.EachValue(tx.Bucket(bucketTapes), func(k, v []byte) error {
			info := infos.next()
			_, err := t.decodeInfo(v, info)
			if errors.Is(err, ErrNewer) {
				return nil // the tape itself tells what it needs
			}
			if err == nil && (info.Tape != string(k) || !tapeid.IsValid(info.Tape)) {
				err = fmt.Errorf("tape %q is said to be %q: %w", k, info.Tape, ErrDamaged)
			}
			if err == nil {
				tapes[info.Tape] = info
			}
			return err
		})
		if err != nil {
			return err
		}
		return boltfile.EachValue(tx.Bucket(bucketSessions), func(k, v []byte) error {
			next := sessions.next()
			one := &next.SessionInfo
			one.Runs = next.run[:]
			_, err := t.decodeSession(v, one)
			if errors.Is(err, ErrNewer) {
				return nil
			}
			if err == nil && one.key() != string(k) {
				err = fmt.Errorf("session %q is said to be %q: %w", k, one.key(), ErrDamaged)
			}
			if err == nil {
				runs = append(runs, one)
			}
			return err
		})
	})
	return tapes, runs, err
}

// A batch allocates many values, some at a time.
type batch[T any] struct{ free []T }

func (b *batch[T]) next() *T {
	if len(b.free) == 0 {
		b.free = make([]T, 32)
	}
	v := &b.free[0]
	b.free = b.free[1:]
	return v
}

// forget takes tapes, and what was said of sessions on them, out of the
// catalogue, and makes it anew: bbolt leaves what was deleted readable in pages
// that are free.
func (s *Store) forget(tapes []string) error {
	gone := map[string]bool{}
	for _, tape := range tapes {
		gone[tape] = true
	}
	err := s.catalogue().Update(func(tx *bolt.Tx) error {
		if err := s.checkCatalogue(tx); err != nil {
			return err
		}
		if b := tx.Bucket(bucketTapes); b != nil {
			for _, tape := range tapes {
				if err := b.Delete([]byte(tape)); err != nil {
					return err
				}
			}
		}
		b := tx.Bucket(bucketSessions)
		if b == nil {
			return nil
		}
		var keys [][]byte
		err := boltfile.EachValue(b, func(key, _ []byte) error {
			if gone[string(key[bytes.LastIndexByte(key, 0)+1:])] {
				keys = append(keys, bytes.Clone(key))
			}
			return nil
		})
		for _, key := range keys {
			err = errors.Join(err, b.Delete(key))
		}
		return err
	})
	if err == nil {
		err = s.catalogue().Compact()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Rebuild makes the catalogue anew from the tapes, and before that what the tapes
// themselves should tell, but do not, from their blocks. progress, which may be nil, is
// told how many tapes of how many are in it.
func (s *Store) Rebuild(progress func(done, total int)) error {
	if err := s.make(); err != nil {
		return err
	}
	failed := s.mendNotes()
	if err := os.Remove(s.catalogue().Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(s.tapes())
	if err != nil {
		return err
	}
	for i, e := range entries {
		if progress != nil {
			progress(i, len(entries))
		}
		if tape, ok := strings.CutSuffix(e.Name(), ".db"); ok && tapeid.IsValid(tape) {
			mended := s.mend(tape)
			failed = errors.Join(failed, cmp.Or(s.index(tape), mended)) // a tape that cannot be read fails in both
		}
	}
	return failed
}
