// Package journal has the file that is written while traffic passes: one append for each
// read of a pump, without parsing. A Writer appends records, and a Reader reads them,
// during or after writing.
//
// A journal survives the process that writes it. Damage costs only the damaged record: a
// reader finds the next one and reports how many bytes it skipped. A full disk costs only
// the bytes that did not fit, and the journal records their number as soon as there is
// space again. A power failure may cost what was written within the last second (Sync).
// The package does not know what the bytes mean.
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

// Files are the files of one tape's journal: the segments, and a lock file, which is
// locked while a process writes or recovers the journal.
type Files struct{ path string }

// FilesAt returns the files whose paths begin with path. The last element of path is
// the tape's id.
func FilesAt(path string) Files { return Files{path} }

func (f Files) tape() string { return filepath.Base(f.path) }

// Lock returns the path of the lock file.
func (f Files) Lock() string { return f.path + "." + lockEnding }

// Segment returns the path of the segment that begins at position.
func (f Files) Segment(position int64) string { return fmt.Sprintf("%s.%016x", f.path, position) }

// Segments returns the positions of the segments that exist, in order.
func (f Files) Segments() []int64 {
	dir, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // os.ReadDir would also sort what may be thousands of other tapes
	prefix := f.tape() + "."
	var at []int64
	for _, name := range names {
		ending, ok := strings.CutPrefix(name, prefix)
		if p, valid := segmentPosition(ending); ok && valid {
			at = append(at, p)
		}
	}
	slices.Sort(at)
	return at
}

// Grown returns the positions of the segments seen earlier and of those added since. If
// the last one seen is gone, others may have come or gone as well, and Grown lists all of
// them.
func (f Files) Grown(seen []int64) []int64 {
	if len(seen) == 0 || !disk.Exists(f.Segment(seen[len(seen)-1])) {
		return f.Segments()
	}
	for next := seen[len(seen)-1] + SegmentSize; disk.Exists(f.Segment(next)); next += SegmentSize {
		seen = append(seen, next)
	}
	return seen
}

// Start returns the beginning of the tape from the headers of those segments, or the zero
// Start if all headers are damaged.
func (f Files) Start(segments []int64) (Start, error) {
	for _, p := range segments {
		for _, size := range [...]int64{minBuffer, SegmentSize} { // few headers are long
			r := Reader{Files: f, pos: p, End: func() int64 { return p + size }}
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
	}
	return Start{}, nil
}

const lockEnding = "lock"

// List returns the tapes that have a lock file in dir, and the positions of their segments,
// in order.
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
		journals[tape] = slices.Sorted(slices.Values(journals[tape])) // even if there are none
	}
	return journals
}

// segmentPosition returns the position that the name of a segment ends with.
func segmentPosition(ending string) (at int64, ok bool) {
	at, err := strconv.ParseInt(ending, 16, 64)
	return at, err == nil && len(ending) == 16
}
