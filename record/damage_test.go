//go:build linux

package record_test

import (
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// survivors are the frames that could be read in spite of damage.
type survivors struct {
	byText map[string]int
	marks  []wire.Marked
	last   dialect.Frame
	errs   []error
}

// survive reads a tape that may be damaged. Numbers and times go up all the same.
func survive(t testing.TB, tape *record.Tape) survivors {
	t.Helper()
	s := survivors{byText: map[string]int{}}
	for f, err := range tape.Frames(1) {
		if err != nil {
			s.errs = append(s.errs, err)
			continue
		}
		if f.Seq <= s.last.Seq || len(s.errs) == 0 && f.Seq != s.last.Seq+1 {
			t.Fatalf("frame %d after frame %d", f.Seq, s.last.Seq)
		}
		if s.last = f; f.Kind == wire.Mark {
			s.marks = append(s.marks, wire.ReadMark(f.Frame))
			continue
		}
		s.byText[string(f.Raw)]++
	}
	return s
}

// missing returns how many of the texts did not survive, and fails if one is
// there that was never written.
func (s survivors) missing(t testing.TB, texts []string) int {
	t.Helper()
	missing := 0
	left := len(s.byText)
	for _, text := range texts {
		if s.byText[text] == 0 {
			missing++
		} else {
			left--
		}
	}
	if left > missing { // what is torn off a line is a line
		t.Errorf("%d lines that nobody wrote", left)
	}
	return missing
}

// flip changes bits of one byte of a file, in place: to write all of it again is
// what takes most of the time.
func flip(t testing.TB, path string, at int, bits byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bits
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
}

func edit(t testing.TB, path string, f func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(f); err != nil {
		t.Fatal(err)
	}
}
