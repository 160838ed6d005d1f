package screen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

// Signs for notes on a frame.
const (
	bookmarkSign = "▪"
	noteSign     = frametext.NoteMark
)

// frameNotes holds the notes on frames of the open tapes.
type frameNotes struct {
	timeline *frameindex.Timeline
	tapes    []note.List // by part of the timeline
	frames   []uint64    // annotated frames, ordered by number on the timeline
	unplaced bool        // some frames have no number yet
	revision int         // number of changes
}

// set replaces the notes on one tape.
func (n *frameNotes) set(part int, l note.List) {
	n.grow(part + 1)
	n.tapes[part] = l
	n.place()
}

// grow makes room for tapes that were found later.
func (n *frameNotes) grow(parts int) {
	for len(n.tapes) < parts {
		n.tapes = append(n.tapes, note.List{})
	}
}

// place finds the annotated frames on the timeline.
func (n *frameNotes) place() {
	n.frames, n.unplaced = nil, false
	n.revision++
	for i, l := range n.tapes {
		for _, note := range l.Notes {
			if note.Frame == 0 {
				continue
			}
			if seq := n.timeline.Number(frameindex.Place{Part: i, Seq: note.Frame}); seq != 0 {
				n.frames = append(n.frames, seq)
			} else {
				n.unplaced = true
			}
		}
	}
	slices.Sort(n.frames)
	n.frames = slices.Compact(n.frames)
}

// on returns a frame's notes.
func (n *frameNotes) on(seq uint64) []note.Note {
	at := n.timeline.PlaceOf(seq)
	if at.Part >= len(n.tapes) {
		return nil
	}
	return n.tapes[at.Part].On(at.Seq)
}

// between returns the annotated frames in [from, to).
func (n *frameNotes) between(from, to uint64) []uint64 {
	i, _ := slices.BinarySearch(n.frames, from)
	k, _ := slices.BinarySearch(n.frames, max(from, to))
	return n.frames[i:k]
}

// lastBookmark returns the most recently bookmarked frame, except but; 0 if there is
// none.
func (n *frameNotes) lastBookmark(but uint64) (seq uint64) {
	var last note.Note
	for i, l := range n.tapes {
		for _, b := range l.Notes {
			if b.Frame == 0 || b.Text != "" {
				continue
			}
			at := n.timeline.Number(frameindex.Place{Part: i, Seq: b.Frame})
			if at != 0 && at != but && cmp.Or(b.At.Compare(last.At), cmp.Compare(b.ID, last.ID)) > 0 {
				seq, last = at, b
			}
		}
	}
	return seq
}

// count returns the numbers of bookmarks and notes for the status line, or the empty
// string if there are none.
func (n *frameNotes) count() string {
	bookmarks, texts := 0, 0
	for _, l := range n.tapes {
		for _, note := range l.Notes {
			switch {
			case note.Frame > 0 && note.Text == "":
				bookmarks++
			case note.Frame > 0:
				texts++
			}
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{bookmarks, "bookmark"}, {texts, "note"}} {
		if p.n > 0 {
			parts = append(parts, termtext.Counted(p.n, p.word))
		}
	}
	return strings.Join(parts, ", ")
}

// readNotes reads the notes on the open tapes.
func (a *app) readNotes() {
	if a.timeline == nil {
		return
	}
	if a.Store == nil { // one short tape, which no other process annotates
		for i, p := range a.timeline.Agents() {
			l, err := p.Tape.Notes()
			a.written.set(i, l)
			a.fail(err)
		}
		return
	}
	a.written.grow(a.timeline.Size())
	a.readNotesFrom(0)
}

// readNotesFrom reads the notes on the tapes starting with the given part.
func (a *app) readNotesFrom(part int) {
	t := a.timeline
	for i := part; i < len(a.written.tapes); i++ {
		id := t.Part(i).Info.Tape
		a.jobs.Go(func() {
			a.noting.Lock()
			defer a.noting.Unlock()
			l, err := a.Store.Notes(id)
			a.updates.post(func() { a.takeNotes(t, i, l, err) })
		})
	}
}

// refreshNotes reads the notes on servers' tapes found since, and places the frames that
// had no number before.
func (a *app) refreshNotes() {
	if known := len(a.written.tapes); a.timeline.Size() > known && a.Store != nil {
		a.written.grow(a.timeline.Size())
		a.readNotesFrom(known)
	}
	if a.written.unplaced {
		a.written.place()
	}
}

// takeNotes applies the notes on a tape of t, if t is still open.
func (a *app) takeNotes(t *frameindex.Timeline, part int, l note.List, err error) {
	if a.timeline == t {
		a.written.set(part, l)
		a.fail(err)
	}
}

// rowNotes returns a row's annotated frames.
func (a *app) rowNotes(seq uint64) (frames []uint64) {
	next := a.model.rows().Next(seq + 1)
	if next == 0 {
		next = a.model.Last + 1
	}
	for _, f := range a.written.between(seq, next) {
		if a.model.All.Has(f) {
			frames = append(frames, f)
		}
	}
	return frames
}

// rowSign returns the sign for a row's notes.
func (a *app) rowSign(seq uint64) string {
	sign := " "
	for _, f := range a.rowNotes(seq) {
		sign = bookmarkSign
		for _, n := range a.written.on(f) {
			if n.Text != "" {
				return noteSign
			}
		}
	}
	return sign
}

// noteLines returns a frame's notes as lines.
func (a *app) noteLines(seq uint64, width int) (lines [][]termtext.Span) {
	for _, n := range a.written.on(seq) {
		sign, text := noteSign, termtext.Text(n.Text)
		if n.Text == "" {
			sign, text = bookmarkSign, "bookmark"
		}
		if seq != a.pane.Frame.Seq || a.page != nil {
			text = "frame " + a.timeline.Label(seq) + ": " + text
		}
		for _, line := range termtext.Wrap(text, max(width-2, 1)) {
			lines = append(lines, []termtext.Span{termtext.Bold.Span(sign + " " + line)})
			sign = " "
		}
	}
	return lines
}

// drawNotes draws the notes on the selected row, and returns the rest of the canvas.
func (a *app) drawNotes(c canvas) (rest canvas) {
	var lines [][]termtext.Span
	for _, seq := range a.rowNotes(a.pane.Frame.Seq) {
		lines = append(lines, a.noteLines(seq, c.w-2)...)
	}
	return a.drawAbove(c, lines)
}

// maxAbove limits the lines of notes above a frame, and separately those of findings.
const maxAbove = 4

// drawAbove draws lines above the pane's content, and returns the rest of the canvas.
func (a *app) drawAbove(c canvas, lines [][]termtext.Span) (rest canvas) {
	lines = lines[:min(len(lines), maxAbove, c.h/2)]
	for y, line := range lines {
		c.line(1, y, line)
	}
	a.noteRows += len(lines)
	return c.part(0, len(lines), c.w, c.h)
}

// withNotes adds frames' notes to a conversation's lines, below the first line of the
// entity that a frame belongs to.
func (a *app) withNotes(lines []page.Line, session string, width int) []page.Line {
	if len(a.written.frames) == 0 {
		return lines
	}
	below := map[uint64][]uint64{} // frames by the first frame of their entity
	var firsts []uint64
	for _, l := range lines {
		if l.Seq != 0 {
			firsts = append(firsts, l.Seq)
		}
	}
	slices.Sort(firsts)
	for _, seq := range a.written.frames {
		var f dialect.Frame
		a.snapshot.Frame(seq, &f)
		if i, found := slices.BinarySearch(firsts, seq); (found || i > 0) && (f.Session == "" || f.Session == session) {
			if !found {
				i--
			}
			below[firsts[i]] = append(below[firsts[i]], seq)
		}
	}
	if len(below) == 0 {
		return lines
	}
	all := make([]page.Line, 0, len(lines)+len(below))
	for _, l := range lines {
		all = append(all, l)
		for _, seq := range below[l.Seq] {
			for _, spans := range a.noteLines(seq, width-2) {
				all = append(all, page.Line{Spans: append([]termtext.Span{termtext.Plain.Span("  ")}, spans...), Seq: seq})
			}
		}
		if l.Seq != 0 {
			delete(below, l.Seq)
		}
	}
	return all
}

// nextNote goes to the next or previous annotated frame.
func (a *app) nextNote(forward bool) {
	from, step := a.nextFrom(forward)
	i, found := slices.BinarySearch(a.written.frames, from)
	if !forward && !found {
		i--
	}
	for ; 0 <= i && i < len(a.written.frames); i += int(step) {
		if seq := a.written.frames[i]; a.model.All.Has(seq) {
			a.jump(seq)
			return
		}
	}
	a.notify("no bookmark or note " + direction(forward))
}

// compareWithBookmark compares the selected frame with the most recently bookmarked one.
func (a *app) compareWithBookmark() {
	seq := a.model.current()
	switch other := a.written.lastBookmark(seq); {
	case seq == 0:
		a.notify(noFrame)
	case other == 0:
		a.notify("bookmark another frame with m first")
	default:
		a.compare(other, seq)
	}
}
