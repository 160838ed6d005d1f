package screen

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

// toggleBookmark adds or removes a bookmark on the selected frame.
func (a *app) toggleBookmark() {
	seq := a.model.current()
	if seq == 0 {
		a.notify(noFrame)
		return
	}
	part := a.timeline.PartOf(seq)
	var e note.Edit
	for _, n := range a.written.on(seq) {
		if n.Text == "" {
			e.Remove = append(e.Remove, n.ID)
		}
	}
	if e.Remove == nil {
		e.Add = []note.Note{{Frame: a.timeline.PlaceOf(seq).Seq, At: a.Now()}}
	}
	a.writeNotes(part, e)
}

// askNote asks for a note on the selected frame.
func (a *app) askNote() {
	seq := a.model.current()
	if seq == 0 {
		a.notify(noFrame)
		return
	}
	t, part := a.timeline, a.timeline.PartOf(seq)
	a.askText("note on frame "+t.Label(seq)+": ", a.written.on(seq), func(e note.Edit) {
		for i := range e.Add {
			e.Add[i].Frame = t.PlaceOf(seq).Seq
		}
		if a.timeline == t {
			a.writeNotes(part, e)
		}
	})
}

// askText asks for a note. The user can change an existing note, or remove it by deleting
// its text.
func (a *app) askText(label string, there []note.Note, write func(note.Edit)) {
	i := slices.IndexFunc(there, func(n note.Note) bool { return n.Text != "" })
	var old note.Note
	if i >= 0 {
		old = there[i]
	}
	if strings.Contains(old.Text, "\n") {
		a.notify("this note has several lines; acptap note changes it")
		return
	}
	a.ask(label, old.Text, func(text string) error {
		n := note.Note{Text: strings.TrimSpace(text), At: a.Now()}
		if err := n.Check(); n.Text != "" && err != nil {
			return err
		}
		var e note.Edit
		if old.ID != 0 && n.Text != old.Text {
			e.Remove = []uint64{old.ID}
		}
		if n.Text != "" && n.Text != old.Text {
			e.Add = []note.Note{n}
		}
		if e.Add != nil || e.Remove != nil {
			write(e)
		}
		return nil
	})
}

// writeNotes edits the notes on an open tape: in the store or, if there is none, in
// memory until the inspector ends.
func (a *app) writeNotes(part int, e note.Edit) {
	t := a.timeline
	if a.Store == nil {
		a.written.set(part, edited(a.written.tapes[part], e))
		a.notify("this is a file: bookmarks and notes are forgotten when the inspector ends")
		return
	}
	a.annotate(t.Part(part).Info.Tape, e, func(l note.List, err error) {
		if a.fail(err); err == nil {
			a.takeNotes(t, part, l, nil)
		}
	})
}

// annotate edits the notes on a tape in the store, in the background.
func (a *app) annotate(tape string, e note.Edit, then func(note.List, error)) {
	a.jobs.Go(func() {
		a.noting.Lock()
		defer a.noting.Unlock()
		l, err := a.Store.Annotate(tape, e)
		a.updates.post(func() { then(l, err) })
	})
}

// edited returns notes after an edit, for a file.
func edited(l note.List, e note.Edit) note.List {
	next := uint64(1)
	for _, n := range l.Notes {
		next = max(next, n.ID+1)
	}
	notes := slices.DeleteFunc(slices.Clone(l.Notes), func(n note.Note) bool { return slices.Contains(e.Remove, n.ID) })
	for i, n := range e.Add {
		n.ID = next + uint64(i)
		notes = append(notes, n)
	}
	slices.SortFunc(notes, func(a, b note.Note) int { return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.ID, b.ID)) })
	l.Notes = notes
	return l
}

// askTags asks for the tags of the tape under the cursor.
func (a *app) askTags() {
	e, ok := a.entry()
	if !ok || e.broken != nil {
		return
	}
	tape := e.tape
	a.ask("tags: ", strings.Join(tape.Tags, " "), func(text string) error {
		tags := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
		for _, tag := range tags {
			if err := note.CheckTag(tag); err != nil {
				return err
			}
		}
		var e note.Edit
		for _, tag := range tags {
			if !slices.Contains(tape.Tags, tag) {
				e.Tag = append(e.Tag, tag)
			}
		}
		for _, tag := range tape.Tags {
			if !slices.Contains(tags, tag) {
				e.Untag = append(e.Untag, tag)
			}
		}
		if e.Tag != nil || e.Untag != nil {
			a.annotate(tape.Tape, e, a.toldWritten)
		}
		return nil
	})
}

// askTapeNote asks for a note on the tape under the cursor.
func (a *app) askTapeNote() {
	e, ok := a.entry()
	if !ok || e.broken != nil {
		return
	}
	tape := e.tape.Tape
	a.askText("note on the tape: ", a.tapes.texts[tape], func(e note.Edit) { a.annotate(tape, e, a.toldWritten) })
}

// toldWritten handles the result of an edit that the list of tapes will show.
func (a *app) toldWritten(_ note.List, err error) {
	if errors.Is(err, note.ErrNone) {
		err = nil // another process has removed it
	}
	a.fail(err)
}

// tapeNoteSpans returns a tape's notes, for the list of tapes.
func tapeNoteSpans(notes []note.Note) (lines [][]termtext.Span) {
	for _, n := range notes {
		if n.Text != "" {
			lines = append(lines, []termtext.Span{termtext.Dim.Span("  " + noteSign + " "), termtext.Plain.Span(termtext.Line(n.Text))})
		}
	}
	return lines
}
