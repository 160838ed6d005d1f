package filter

// A serverTest asks on the tape of which server a frame is.
type serverTest struct{ pattern pattern }

func serverTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, globs)
	return serverTest{p}, problem
}

func (serverTest) needs() needs { return 0 }

func (t serverTest) fits(s *Subject) verdict {
	return sure(s.Server != "" && t.pattern.match(s.Server))
}
