package frameindex

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Seek looks for a frame from one on.
type Seek struct {
	From, Step uint64                    // Step is 1 or Backward
	May        func(*dialect.Frame) bool // is given the fields
	Fits       func(*dialect.Frame) bool // is given the bytes of those that may; nil: all of them do
}

// maxCandidates is how many frames are read at once: on the way to the
// beginning too they are read forwards.
const maxCandidates = 1 << 10

// Run returns the first frame that fits, 0 if there is none or on has ended.
func (s *Seek) Run(c Columns, t *Timeline, on Progress) (found uint64, err error) {
	if s.Fits != nil {
		if t, err = t.Reopen(); err != nil {
			return 0, err
		}
	}
	for next := s.From; next != 0; {
		var some []uint64
		some, next = s.candidates(c, next, on)
		if s.Fits == nil || on.ctx.Err() != nil {
			return next, nil
		}
		if found := t.firstFit(some, s.Fits, on); found != 0 {
			return found, nil
		}
	}
	return 0, nil
}

// candidates returns frames near each other that may fit, and the next one that
// may, 0 if there is none.
func (s *Seek) candidates(c Columns, from uint64, on Progress) (some []uint64, next uint64) {
	next = c.Seek(from, s.Step, func(f *dialect.Frame) bool {
		n := len(some)
		switch {
		case !on.at(f.Seq):
			return true
		case !s.May(f):
			return false
		case s.Fits == nil, n == maxCandidates, n > 0 && max(f.Seq, some[n-1])-min(f.Seq, some[n-1]) > farApart:
			return true
		}
		some = append(some, f.Seq)
		return false
	})
	return some, next
}

// firstFit returns the first of some frames that fits, 0 if none does. They may
// be in falling order.
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
