package frameindex

// Found is what a scan has found since it was taken last.
type Found struct {
	Matches  []Match
	Last     uint64 // all frames up to this one were looked at
	Complete bool   // all that was there at first was looked at
	Err      error  // of the last part that could not be read
}

// A Match is what is kept of a frame that is shown, in one word: there may be
// millions before they are taken.
type Match uint64

// NewMatch returns the match of a frame: head if it is not folded into the row before,
// problem and mark as the frame is.
func NewMatch(seq uint64, head, problem, mark bool) Match {
	s := Match(seq << 4)
	if head {
		s |= 1
	}
	if problem {
		s |= 2
	}
	if mark {
		s |= 4
	}
	return s
}

// goneMatch is of a frame that was shown, and is not any more.
func goneMatch(seq uint64) Match { return Match(seq<<4) | 8 }

func (s Match) seq() uint64   { return uint64(s >> 4) }
func (s Match) head() bool    { return s&1 != 0 } // it is not folded into the row before
func (s Match) problem() bool { return s&2 != 0 } // it is an error, an invalid line or a gap
func (s Match) gap() bool     { return s&6 == 6 }
func (s Match) gone() bool    { return s&8 != 0 }

// Matches are all that a scan has found.
type Matches struct {
	All, Heads, Problems NumberSet // frames that are shown; that begin a row; that are errors or gaps
	Gaps                 int       // of the problems
	Last                 uint64    // frames up to this one were looked at
	Complete             bool      // all that was there at first was
}

// Add adds what was found since.
func (m *Matches) Add(f Found) {
	for _, s := range f.Matches {
		seq := s.seq()
		if s.gone() {
			m.All.remove(seq)
			m.Heads.remove(seq)
			continue
		}
		m.All.add(seq)
		if s.head() {
			m.Heads.add(seq)
		}
		if s.problem() {
			m.Problems.add(seq)
		}
		if s.gap() {
			m.Gaps++
		}
	}
	m.Last, m.Complete = f.Last, f.Complete
}
