package frameindex

// Found is what a scan has found since the last Take.
type Found struct {
	Matches  []Match
	Last     uint64 // all frames up to this one were scanned
	Complete bool   // everything that was there at first was scanned
	Err      error  // error of the last unreadable part
}

// A Match is a shown frame, in one word, since millions may wait to be taken.
type Match uint64

// NewMatch returns the match of a frame: head says that it is not folded into the row
// before, failure that it is one.
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

// goneMatch returns the match of a frame that is not shown any more.
func goneMatch(seq uint64) Match { return Match(seq<<3) | 4 }

func (s Match) seq() uint64   { return uint64(s >> 3) }
func (s Match) head() bool    { return s&1 != 0 } // it is not folded into the row before
func (s Match) failure() bool { return s&2 != 0 }
func (s Match) gone() bool    { return s&4 != 0 }

// Matches are all matches of a scan.
type Matches struct {
	All, Heads, Failures NumberSet // frames that are shown; that begin a row; that are failures
	Last                 uint64    // frames up to this one were scanned
	Complete             bool      // everything that was there at first was scanned
}

// Add adds what was found since the last Add.
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
