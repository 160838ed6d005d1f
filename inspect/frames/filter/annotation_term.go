package filter

import "github.com/acptap/acptap/proxy/dialect"

// A field is one of dialect.Annotation.
type field uint8

const (
	method field = iota
	update
	session
)

func (f field) of(a *dialect.Annotation) string {
	switch f {
	case method:
		return a.Method
	case update:
		return a.Update
	}
	return a.Session
}

// An annotationTest asks for what a frame, or an entry of a batch, means.
type annotationTest struct {
	field   field
	pattern pattern
}

func annotationTerm(f field, loose func(string) pattern) func(written, string) (test, string) {
	return func(w written, _ string) (test, string) {
		p, problem := patternOf(w, loose)
		return annotationTest{f, p}, problem
	}
}

func (t annotationTest) needs() needs {
	if t.field == session {
		return ofSession
	}
	return 0
}

func (t annotationTest) fits(s *Subject) verdict {
	if t.has(&s.Annotation) || t.field == session && s.ServerOf != "" && t.pattern.match(s.ServerOf) {
		return yes
	}
	for i := range s.Entries {
		if t.has(&s.Entries[i]) {
			return yes
		}
	}
	return no
}

func (t annotationTest) has(a *dialect.Annotation) bool {
	v := t.field.of(a)
	return v != "" && t.pattern.match(v)
}
