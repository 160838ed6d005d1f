// Package ref finds what the arguments of commands name: the store, tapes and sessions in
// it, or files.
package ref

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A Subject is what a REF names: a tape, or a session with all of its tapes.
type Subject struct {
	Session string // empty: all of the tape
	Parts   []Part // in time order, never empty

	Store *record.Store // the store of the tapes; nil for a file
	File  string        // the path of the file; empty: none, or stdin
}

// A Part is the part of a subject on one tape.
type Part struct {
	Tape *record.Tape
	Run  record.Run // of the session; zero for a whole tape
}

// Resolve finds what name means: stdin, a file, or something in the store in dir.
func Resolve(dir, name string, stdin io.Reader) (Subject, error) {
	if name == "-" {
		t, err := record.ReadPortable(stdin, "stdin")
		return Subject{Parts: []Part{{Tape: t}}}, err
	}
	if NamesFile(name) {
		t, err := record.OpenFile(name)
		return Subject{Parts: []Part{{Tape: t}}, File: name}, err
	}
	store, err := OpenStore(dir)
	if err != nil {
		return Subject{}, err
	}
	return In(store).subject(name)
}

// subject finds a tape by its id or name, a session, or the one tape with a tag.
func (f *Finder) subject(name string) (Subject, error) {
	id, err := f.Tape(name)
	if errors.Is(err, ErrUnknown) || errors.Is(err, record.ErrAmbiguous) { // a part of several tape IDs may be the whole ID of a session
		s, serr := f.session(name)
		switch {
		case serr == nil:
			return f.sessionSubject(s)
		case errors.Is(err, record.ErrAmbiguous):
		case !errors.Is(serr, record.ErrNoTape):
			err = serr
		default:
			id, err = f.tagged(name)
		}
	}
	if errors.Is(err, ErrUnknown) {
		err = f.unknown(name)
	}
	if err != nil {
		return Subject{}, err
	}
	t, err := f.store.Open(id)
	return Subject{Store: f.store, Parts: []Part{{Tape: t}}}, err
}

// NamesFile reports whether a REF other than - is the path of a file: such a file exists,
// or the REF looks like a path. In REF+NAME a slash may belong to the name of the server,
// such as io.github.user/files.
func NamesFile(name string) bool {
	parent, _, _ := strings.Cut(name, "+")
	return strings.ContainsAny(parent, `/\`) || IsFile(name)
}

// IsFile reports whether path is a regular file.
func IsFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// Has reports whether a frame of a part belongs to the subject. The agent's death belongs
// to each session on the tape.
func (s Subject) Has(p Part, f *dialect.Frame) bool {
	if s.Session == "" || f.Session == s.Session || f.Seq == p.Run.First || f.Events.Has(dialect.ExitFailed) {
		return true
	}
	for _, entry := range f.Entries {
		if entry.Session == s.Session {
			return true
		}
	}
	return false
}

// Tapes returns the tapes of the subject, in time order.
func (s Subject) Tapes() []*record.Tape {
	tapes := make([]*record.Tape, len(s.Parts))
	for i, p := range s.Parts {
		tapes[i] = p.Tape
	}
	return tapes
}

// Agents returns parts of the subject in the form that a Reader expects.
func (s Subject) Agents(parts ...Part) ([]reading.Part, error) {
	agents, err := reading.Agents(Subject{Parts: parts}.Tapes()...)
	for i := range agents {
		a := &agents[i]
		if a.Store, a.Session, a.From = s.Store, s.Session, parts[i].Run.First; s.Session != "" {
			a.Has = func(f *dialect.Frame) bool { return s.Has(parts[i], f) }
		}
	}
	return agents, err
}

// Reader returns a reader of parts of the subject and of the tapes of the servers that were
// started on them. If all is set, it includes servers that those servers started.
func (s Subject) Reader(all bool, parts ...Part) (*reading.Reader, error) {
	agents, err := s.Agents(parts...)
	if err != nil {
		return nil, err
	}
	r := reading.New(agents)
	return r, r.AddServers(all)
}
