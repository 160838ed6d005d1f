package filter

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// matching makes tests of the texts of a frame: any reports whether is accepts one of them.
// loose makes the pattern for a value after a colon.
func matching(reads needs, loose func(string) pattern, any func(s *Subject, is func(string) bool) bool) testMaker {
	return func(w written, _ string) (test, string) {
		p, problem := patternOf(w, loose)
		is := func(text string) bool { return text != "" && p.match(text) }
		return test{reads: reads, ask: func(s *Subject) verdict { return sure(any(s, is)) }}, problem
	}
}

// annotated tests a field of a frame and of the entries of a batch.
func annotated(field func(*dialect.Annotation) string) func(s *Subject, is func(string) bool) bool {
	return func(s *Subject, is func(string) bool) bool {
		if is(field(&s.Annotation)) {
			return true
		}
		for i := range s.Entries {
			if is(field(&s.Entries[i])) {
				return true
			}
		}
		return false
	}
}

var ofSessions = annotated(func(a *dialect.Annotation) string { return a.Session })

// inSession tests the session of a frame, and the session that its server was started for.
func inSession(s *Subject, is func(string) bool) bool { return ofSessions(s, is) || is(s.ServerOf) }

// ofRule tests the rules that a frame breaks.
func ofRule(s *Subject, is func(string) bool) bool {
	return slices.ContainsFunc(s.Findings, func(f Finding) bool { return is(f.Rule) || is(f.Name) })
}
