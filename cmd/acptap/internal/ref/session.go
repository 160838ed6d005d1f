package ref

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// session returns the session whose ID is ref, or the only one whose ID begins with ref.
// Agents may reuse an ID; session then returns the latest one.
func (f *Finder) session(ref string) (record.SessionInfo, error) {
	l, err := f.List()
	if err != nil {
		return record.SessionInfo{}, err
	}
	fits, onTape := SessionsLike(l.Sessions, ref)
	if !onTape {
		latest := map[string]record.SessionInfo{}
		for _, s := range fits { // in the order of their last frames
			latest[s.ID] = s
		}
		fits = slices.SortedFunc(maps.Values(latest), func(a, b record.SessionInfo) int { return strings.Compare(a.ID, b.ID) })
	}
	return OnlySession(fits, ref)
}

// SessionsLike returns the sessions whose ID is ref or, if there are none, those whose ID
// begins with ref. If ref ends with @ and a part of a tape's ID, it returns only those on
// that tape.
func SessionsLike(all []record.SessionInfo, ref string) (fits []record.SessionInfo, onTape bool) {
	fits = sessionsOf(all, ref)
	at := strings.LastIndexByte(ref, '@')
	if len(fits) > 0 || at < 0 || at == len(ref)-1 {
		return fits, false
	}
	fits = slices.DeleteFunc(sessionsOf(all, ref[:at]), func(s record.SessionInfo) bool {
		return !slices.ContainsFunc(s.Runs, func(r record.Run) bool { return strings.Contains(r.Tape, ref[at+1:]) })
	})
	return fits, true
}

// sessionsOf returns the sessions whose ID is id or, if there are none, those whose ID
// begins with id.
func sessionsOf(all []record.SessionInfo, id string) (fits []record.SessionInfo) {
	exact := false
	for _, s := range all {
		switch {
		case s.ID == id && !exact:
			fits, exact = []record.SessionInfo{s}, true
		case s.ID == id, !exact && id != "" && strings.HasPrefix(s.ID, id):
			fits = append(fits, s)
		}
	}
	return fits
}

// OnlySession returns the only session in fits. It returns an error about ref if there are
// none or several.
func OnlySession(fits []record.SessionInfo, ref string) (record.SessionInfo, error) {
	switch len(fits) {
	case 0:
		return record.SessionInfo{}, fmt.Errorf("session %q: %w", ref, record.ErrNoTape)
	case 1:
		return fits[0], nil
	}
	return record.SessionInfo{}, fmt.Errorf("%q is %w: it matches %d sessions, such as %s and %s", ref, record.ErrAmbiguous, len(fits), termtext.Line(SessionName(fits[0])), termtext.Line(SessionName(fits[1])))
}

// SessionName returns a REF that names this session and no other with the same id.
func SessionName(s record.SessionInfo) string {
	tape := s.Runs[0].Tape
	return s.ID + "@" + tape[strings.LastIndexByte(tape, '-')+1:]
}

// sessionSubject returns a session with all of its tapes.
func (f *Finder) sessionSubject(s record.SessionInfo) (Subject, error) {
	sub := Subject{Session: s.ID, Store: f.store}
	for _, run := range s.Runs {
		t, err := f.store.Open(run.Tape)
		if err != nil {
			return Subject{}, err
		}
		sub.Parts = append(sub.Parts, Part{t, run})
	}
	return sub, nil
}

// OfSession returns the tapes of a session and its whole ID. id is that ID or a prefix that
// only this session has.
func OfSession(tapes []*record.Tape, id string) (having []*record.Tape, session string, err error) {
	bySession := make(map[string][]*record.Tape)
	for _, t := range tapes {
		sessions, err := t.Sessions()
		if err != nil {
			return nil, "", err
		}
		for _, one := range sessions {
			bySession[one.ID] = append(bySession[one.ID], t)
		}
	}
	if found := bySession[id]; found != nil {
		return found, id, nil
	}
	names := slices.Sorted(maps.Keys(bySession))
	fits := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, id) })
	switch len(fits) {
	case 0:
		if len(names) == 0 {
			return nil, "", fmt.Errorf("session %q is not on the tape, which has none", id)
		}
		return nil, "", fmt.Errorf("session %q is not on the tape, which has %q", id, names)
	case 1:
		return bySession[fits[0]], fits[0], nil
	}
	return nil, "", fmt.Errorf("%q matches %d sessions, such as %s and %s", id, len(fits), fits[0], fits[1])
}
