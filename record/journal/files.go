// Package journal has the file that is written while traffic passes: one append
// for each read of a pump, no parsing. A Writer appends records to it, and a Reader
// reads them, while it is written or afterwards.
//
// What is in it survives the process that wrote it. Damage costs the record that is
// damaged: a reader finds the next one, and says how many bytes it passed over. A
// disk that is full costs what did not fit: the journal says how much that is, as
// soon as there is room for it again. What the bytes mean it does not know.
package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/record/disk"
)

// Files are the files of one tape's journal: a lock file, which is locked as long
// as somebody writes the journal, and the segments.
type Files struct{ path string }

// FilesAt returns the files whose paths begin with path, of which the last element
// is the tape's id.
func FilesAt(path string) Files { return Files{path} }

func (f Files) tape() string { return filepath.Base(f.path) }

// Lock returns the path of the lock file.
func (f Files) Lock() string { return f.path + "." + lockEnding }

// Segment returns the path of the segment that begins at position.
func (f Files) Segment(position int64) string { return fmt.Sprintf("%s.%016x", f.path, position) }

// Segments returns the positions of the segments that are there, in order.
func (f Files) Segments() []int64 {
	entries, _ := os.ReadDir(filepath.Dir(f.path))
	var at []int64
	for _, e := range entries {
		ending, ok := strings.CutPrefix(e.Name(), f.tape()+".")
		if p, valid := segmentPosition(ending); ok && valid {
			at = append(at, p)
		}
	}
	slices.Sort(at)
	return at
}

// Grown returns the positions of the segments: those that were seen, and those
// that were begun since. Where the last one that was seen is gone, who records has
// sealed it meanwhile, and nobody knows how far the others are.
func (f Files) Grown(seen []int64) []int64 {
	if len(seen) == 0 || !disk.Exists(f.Segment(seen[len(seen)-1])) {
		return f.Segments()
	}
	for next := seen[len(seen)-1] + SegmentSize; disk.Exists(f.Segment(next)); next += SegmentSize {
		seen = append(seen, next)
	}
	return seen
}

// Start returns what the headers of those segments say of the tape's beginning;
// the zero Start where all are damaged.
func (f Files) Start(segments []int64) (Start, error) {
	for _, p := range segments {
		r := Reader{Files: f, pos: p}
		err := r.open()
		if err == nil {
			err = r.fill()
		}
		r.Close()
		if errors.Is(err, disk.ErrNewer) {
			return Start{}, err
		}
		if err == nil && !r.start.Time.IsZero() {
			return r.start, nil
		}
	}
	return Start{}, nil
}

const lockEnding = "lock"

// List returns the tapes that have a lock file in a directory, and where their
// segments stand, in order.
func List(dir string) map[string][]int64 {
	journals, locked := map[string][]int64{}, map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		tape, ending, _ := strings.Cut(e.Name(), ".")
		if ending == lockEnding {
			locked[tape] = true
		} else if at, ok := segmentPosition(ending); ok {
			journals[tape] = append(journals[tape], at)
		}
	}
	maps.DeleteFunc(journals, func(tape string, _ []int64) bool { return !locked[tape] })
	for tape := range locked {
		journals[tape] = slices.Sorted(slices.Values(journals[tape])) // also where there are none
	}
	return journals
}

// segmentPosition returns the position that the name of a segment ends with.
func segmentPosition(ending string) (at int64, ok bool) {
	at, err := strconv.ParseInt(ending, 16, 64)
	return at, err == nil && len(ending) == 16
}
