package record

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/acptap/acptap/record/disk"

	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// Recover seals the journals that killed proxies left, and removes their unfinished
// files. It stops early when stop returns true. A journal that cannot be sealed stays,
// and can be read. progress, which may be nil, receives the number of journals done and
// the total.
func (s *Store) Recover(stop func() bool, progress func(done, total int)) error {
	return s.recoverAll(true, stop, progress)
}

// recoverAll is Recover. It tries journals that were set aside only if retry is set.
func (s *Store) recoverAll(retry bool, stop func() bool, progress func(done, total int)) error {
	var failed error
	journals := s.journals()
	for i, tape := range slices.Sorted(maps.Keys(journals)) {
		if stop() {
			return failed
		}
		if progress != nil {
			progress(i, len(journals))
		}
		if err := s.recoverTape(tape, journals[tape], retry, stop); err != nil {
			failed = errors.Join(failed, fmt.Errorf("tape %s: %w", tape, err))
		}
	}
	s.removeUnfinished()
	return failed
}

// recoverTape seals the journal of a tape. seen are the segments that the journal had
// when it was listed. If sealing panics, the journal is set aside, and retried only if
// retry is set.
func (s *Store) recoverTape(tape string, seen []int64, retry bool, stop func() bool) error {
	lock, err := disk.TryLock(s.lockFile(tape), false)
	if err != nil || lock == nil { // nil: another process is recording or recovering it
		return err
	}
	defer lock.Close()
	if asideFor(lock) != "" {
		if !retry {
			return nil
		}
		takeBack(lock)
	}
	err = guarded(func() error { return s.finish(tape, s.journal(tape).Grown(seen), stop) })
	if fault := faultIn(err); fault != nil {
		setAside(lock, fault)
		if s.OnError != nil {
			s.OnError(fmt.Errorf("the journal of tape %s is set aside, and acptap doctor names it: sealing it has failed: %w", tape, fault))
		}
	}
	if err != nil {
		return err
	}
	journal.RemoveSocket(journal.Socket(s.live(), tape))
	return disk.RemoveLocked(lock)
}

// finish seals the rest of a tape in those segments. The caller holds the tape's lock.
func (s *Store) finish(tape string, segments []int64, stop func() bool) error {
	if len(segments) == 0 && !s.hasFile(tape) {
		return nil // its proxy was killed before it created the journal
	}
	w, err := newTapeWriter(s, tape, segments, new(atomic.Int64), new(codec))
	if err != nil {
		return err
	}
	defer w.close()
	return w.finish(stop)
}

// removeUnfinished removes files that were being created by processes that have ended.
func (s *Store) removeUnfinished() {
	entries, _ := os.ReadDir(s.tapes())
	for _, e := range entries {
		// The process that creates the file of a tape holds the tape's lock.
		if tape, _, ok := strings.Cut(e.Name(), ".db"+disk.TempSuffix); ok && tapeid.IsValid(tape) && !s.isLive(tape) {
			os.Remove(filepath.Join(s.tapes(), e.Name()))
		}
	}
	entries, _ = os.ReadDir(s.dir)
	for _, e := range entries {
		if file, _, ok := strings.Cut(e.Name(), disk.TempSuffix); !ok || file != filepath.Base(s.catalogue().Path) && file != filepath.Base(s.notes().Path) {
			continue
		}
		if lock, err := disk.TryLock(filepath.Join(s.dir, e.Name()), false); err == nil && lock != nil {
			disk.RemoveLocked(lock)
		}
	}
}

// journals returns the tapes that have a journal, and the positions of its segments.
func (s *Store) journals() map[string][]int64 {
	journals := journal.List(s.live())
	maps.DeleteFunc(journals, func(tape string, _ []int64) bool { return !tapeid.IsValid(tape) })
	return journals
}

// start returns the beginning of a tape from its journal. If all headers are damaged, that
// is the time in the tape's id.
func (s *Store) start(tape string, segments []int64) (Start, error) {
	start, err := s.journal(tape).Start(segments)
	if err == nil && start.Time.IsZero() {
		start.Time = tapeid.Time(tape)
	}
	return start, err
}

// If sealing a journal panics, the journal is set aside: its lock file then holds the
// reason. Proxies leave such a journal alone, so that they do not panic too. Readers of the tape
// still read it, and Recover tries it again.

// setAside sets aside the journal whose lock is held.
func setAside(lock *os.File, why *fault) { lock.WriteAt([]byte(why.Error()), 0) }

// takeBack undoes setAside.
func takeBack(lock *os.File) { lock.Truncate(0) }

// asideFor returns why a journal was set aside, or "" if it was not.
func asideFor(lock *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(lock, 0, 8*maxFaultText))
	return string(text)
}

// aside is asideFor for a caller that does not hold the lock.
func (s *Store) aside(tape string) string {
	lock, err := disk.Open(s.lockFile(tape), os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer lock.Close()
	return asideFor(lock)
}
