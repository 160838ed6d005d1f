package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// A Store is a directory of tapes. Any number of processes may write and read
// it at once. Its methods may be called from several goroutines.
//
//	acptap.db        the catalogue: an index of the tapes that can be made anew
//	tapes/TAPE.db    a bbolt file for each tape
//	live/            journals of running proxies, and of killed ones until they are sealed
type Store struct {
	dir      string
	timeout  time.Duration        // how long to wait for a lock; 0: without end
	testHook func(payload []byte) // sees what is dissected; nil but in tests

	// OnError, if it is not nil, is told what goes wrong behind a Recorder, where
	// nobody asks: once for each kind of it, from any goroutine. It must not block,
	// for the traffic waits. It is set before Record.
	OnError func(error)
}

// lockTimeout is how long a command waits for a lock. The longest wait of
// twenty proxies and two readers is some hundred milliseconds
// (BenchmarkTwentyProxies), so who holds it longer is stopped or stuck.
const lockTimeout = 10 * time.Second

// OpenStore returns the store in dir. The directory need not exist: reading
// finds an empty store then, and recording makes it.
func OpenStore(dir string) *Store { return &Store{dir: dir, timeout: lockTimeout} }

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) live() string  { return filepath.Join(s.dir, "live") }
func (s *Store) tapes() string { return filepath.Join(s.dir, "tapes") }

func (s *Store) catalogue() boltfile.File {
	return boltfile.File{Path: filepath.Join(s.dir, "acptap.db"), LockTimeout: s.timeout}
}
func (s *Store) tapeFile(tape string) tapeFile {
	return tapeFile{boltfile.File{Path: tapeid.Path(s.tapes(), tape, ".db"), LockTimeout: s.timeout}, tape}
}
func (s *Store) journal(tape string) journal.Files {
	return journal.FilesAt(tapeid.Path(s.live(), tape, ""))
}
func (s *Store) lockFile(tape string) string { return s.journal(tape).Lock() }
func (s *Store) hasFile(tape string) bool    { return disk.Exists(s.tapeFile(tape).Path) }
func (s *Store) hasJournal(tape string) bool { return disk.Exists(s.lockFile(tape)) }

// Record begins a tape, and makes the store if there is none. The caller closes
// the journal.
func (s *Store) Record(start Start) (*Recorder, error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	began := time.Now()
	start.Time = began.Round(0)
	tape, lock, err := s.reserveID("", began)
	if err != nil {
		return nil, err
	}
	j, err := newRecorder(s, tape, start, began, lock)
	if err != nil {
		return nil, errors.Join(err, disk.RemoveLocked(lock))
	}
	j.flusher = startFlusher(j, s)
	return j, nil
}

// reserveID takes the lock of a tape that is not there yet, begun at t. Its id is
// wish, if there is one and that is free.
func (s *Store) reserveID(wish string, t time.Time) (tape string, lock *os.File, err error) {
	tape = wish
	if wish == "" || s.hasFile(wish) || s.hasJournal(wish) {
		tape = tapeid.New(t)
	}
	for range 8 {
		lock, err := disk.TryLock(s.lockFile(tape), true)
		switch {
		case err != nil:
			return "", nil, err
		case lock == nil: // the same id at the same moment, or taken for one that was left
		case s.hasFile(tape):
			disk.RemoveLocked(lock)
		default:
			return tape, lock, nil
		}
		tape = tapeid.New(t)
	}
	return "", nil, fmt.Errorf("no free id for a tape in %s", s.dir)
}

// make creates the directories. A store that somebody else owns is refused: its
// owner could read what is recorded.
func (s *Store) make() error {
	for _, dir := range []string{s.dir, s.live(), s.tapes()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return s.checkOwner()
}

func (s *Store) checkOwner() error {
	for _, dir := range []string{s.dir, s.live(), s.tapes()} {
		if err := checkDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkDir returns why a directory of a store cannot be one.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("the store needs a directory, and %s is none", dir)
	}
	other, err := disk.OwnedByOther(dir)
	if err == nil && other {
		err = fmt.Errorf("%s belongs to another user", dir)
	}
	return err
}

// isLive reports whether a proxy is recording the tape now.
func (s *Store) isLive(tape string) bool { return disk.IsLocked(s.lockFile(tape)) }
