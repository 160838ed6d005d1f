package frameindex

// Found is what a scan has found since the last Take.
type Found struct {
	Matches  []Match
	Last     uint64 // all frames up to this one were scanned
	Complete bool   // everything initially on the tapes was scanned
	Err      error  // error of the last unreadable part
}

// A Match is a frame that is now shown, or no longer shown.
type Match struct {
	Seq     uint64
	Head    bool // it is not folded into the previous row
	Failure bool
	Gone    bool // it is no longer shown
}

// Matches accumulates all matches of a scan.
type Matches struct {
	All, Heads, Failures NumberSet // frames that are shown; that begin a row; that are failures
	Last                 uint64    // frames up to this one were scanned
	Complete             bool      // everything initially on the tapes was scanned
}

// Add adds what was found since the last Add.
func (m *Matches) Add(f Found) {
	for _, s := range f.Matches {
		if s.Gone {
			m.All.remove(s.Seq)
			m.Heads.remove(s.Seq)
			m.Failures.remove(s.Seq)
			continue
		}
		m.All.Add(s.Seq)
		if s.Head {
			m.Heads.Add(s.Seq)
		}
		if s.Failure {
			m.Failures.Add(s.Seq)
		}
	}
	m.Last, m.Complete = f.Last, f.Complete
}
