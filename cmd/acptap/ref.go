package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// refHelp explains the REF that many commands take.
const refHelp = `
REF is a tape (its id, any part of it that no other tape has, last or last~1), a
session (its id or the beginning of it), or a file: a tape in the portable form,
the .db file of a tape, or - for the portable form on stdin. If an agent used a
session id again, it names the latest session; sess_1@7k2m9p names the session
on that tape. See acptap help basics.`

// A subject is what a REF names: a tape, or a session with all of its tapes.
type subject struct {
	Session string // empty: all of the tape
	Parts   []part // by time, never empty
}

// A part of a subject is what is on one of its tapes.
type part struct {
	Tape *record.Tape
	Run  record.Run // of the session; zero for a whole tape
}

// resolve finds what ref names.
func resolve(dir, ref string, stdin io.Reader) (subject, error) {
	if ref == "-" {
		t, err := record.ReadPortable(stdin, "stdin")
		return subject{Parts: []part{{Tape: t}}}, err
	}
	if strings.ContainsAny(ref, `/\`) || isFile(ref) {
		t, err := record.OpenFile(ref)
		return subject{Parts: []part{{Tape: t}}}, err
	}
	store, err := openStore(dir)
	if err != nil {
		return subject{}, err
	}
	ids, err := store.Tapes()
	if err != nil {
		return subject{}, err
	}
	id, err := record.TapeID(ids, ref)
	if err == nil {
		t, err := store.Open(id)
		return subject{Parts: []part{{Tape: t}}}, err
	}
	s, serr := findSession(store, ref)
	switch {
	case serr == nil:
		return sessionSubject(store, s)
	case errors.Is(err, record.ErrAmbiguous):
		return subject{}, err
	case len(ids) == 0 && strings.HasPrefix(ref, "last"):
		return subject{}, fmt.Errorf("there are no tapes in %s", store.Dir())
	case errors.Is(serr, record.ErrNoTape):
		return subject{}, fmt.Errorf("%q is not a tape, session or file; see acptap ls and acptap sessions", ref)
	}
	return subject{}, serr
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// findSession returns the session whose id is ref, or the only one whose id begins
// with ref. Agents may use an id again; then it returns the latest.
func findSession(store *record.Store, ref string) (record.SessionInfo, error) {
	l, err := store.List()
	if err != nil {
		return record.SessionInfo{}, err
	}
	fits, onTape := sessionsLike(l.Sessions, ref)
	if !onTape {
		latest := map[string]record.SessionInfo{}
		for _, s := range fits { // in the order of their last frames
			latest[s.ID] = s
		}
		fits = slices.SortedFunc(maps.Values(latest), func(a, b record.SessionInfo) int { return strings.Compare(a.ID, b.ID) })
	}
	return onlySession(fits, ref)
}

// sessionsLike returns the sessions whose id is ref, else those whose id begins
// with ref. If ref ends with @ and a part of a tape's id, it returns only those on
// that tape.
func sessionsLike(all []record.SessionInfo, ref string) (fits []record.SessionInfo, onTape bool) {
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

// sessionsOf returns the sessions whose id is id, else those whose id begins with
// id.
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

// onlySession returns the one session in fits, which ref names.
func onlySession(fits []record.SessionInfo, ref string) (record.SessionInfo, error) {
	switch len(fits) {
	case 0:
		return record.SessionInfo{}, fmt.Errorf("session %q: %w", ref, record.ErrNoTape)
	case 1:
		return fits[0], nil
	}
	return record.SessionInfo{}, fmt.Errorf("%q is %w: it matches %d sessions, such as %s and %s", ref, record.ErrAmbiguous, len(fits), termtext.Line(fullName(fits[0])), termtext.Line(fullName(fits[1])))
}

// fullName returns a REF that names this session and no other with the same id.
func fullName(s record.SessionInfo) string {
	tape := s.Runs[0].Tape
	return s.ID + "@" + tape[strings.LastIndexByte(tape, '-')+1:]
}

func sessionSubject(store *record.Store, s record.SessionInfo) (subject, error) {
	sub := subject{Session: s.ID}
	for _, run := range s.Runs {
		t, err := store.Open(run.Tape)
		if err != nil {
			return subject{}, err
		}
		sub.Parts = append(sub.Parts, part{t, run})
	}
	return sub, nil
}

// has reports whether a frame of a part belongs to the subject.
func (s subject) has(p part, f *dialect.Frame) bool {
	if s.Session == "" || f.Session == s.Session || f.Seq == p.Run.First {
		return true
	}
	for _, entry := range f.Entries {
		if entry.Session == s.Session {
			return true
		}
	}
	return false
}

// absolute returns the absolute form of a path, or "" for "".
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}
