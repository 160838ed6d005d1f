package record

// encode returns the session, which has one run, as tapes and the catalogue keep
// it, in the place of old, which may be nil.
func (s *SessionInfo) encode(old []byte) []byte { return encodeTags(s, old) }

// decodeSession reads facts of a session, of this version or an earlier one. Its
// run becomes s.Runs[0], if s has one. all is as with decodeInfo.
func decodeSession(b []byte, s *SessionInfo) (all bool, err error) {
	return new(tags).decodeSession(b, s)
}

// decodeSession is that of the package for one value after the other.
func (t *tags) decodeSession(b []byte, s *SessionInfo) (all bool, err error) {
	*s = SessionInfo{Runs: s.Runs}
	if s.Runs == nil {
		s.Runs = make([]Run, 1)
	}
	if len(b) > 0 && b[0] == positionalVersion {
		return true, s.decodePositional(b[1:])
	}
	return t.decode(b, s)
}

func (s *SessionInfo) what() string  { return "the facts of a session" }
func (s *SessionInfo) known() uint64 { return 22 }

func (s *SessionInfo) tags(t *tags) {
	t.text(2, &s.ID)
	t.text(3, &s.Agent)
	t.text(4, &s.Title)
	t.text(5, &s.Prompt)
	t.text(6, &s.Cwd)
	t.text(7, &s.Parent)
	t.text(8, &s.Expires)
	enum(t, 9, &s.Dialect)
	t.bool(10, &s.Closed)
	t.bool(11, &s.Deleted)
	t.bool(12, &s.opened)
	t.bool(13, &s.made)

	r := &s.Runs[0]
	t.text(14, &r.Tape)
	t.uint(15, &r.First)
	t.uint(16, &r.Last)
	t.uint(17, &r.Frames)
	t.uint(18, &r.Failed)
	t.uint(19, &r.Turns)
	t.time(20, &r.Began)
	t.time(21, &r.Ended)
}
