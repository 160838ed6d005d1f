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
	"github.com/acptap/acptap/record/internal/guard"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// Recover seals the journals that killed proxies have left, until stop says so, and
// removes the files that they were making. Journals that cannot be sealed stay
// as they are, and can be read. progress, which may be nil, is told how many
// journals of how many were looked at.
func (s *Store) Recover(stop func() bool, progress func(done, total int)) error {
	return s.recoverAll(true, stop, progress)
}

// recoverAll is Recover; journals that were set aside are tried if retry is set.
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

// recoverTape seals the journal of a tape, with the segments that it was seen with. One
// that panics is set aside, and tried again only if retry is set.
func (s *Store) recoverTape(tape string, seen []int64, retry bool, stop func() bool) error {
	lock, err := disk.TryLock(s.lockFile(tape), false)
	if err != nil || lock == nil { // nil: recorded, or recovered, by another process
		return err
	}
	defer lock.Close()
	if asideFor(lock) != "" {
		if !retry {
			return nil
		}
		takeBack(lock)
	}
	err = guard.Run(func() error { return s.finish(tape, s.journal(tape).Grown(seen), stop) })
	if fault := guard.FaultIn(err); fault != nil {
		setAside(lock, fault)
		if s.OnError != nil {
			s.OnError(fmt.Errorf("the journal of tape %s is set aside, and acptap doctor names it: sealing it has failed: %w", tape, fault))
		}
	}
	if err != nil {
		return err
	}
	return disk.RemoveLocked(lock)
}

// finish seals all that is left of a tape, in those segments. The caller holds
// the tape's lock.
func (s *Store) finish(tape string, segments []int64, stop func() bool) error {
	if len(segments) == 0 && !s.hasFile(tape) {
		return nil // its proxy was killed before it began the journal
	}
	w, err := newTapeWriter(s, tape, segments, new(atomic.Int64))
	if err != nil {
		return err
	}
	defer w.close()
	return w.finish(stop)
}

// removeUnfinished removes files that processes were making which have ended.
func (s *Store) removeUnfinished() {
	entries, _ := os.ReadDir(s.tapes())
	for _, e := range entries {
		// Who makes the file of a tape holds the tape's lock.
		if tape, _, ok := strings.Cut(e.Name(), ".db"+disk.TempSuffix); ok && tapeid.IsValid(tape) && !s.isLive(tape) {
			os.Remove(filepath.Join(s.tapes(), e.Name()))
		}
	}
	entries, _ = os.ReadDir(s.dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(s.catalogue().Path)+disk.TempSuffix) {
			continue
		}
		if lock, err := disk.TryLock(filepath.Join(s.dir, e.Name()), false); err == nil && lock != nil {
			disk.RemoveLocked(lock)
		}
	}
}

// journals returns the tapes that are in live/, and where their segments stand.
func (s *Store) journals() map[string][]int64 {
	journals := journal.List(s.live())
	maps.DeleteFunc(journals, func(tape string, _ []int64) bool { return !tapeid.IsValid(tape) })
	return journals
}

// start returns what the journal of a tape says of its beginning. Where all
// headers are damaged, the tape's id tells when that was.
func (s *Store) start(tape string, segments []int64) (Start, error) {
	start, err := s.journal(tape).Start(segments)
	if err == nil && start.Time.IsZero() {
		start.Time = tapeid.Time(tape)
	}
	return start, err
}

// A journal of which the sealing has panicked is set aside: that stands in its
// lock file, with the reason. Proxies leave it alone, so that none runs into it
// again; who asks for it reads it all the same, and Recover tries again.

// setAside sets the journal aside whose lock is held.
func setAside(lock *os.File, why *guard.Fault) { lock.WriteAt([]byte(why.Error()), 0) }

// takeBack takes back what setAside said.
func takeBack(lock *os.File) { lock.Truncate(0) }

// asideFor returns why a journal was set aside; nothing if it was not.
func asideFor(lock *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(lock, 0, 8*guard.MaxText))
	return string(text)
}

// aside is asideFor for who does not hold the lock.
func (s *Store) aside(tape string) string {
	lock, err := disk.Open(s.lockFile(tape), os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer lock.Close()
	return asideFor(lock)
}
