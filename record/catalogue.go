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

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/tapeid"
)

// The catalogue is one bbolt file with what listings need. The tapes are authoritative: a
// tape that is missing from the catalogue, or has changed since, is read itself, and an
// entry without a tape is ignored.
var bucketTapes = []byte("tapes") // tape → Info; its sessions are in bucketSessions: agent NUL session NUL tape → SessionInfo (facts_encoding.go)

// index updates the catalogue from the tape's file. A failure leaves the catalogue as it
// was, and costs only time: listings then read the tape itself.
func (s *Store) index(tape string) error {
	facts, err := readFacts(s.tapeFile(tape))
	if err != nil {
		return err
	}
	write := func(tx *bolt.Tx) error {
		if err := s.checkCatalogue(tx); err != nil {
			return err
		}
		if knowsMore(tx, facts.info) || !s.hasFile(tape) { // deleted and forgotten while this waited
			return nil
		}
		if err := facts.put(tx); err != nil {
			return err
		}
		return put(tx, bucketTape, keyFormat, fmt.Append(nil, Format))
	}
	return s.catalogue().UpdateOrCreate(write)
}

// checkCatalogue returns an error if only a newer acptap can read and write the catalogue.
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

// knowsMore reports whether the catalogue has a later state of the tape: the caller may
// have waited long for the catalogue's lock after reading the tape.
func knowsMore(tx *bolt.Tx, info Info) bool {
	b := tx.Bucket(bucketTapes)
	if b == nil {
		return false
	}
	var known Info
	_, err := new(tags).decodeInfo(b.Get([]byte(info.Tape)), &known)
	return err == nil && known.Complete && !info.Complete
}

// put is Bucket.Put for a bucket that may not exist yet.
func put(tx *bolt.Tx, bucket, key, value []byte) error {
	b, err := tx.CreateBucketIfNotExists(bucket)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

// key returns the key of a session on one tape in the catalogue.
func (s *SessionInfo) key() string { return s.Agent + "\x00" + s.ID + "\x00" + s.Runs[0].Tape }

// joinRuns joins the runs of sessions on several tapes. A run that begins with session/new
// begins another session, even if it has the same id: agents that forget their sessions count from one
// again in each process. A later load or delete refers to the latest session in which
// something was said.
func joinRuns(runs []*SessionInfo, setBack eras) []SessionInfo {
	slices.SortFunc(runs, func(a, b *SessionInfo) int {
		return cmp.Or(setBack.compare(a, b), a.Began().Compare(b.Began()), strings.Compare(a.Runs[0].Tape, b.Runs[0].Tape))
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
		s.describe(*one) // its title and directory are those of its latest run
		s.Runs = append(s.Runs, one.Runs...)
	}
	return sessions
}

// A Listing is the contents of a store.
type Listing struct {
	Tapes    []Info
	Sessions []SessionInfo // without deleted ones
	Deleted  []SessionInfo // their frames remain, for sessions forked from them
	Broken   []Broken      // tapes that cannot be read
	Held     error         // says who held the catalogue for too long, or nil; the tapes themselves were read
	NotesErr error         // why the tags and notes of all tapes are missing, or nil
}

// Costs returns what the sessions on each tape have cost since they began, one Cost per
// currency.
func (l *Listing) Costs() map[string][]dialect.Cost {
	costs := map[string][]dialect.Cost{}
	for _, sessions := range [][]SessionInfo{l.Sessions, l.Deleted} {
		for _, s := range sessions {
			for _, r := range s.Runs {
				if r.Cost.Currency != "" {
					costs[r.Tape] = plusCost(costs[r.Tape], r.Cost)
				}
			}
		}
	}
	return costs
}

// plusCost adds a cost to those per currency, which are ordered by currency.
func plusCost(costs []dialect.Cost, one dialect.Cost) []dialect.Cost {
	at, found := slices.BinarySearchFunc(costs, one.Currency, func(c dialect.Cost, currency string) int { return cmp.Compare(c.Currency, currency) })
	if !found {
		return slices.Insert(costs, at, one.Plus(0))
	}
	costs[at] = costs[at].Plus(one.Amount)
	return costs
}

// Broken is a tape that cannot be read, and the reason.
type Broken struct {
	Tape string
	Err  error
}

// List returns all tapes, oldest first, and all sessions, ordered by the time of their last
// frame. If more than 8 MiB of a tape are not sealed yet, List reports only the sealed
// part. A missing store counts as empty.
func (s *Store) List() (Listing, error) { return s.list(true) }

// ListRecorded is List without imported tapes. Their runs would otherwise join recorded
// sessions of the same agent and id, and anyone may have written them.
func (s *Store) ListRecorded() (Listing, error) { return s.list(false) }

func (s *Store) list(imported bool) (Listing, error) {
	ids, err := s.Tapes()
	if err != nil {
		return Listing{}, err
	}
	known, told, err := s.readCatalogue(len(ids)) // on an error the tapes themselves are read
	journals := s.journals()
	l := Listing{Tapes: make([]Info, 0, len(ids))}
	if disk.IsHeld(err) {
		l.Held = err
	}
	asKnown := make(map[string]bool, len(ids)) // their sessions come from the catalogue
	runs := make([]*SessionInfo, 0, len(told))
	ended := map[string][]int64{}
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
		if waits && err == nil && !info.Live {
			ended[tape] = segments
		}
		switch {
		case errors.Is(err, ErrNoTape): // deleted in the meantime
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
	s.ended.set(ended)
	l.addSessions(runs)
	s.addNotes(&l)
	return l, nil
}

// addSessions adds the sessions that consist of these runs.
func (l *Listing) addSessions(runs []*SessionInfo) {
	runs = slices.DeleteFunc(runs, func(one *SessionInfo) bool { return one.Runs[0].Frames == 0 })
	setBack := erasOf(l.Tapes)
	for _, one := range joinRuns(runs, setBack) {
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
			return cmp.Or(setBack.compare(&a, &b), a.Updated().Compare(b.Updated()), strings.Compare(a.ID, b.ID))
		})
	}
}

// Tapes returns the ids of all tapes, oldest first, without opening them. A missing store
// counts as empty.
func (s *Store) Tapes() ([]string, error) {
	ids, _, err := s.files()
	return ids, err
}

// Live returns the ids of the tapes that are being recorded, oldest first, without opening
// them.
func (s *Store) Live() []string {
	return tapeid.Sort(slices.DeleteFunc(slices.Collect(maps.Keys(s.journals())), func(tape string) bool { return !s.isLive(tape) }))
}

// files returns the ids of all tapes, oldest first, and their journals. It lists journals
// first, so a tape that is sealed in between is still found.
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

// readCatalogue returns the tapes in the catalogue by id, and the runs of their sessions.
// If the catalogue is damaged, it returns the readable part. expected is the likely
// number of tapes.
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
				return nil // the tape itself says what it needs
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

// A batch allocates values in groups.
type batch[T any] struct{ free []T }

func (b *batch[T]) next() *T {
	if len(b.free) == 0 {
		b.free = make([]T, 32)
	}
	v := &b.free[0]
	b.free = b.free[1:]
	return v
}

// forget removes tapes and their sessions from the catalogue, and compacts it: bbolt leaves
// deleted values readable in free pages.
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

// Rebuild recreates the catalogue from the tapes. First it recovers facts that are
// missing in a tape from its blocks. progress, which may be nil, receives the number of
// tapes done and the total.
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
			failed = errors.Join(failed, cmp.Or(s.index(tape), mended)) // an unreadable tape fails in both
		}
	}
	return failed
}
