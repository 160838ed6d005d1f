package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/tapeid"
)

// Tags and notes are not in the tapes' files: only its proxy writes the file of a tape
// being recorded, and that file does not exist until the first block is full. They are in
// a file next to the tapes, which recording does not depend on.
func (s *Store) notes() note.File {
	return note.File{File: boltfile.File{Path: filepath.Join(s.dir, "notes.db"), LockTimeout: s.timeout}}
}

// Notes returns the tags and notes on a tape. With an error it returns what could be
// read.
func (s *Store) Notes(tape string) (note.List, error) {
	if !tapeid.IsValid(tape) || !s.hasTape(tape) {
		return note.List{}, fmt.Errorf("tape %s: %w", tape, ErrNoTape)
	}
	return s.notes().Read(tape)
}

// Annotate changes the tags and notes on a tape, all at once or not at all, and returns the
// new ones. Notes without a time get the current one. The tape may be live, and several
// processes may annotate it.
func (s *Store) Annotate(tape string, e note.Edit) (note.List, error) {
	t, err := s.Open(tape)
	if err != nil {
		return note.List{}, err
	}
	if name := disk.Remote(s.dir); name != "" {
		return note.List{}, fmt.Errorf("%s is on %s, where locks do not hold: notes cannot be kept there", s.dir, name)
	}
	add := make([]note.Note, len(e.Add))
	for i, n := range e.Add {
		if n.Frame > 0 {
			if _, err := t.Frame(n.Frame); err != nil {
				return note.List{}, err
			}
		}
		if n.At.IsZero() {
			n.At = time.Now().Round(time.Millisecond).UTC()
		}
		add[i] = n
	}
	e.Add = add
	return s.notes().Edit(tape, e, func() error {
		if !s.hasTape(tape) { // deleted in the meantime, and its notes with it
			return fmt.Errorf("tape %s: %w", tape, ErrNoTape)
		}
		return nil
	})
}

// Notes returns the tags and notes on the tape; for a file in the portable form, those in
// the file.
func (t *Tape) Notes() (note.List, error) {
	if m, ok := t.from.(*memoryBlocks); ok {
		return m.notes, nil
	}
	if t.store == nil {
		return note.List{}, nil
	}
	return t.store.Notes(t.id)
}

// putNotes replaces the notes of an earlier tape with that id, if any, with the tags and
// notes of an imported tape.
func (s *Store) putNotes(tape string, l note.List) error {
	err := s.notes().Forget([]string{tape})
	if err == nil && !l.IsEmpty() {
		_, err = s.notes().Edit(tape, note.Edit{Tag: l.Tags, Add: l.Notes}, nil)
	}
	return err
}

func (s *Store) hasTape(tape string) bool { return s.hasFile(tape) || s.hasJournal(tape) }

// addNotes adds tags and notes to the listed tapes, as far as they can be read.
func (s *Store) addNotes(l *Listing) {
	written, err := s.notes().Summaries()
	l.NotesErr = err
	if len(written) == 0 {
		return
	}
	for i := range l.Tapes {
		if w := written[l.Tapes[i].Tape]; w != nil {
			l.Tapes[i].Tags, l.Tapes[i].Notes = w.Tags, w.Notes
		}
	}
}

// mendNotes removes notes on tapes that are gone, and rewrites their file if it is damaged.
func (s *Store) mendNotes() error {
	return s.notes().Mend(func(tape string) bool { return !tapeid.IsValid(tape) || !s.hasTape(tape) })
}

// notes checks the file of the notes.
func (e *examination) notes() {
	written, err := e.s.notes().Summaries()
	if errors.Is(err, ErrDamaged) {
		e.bad("acptap doctor --rebuild saves what can be read of them", "notes: %v", err)
		return
	}
	if err != nil {
		e.bad(adviceFor(err), "notes: %v", err)
		return
	}
	gone := 0
	for tape := range written {
		if !tapeid.IsValid(tape) || !e.s.hasTape(tape) {
			gone++
		}
	}
	if gone > 0 {
		e.bad("acptap doctor --rebuild removes them", "there are notes on %s that are gone", tapes(gone))
	}
}
