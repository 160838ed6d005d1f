package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// refHelp tells of the REF that many commands take.
const refHelp = `
REF names a tape: its id or any part of it that no other has, last, last~1; a
session: its id or the beginning of it; or a file: a tape in the portable form,
a tape's .db file, or - for the portable form on stdin.`

// A subject is what a REF names: a tape, a file, or a session with its runs.
type subject struct {
	Session string // empty: all of the tape
	Parts   []part // by time, never empty
}

// A part of a subject is on one tape.
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
		return subject{}, fmt.Errorf("there are no tapes in %s yet", store.Dir())
	case errors.Is(serr, record.ErrNoTape):
		return subject{}, fmt.Errorf("%q names no tape, session or file; see acptap ls and acptap sessions", ref)
	}
	return subject{}, serr
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// findSession returns the session whose id is ref, or the only one whose id
// begins with it.
func findSession(store *record.Store, ref string) (record.SessionInfo, error) {
	l, err := store.List()
	if err != nil {
		return record.SessionInfo{}, err
	}
	var fits []record.SessionInfo
	for _, s := range l.Sessions {
		if s.ID == ref {
			fits = []record.SessionInfo{s} // the latest of that id: agents use ids again
		} else if ref != "" && strings.HasPrefix(s.ID, ref) && (len(fits) == 0 || fits[0].ID != ref) {
			fits = append(fits, s)
		}
	}
	switch len(fits) {
	case 0:
		return record.SessionInfo{}, fmt.Errorf("session %q: %w", ref, record.ErrNoTape)
	case 1:
		return fits[0], nil
	}
	return record.SessionInfo{}, fmt.Errorf("%q is %w: it fits %d sessions, such as %s and %s", ref, record.ErrAmbiguous, len(fits), fits[0].ID, fits[1].ID)
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

// absolute returns the absolute form of a path that was given, and nothing for
// none.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}
