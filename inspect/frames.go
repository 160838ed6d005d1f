package inspect

import (
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// drawList draws the rows of the frames.
func (a *app) drawList(c canvas) {
	window := a.model.window(c.h)
	a.book.load(window)
	if len(window) == 0 && c.h > 0 {
		c.text(1, 0, termtext.Dim, a.emptyText())
		return
	}
	form := rowForm{
		width: c.w, digits: max(len(a.reel.label(a.model.last)), 4), label: a.reel.label, late: a.reel.late, latency: a.known.latency,
		times: a.model.times, start: a.model.start,
	}
	form.before = a.timeBefore(window)
	now := a.sinceStart()
	for y, w := range window {
		r := a.book.rows[w.seq]
		form.waits, form.marked, form.now = a.waits(w.seq), w.seq == a.model.mark, 0
		if a.reel.last(w.seq) {
			form.now = now
		}
		c.spans(y, r.spans(form), w.seq == a.model.selected)
		form.before = r.frame.At
	}
}

// timeBefore returns the time of the row above the screen.
func (a *app) timeBefore(window []stretch) time.Duration {
	if a.model.times != sinceBefore || len(window) == 0 {
		return 0
	}
	above := a.model.rows().previous(window[0].seq - 1)
	if above == 0 {
		return 0
	}
	return a.known.time(above)
}

func (a *app) emptyText() string {
	switch {
	case !a.model.caught:
		return "reading…"
	case a.query != "":
		return "No frame fits the filter. / changes it, Esc clears it."
	case a.info.Live:
		return "Nothing has been said yet. What comes will show up here."
	}
	return "There are no frames on this tape."
}

// drawPane draws the selected frame.
func (a *app) drawPane(title, c canvas) {
	a.loadPane()
	s := termtext.Dim
	if a.inPane {
		s = termtext.Bold
	}
	title.across(0, s, a.paneTitle())
	if c.h == 0 || a.pane.frame.Seq == 0 {
		return
	}
	from, to := a.pane.window(c.w-1, c.h)
	for k := from; k < to; k++ {
		c.part(1, 0, c.w, c.h).spans(k-from, a.pane.spans(k), a.inPane && k == a.pane.cursor)
	}
}

// loadPane puts the selected frame into the pane.
func (a *app) loadPane() {
	seq := a.model.current()
	switch seq {
	case a.pane.frame.Seq:
		return
	case 0:
		a.pane = pane{form: a.pane.form}
		return
	}
	f, err := a.book.frame(seq)
	if err != nil {
		a.pane = pane{form: a.pane.form}
		a.pane.frame.Seq = seq
		a.fail(err)
		return
	}
	a.pane.show(f)
}

// paneTitle tells what the frame is, and of the frames that belong to it.
func (a *app) paneTitle() string {
	f := &a.pane.frame
	if f.Seq == 0 {
		return ""
	}
	if a.pane.form == asDiff {
		return a.pane.title
	}
	parts := []string{"frame " + a.reel.label(f.Seq), termtext.Spaced(f.Kind.String(), termtext.Piece(f.Method), termtext.Piece(f.Update))}
	if f.Origin != wire.Wire {
		parts = append(parts, f.Origin.String())
	}
	parts = append(parts, a.pairText(f), termtext.Labelled("session", termtext.Piece(f.Session)), termtext.ByteSize(f.Size), paneNames[a.pane.form])
	if f.Kind == wire.Invalid || f.Kind == wire.Stderr {
		parts[len(parts)-1] = strings.Replace(parts[len(parts)-1], "tree", "text", 1)
	}
	return termtext.Dotted(parts...)
}

// pairText tells of the other half of a call.
func (a *app) pairText(f *dialect.Frame) string {
	if a.waits(f.Seq) {
		if a.known.ended {
			return "no answer"
		}
		return "no answer yet"
	}
	request := requestOf(f)
	if x, _ := a.known.leaf(request); x == nil {
		return ""
	}
	said := "answers "
	if f.Events.Has(dialect.RequestCancelled) {
		said = "cancels "
	}
	said += a.reel.label(request)
	if latency, ok := a.known.latency(f); ok {
		said += " after " + termtext.Duration(latency)
	}
	return said
}
