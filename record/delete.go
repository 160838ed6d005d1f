package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/tapeid"
)

// Delete removes tapes, including damaged ones and those still in the journal of a killed
// proxy. For a tape that is being recorded it returns ErrLive. Nothing of a deleted tape
// stays readable in the store. Delete returns the removed tapes, even together with an
// error.
func (s *Store) Delete(tapes ...string) (gone []string, err error) {
	journals := s.journals()
	for _, tape := range tapes {
		if failed := s.delete(tape, journals[tape]); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		gone = append(gone, tape)
	}
	if len(gone) > 0 {
		if failed := s.forget(gone); failed != nil {
			err = errors.Join(err, fmt.Errorf("the catalogue still has the titles of what was deleted; acptap doctor --rebuild makes it anew: %w", failed))
		}
	}
	return gone, errors.Join(err, s.notes().Forget(gone))
}

// delete removes a tape's files. segments are those that its journal had when it was
// listed.
func (s *Store) delete(tape string, segments []int64) error {
	if !s.hasTape(tape) {
		return fmt.Errorf("tape %s: %w", tape, ErrNoTape)
	}
	lock, err := disk.TryLock(s.lockFile(tape), false)
	for err == nil && lock == nil && s.hasJournal(tape) {
		if s.isLive(tape) {
			return fmt.Errorf("tape %s: %w", tape, ErrLive)
		}
		lock, err = disk.TryLock(s.lockFile(tape), false) // a reader was just checking whether it is live
	}
	if err != nil {
		return err
	}
	if lock != nil {
		defer lock.Close()
	}
	remove := []string{s.tapeFile(tape).Path}
	if lock != nil {
		segments = s.journal(tape).Grown(segments)
	}
	for _, p := range segments {
		remove = append(remove, s.journal(tape).Segment(p))
	}
	for _, path := range remove {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if lock != nil {
		disk.RemoveLocked(lock) // last: without it the segments cannot be found
	}
	return nil
}

// Sizes returns the disk space of each tape in bytes, including its journal.
func (s *Store) Sizes(tapes ...string) (map[string]int64, error) {
	journals := s.journals()
	sizes := make(map[string]int64, len(tapes))
	for _, tape := range tapes {
		if !tapeid.IsValid(tape) {
			return nil, fmt.Errorf("tape %q: %w", tape, ErrNoTape)
		}
		paths := []string{s.tapeFile(tape).Path}
		for _, p := range journals[tape] {
			paths = append(paths, s.journal(tape).Segment(p))
		}
		for _, path := range paths {
			switch fi, err := os.Lstat(path); {
			case err == nil:
				sizes[tape] += fi.Size()
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return sizes, nil
}
