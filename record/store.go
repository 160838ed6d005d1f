package record

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
)

// A Store is a directory of tapes. Any number of processes may write and read it at once,
// and any number of goroutines may call its methods.
//
//	acptap.db        the catalogue: an index of the tapes, which can be rebuilt
//	notes.db         tags and notes that people write on tapes
//	key              for fingerprints of secrets (Key)
//	tapes/TAPE.db    a bbolt file for each tape
//	live/            journals of running proxies, and of killed ones until they are recovered
type Store struct {
	dir      string
	timeout  time.Duration        // limits the wait for a lock; 0: no limit
	testHook func(payload []byte) // sees what is dissected; nil except in tests
	shift    time.Duration        // of the clock; 0 except in tests
	sealer   *sealer              // of the journals that this process writes
	ended    endedJournals        // as of the last listing
	latest   latestTape

	// EndTime limits the total time for closing the Recorders, which seal the rest: 15 ms
	// if it is 0, since editors kill proxies that need longer. Set it before Record.
	EndTime time.Duration

	// OnError, if not nil, receives errors of a Recorder's background work, which no call
	// returns. It is called once for each kind of error, from any goroutine, and must not
	// block, since that delays the traffic. Set it before Record.
	OnError func(error)
}

// lockTimeout limits a command's wait for a lock. Among twenty proxies and two readers
// the longest wait is a few hundred milliseconds (BenchmarkTwentyProxies), so a process
// that holds a lock for longer is stopped or stuck.
const lockTimeout = 10 * time.Second

// OpenStore returns the store in dir. The directory need not exist: readers then find an
// empty store, and recording creates it.
func OpenStore(dir string) *Store {
	s := &Store{dir: dir, timeout: lockTimeout}
	s.sealer = newSealer(s)
	return s
}

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

// Record begins a tape, and creates the store if there is none. The caller closes
// the Recorder.
func (s *Store) Record(start Start) (*Recorder, error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	began := time.Now()
	start.Time = began.Round(0).Add(s.shift)
	tape, lock, err := s.reserveID("", s.latest.after(s, began, start.Time))
	if err != nil {
		return nil, err
	}
	j, err := newRecorder(s, tape, start, began, lock)
	if err != nil {
		return nil, errors.Join(err, disk.RemoveLocked(lock))
	}
	j.flusher = s.sealer.start(j)
	return j, nil
}

// A Recorder records one tape. The proxy's pumps write to its journal, each from its own
// goroutine. A flusher moves what was written into the tape's file.
type Recorder struct {
	*journal.Writer
	lock    *os.File     // held until all background work has ended
	saved   atomic.Int64 // position up to which the journal is in the tape's file
	flusher *flusher
}

// newRecorder begins a tape in the store. It takes over lock, the locked lock file of the
// tape.
func newRecorder(s *Store, tape string, start Start, began time.Time, lock *os.File) (*Recorder, error) {
	j := &Recorder{lock: lock}
	var err error
	j.Writer, err = journal.Create(s.journal(tape), start, began, &j.saved, s.OnError)
	return j, err
}

// Close ends the tape and seals the rest, within the store's EndTime. A tape that is not
// sealed by then is still complete in its journal, and the next proxy recovers it. Close
// may be called more than once.
func (j *Recorder) Close() error {
	j.Writer.Close()
	return j.flusher.stop()
}

// Wait waits for the background work of a closed Recorder, for which Close waits only
// briefly. The tape is live until that work has ended.
func (j *Recorder) Wait() { <-j.flusher.done }

// reserveID locks the id of a new tape that begins at t. The id is wish, unless that is
// empty or taken.
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
		case lock == nil: // the same id at the same moment, or another process mistook it for a leftover
		case s.hasFile(tape):
			disk.RemoveLocked(lock)
		default:
			return tape, lock, nil
		}
		tape = tapeid.New(t)
	}
	return "", nil, fmt.Errorf("no free id for a tape in %s", s.dir)
}

// make creates the directories. It refuses a store that belongs to another user, who
// could read the tapes.
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

// checkDir returns an error if dir cannot be a store's directory.
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

// keySize is the number of random bytes in a store's key.
const keySize = 32

// Key returns the store's own key for fingerprints of secrets. The first call creates it,
// and the store if there is none.
func (s *Store) Key() (redact.Key, error) {
	key, err := s.readKey()
	if err == nil {
		return key, nil
	}
	if err := s.make(); err != nil {
		return nil, err
	}
	f, err := disk.OpenLocked(s.keyFile(), os.O_RDWR|os.O_CREATE, false, s.timeout)
	if err != nil {
		return nil, fmt.Errorf("the store's key: %w", err)
	}
	defer f.Close()
	if key, err := s.readKey(); err == nil { // created while this waited for the lock
		return key, nil
	}
	key = make(redact.Key, keySize)
	rand.Read(key)
	if _, err := f.WriteAt(key, 0); err != nil {
		return nil, fmt.Errorf("the store's key: %w", err)
	}
	return key, disk.SyncData(f)
}

func (s *Store) keyFile() string { return filepath.Join(s.dir, "key") }

// readKey returns the key if it exists.
func (s *Store) readKey() (redact.Key, error) {
	f, err := disk.Open(s.keyFile(), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key := make(redact.Key, keySize)
	_, err = io.ReadFull(f, key)
	return key, err
}
