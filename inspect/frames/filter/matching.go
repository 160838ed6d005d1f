package filter

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// matching makes tests of a frame's texts. any reports whether is accepts one of them;
// loose makes the pattern for a value after a colon.
func matching(reads needs, loose func(string) pattern, any func(s *Subject, is func(string) bool) bool) testMaker {
	return func(w written, _ string) (test, string) {
		p, problem := patternOf(w, loose)
		is := func(text string) bool { return text != "" && p.match(text) }
		return test{reads: reads, ask: func(s *Subject) verdict { return sure(any(s, is)) }}, problem
	}
}

// annotated tests a field of a frame and of each entry of a batch.
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

// inSession tests a frame's session, and the session for which its server was started.
func inSession(s *Subject, is func(string) bool) bool { return ofSessions(s, is) || is(s.ServerOf) }

// ofRule tests the rules that a frame breaks, and those that changed it.
func ofRule(s *Subject, is func(string) bool) bool {
	return slices.ContainsFunc(s.Marks, is) || slices.ContainsFunc(s.Findings, func(f *conform.Finding) bool { return is(f.Rule.ID) || is(f.Rule.Name) })
}

// idTerm selects the id of a request and of its response. Ids are compared as text: 7
// matches 7 and "7".
func idTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, func(v string) pattern {
		if strings.Trim(v, "0123456789") == "" { // so that 1 does not match 17
			return exact(v)
		}
		return prefix(v)
	})
	return test{reads: ofBytes, ask: func(s *Subject) verdict {
		switch s.Kind {
		case wire.Request, wire.Response, wire.Oversized, wire.Batch:
			return s.messages(func(_ int, message []byte) bool {
				id := wire.Scan(message).ID
				return id != nil && p.match(textOf(wire.ValueOf(id)))
			})
		}
		return no
	}}, problem
}
