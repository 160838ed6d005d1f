package filter

import "github.com/acptap/acptap/proxy/dialect"

// A field is one of dialect.About.
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

// An aboutTest asks for what a frame, or an entry of a batch, means.
type aboutTest struct {
	field   field
	pattern pattern
}

func aboutTerm(f field, loose func(string) pattern) func(written, string) (test, string) {
	return func(w written, _ string) (test, string) {
		p, problem := patternOf(w, loose)
		return aboutTest{f, p}, problem
	}
}

func (aboutTest) needs() needs { return 0 }

func (t aboutTest) fits(s *Subject) verdict {
	if t.has(&s.Annotation) {
		return yes
	}
	for i := range s.Entries {
		if t.has(&s.Entries[i]) {
			return yes
		}
	}
	return no
}

func (t aboutTest) has(a *dialect.Annotation) bool {
	v := t.field.of(a)
	return v != "" && t.pattern.match(v)
}
