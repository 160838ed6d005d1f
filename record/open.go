package record

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// Open returns the tape with that id.
func (s *Store) Open(tape string) (*Tape, error) {
	if !s.hasTape(tape) {
		return nil, fmt.Errorf("tape %s: %w", tape, ErrNoTape)
	}
	t := &Tape{id: tape, from: boltBlocks{s.tapeFile(tape)}, store: s, codec: new(codec)}
	if segments := s.ended.of(tape); segments != nil {
		t.known = s.journal(tape).Grown(segments)
	}
	return t, nil
}

// endedJournals are the segments of journals that are no longer being written. Looking up
// those of one tape requires listing the directory, which is slow if it has thousands.
type endedJournals struct {
	mu     sync.Mutex
	byTape map[string][]int64 // guarded by mu
}

func (e *endedJournals) set(byTape map[string][]int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byTape = byTape
}

func (e *endedJournals) of(tape string) []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.byTape[tape])
}

// OpenFile opens a file that holds one tape: a tape's bbolt file, or a file in the
// portable form, which is read once and kept compressed in memory.
func OpenFile(path string) (*Tape, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if isBolt(f) {
		file := tapeFile{File: boltfile.File{Path: path, LockTimeout: lockTimeout}}
		if file.tape, err = ownID(file); err != nil {
			return nil, err
		}
		return &Tape{id: file.tape, from: boltBlocks{file}, codec: new(codec)}, nil
	}
	return ReadPortable(f, path)
}

// ownID returns the id that a file outside the store gives its tape.
func ownID(file tapeFile) (tape string, err error) {
	err = file.view(func(b, _ *bolt.Bucket) error {
		var info Info
		if _, err := new(tags).decodeInfo(b.Get(keyInfo), &info); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if tape = info.Tape; !tapeid.IsValid(tape) {
			return fmt.Errorf("%s says that it belongs to tape %q: %w", file, tape, ErrDamaged)
		}
		return nil
	})
	return tape, err
}

// isBolt checks the magic number in the first of bbolt's two meta pages. bbolt uses the
// second if the first is damaged.
func isBolt(f *os.File) bool {
	var b [20]byte
	_, err := f.ReadAt(b[:], 0)
	return err == nil && b[16] == 0xed && b[17] == 0xda && b[18] == 0x0c && b[19] == 0xed
}

// maxListed limits the bytes of a journal that a listing reads.
const maxListed = 8 << 20

// listInfo returns what a listing shows of a tape and its sessions: only the sealed part
// if much of the tape is still in its journal. segments are those that the journal had
// when it was listed.
func (s *Store) listInfo(tape string, segments []int64) (Info, []SessionInfo, error) {
	live := s.isLive(tape)
	if len(segments) > maxListed/journal.SegmentSize && s.hasFile(tape) {
		facts, err := readFacts(s.tapeFile(tape))
		facts.info.Live, facts.info.Partial = live, true
		return facts.info, facts.sessions, err
	}
	t, err := s.Open(tape)
	if err != nil {
		return Info{}, nil, err
	}
	if !live {
		t.known = segments
	}
	return t.facts()
}

// TapeID returns the id that ref names: an id in ids, or a part contained in only one of
// them.
func TapeID(ids []string, ref string) (string, error) {
	if strings.Trim(ref, "-") == "" {
		ids = nil // every id contains it, and it must not name the only one
	}
	var matches []string
	for _, id := range ids {
		if id == ref {
			return id, nil
		}
		if strings.Contains(id, ref) {
			matches = append(matches, id)
		}
	}
	switch len(matches) {
	case 0:
		return "", fmt.Errorf("%q: %w", ref, ErrNoTape)
	case 1:
		return matches[0], nil
	}
	return "", fmt.Errorf("%q is %w: it matches %d tapes, such as %s and %s", ref, ErrAmbiguous, len(matches), matches[0], matches[1])
}
