package frameindex

// Found is what a scan has found since the last Take.
type Found struct {
	Matches  []Match
	Last     uint64 // all frames up to this one were looked at
	Complete bool   // all that was there at first was looked at
	Err      error  // of the last part that could not be read
}

// A Match is a frame that is shown, in one word, since millions may wait to be taken.
type Match uint64

// NewMatch returns the match of a frame: head if it is not folded into the row before,
// failure if it is one.
func NewMatch(seq uint64, head, failure bool) Match {
	s := Match(seq << 3)
	if head {
		s |= 1
	}
	if failure {
		s |= 2
	}
	return s
}

// goneMatch is of a frame that was shown, and is not any more.
func goneMatch(seq uint64) Match { return Match(seq<<3) | 4 }

func (s Match) seq() uint64   { return uint64(s >> 3) }
func (s Match) head() bool    { return s&1 != 0 } // it is not folded into the row before
func (s Match) failure() bool { return s&2 != 0 }
func (s Match) gone() bool    { return s&4 != 0 }

// Matches are all that a scan has found.
type Matches struct {
	All, Heads, Failures NumberSet // frames that are shown; that begin a row; that are failures
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
			m.Failures.remove(seq)
			continue
		}
		m.All.Add(seq)
		if s.head() {
			m.Heads.Add(seq)
		}
		if s.failure() {
			m.Failures.Add(seq)
		}
	}
	m.Last, m.Complete = f.Last, f.Complete
}
