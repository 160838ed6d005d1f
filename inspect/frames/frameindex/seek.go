package frameindex

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Seek looks for the first frame that fits, from a number on.
type Seek struct {
	From, Step uint64                    // Step is 1 or Backward
	FieldsFit  func(*dialect.Frame) bool // gets the fields
	BytesFit   func(*dialect.Frame) bool // gets the bytes of frames whose fields fit; nil accepts all
}

// maxCandidates is how many frames are read at once. Even a backward search reads them
// forwards.
const maxCandidates = 1 << 10

// Run returns the first frame that fits, or 0 if there is none. The result means nothing if
// on has ended.
func (s *Seek) Run(c Columns, t *Timeline, on Progress) (found uint64, err error) {
	if s.BytesFit != nil {
		if t, err = t.Reopen(); err != nil {
			return 0, err
		}
	}
	for next := s.From; next != 0; {
		var some []uint64
		some, next = s.candidates(c, next, on)
		if s.BytesFit == nil || on.ctx.Err() != nil {
			return next, nil
		}
		if found := t.firstFit(some, s.BytesFit, on); found != 0 {
			return found, nil
		}
	}
	return 0, nil
}

// candidates returns frames near each other whose fields fit, and the next such frame, or 0
// if there is none.
func (s *Seek) candidates(c Columns, from uint64, on Progress) (some []uint64, next uint64) {
	next = c.Seek(from, s.Step, func(f *dialect.Frame) bool {
		n := len(some)
		switch {
		case !on.at(f.Seq):
			return true
		case !s.FieldsFit(f):
			return false
		case s.BytesFit == nil, n == maxCandidates, n > 0 && max(f.Seq, some[n-1])-min(f.Seq, some[n-1]) > farApart:
			return true
		}
		some = append(some, f.Seq)
		return false
	})
	return some, next
}

// firstFit returns the first of some frames that fits, or 0 if none does. They may be in
// falling order.
func (t *Timeline) firstFit(seqs []uint64, fits func(*dialect.Frame) bool, on Progress) uint64 {
	if len(seqs) == 0 {
		return 0
	}
	rising := slices.Sorted(slices.Values(seqs))
	forward := seqs[0] == rising[0]
	found := uint64(0)
	for f, err := range t.frames(rising[0]) {
		if !on.at(f.Seq) || err == nil && f.Seq > rising[len(rising)-1] {
			break
		}
		if _, wanted := slices.BinarySearch(rising, f.Seq); err != nil || !wanted || !fits(&f) {
			continue
		}
		if found = f.Seq; forward {
			break
		}
	}
	return found
}
