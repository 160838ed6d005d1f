package screen

import (
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// drawList draws the rows of frames, below the headings of their columns if there is room.
func (a *app) drawList(heading, c canvas) {
	window := a.model.window(c.h)
	a.rows.Load(window)
	if len(window) == 0 && c.h > 0 {
		c.text(1, 0, termtext.Dim, a.emptyText())
		return
	}
	form := rowForm{
		width: c.w, digits: a.timeline.LabelColumns(a.model.Last), label: a.timeline.Label, began: a.timeline.Began, latency: a.snapshot.Latency,
		times: a.model.times, start: a.model.start,
	}
	heading.line(0, 0, form.headings())
	form.before = a.timeBefore(window)
	now := a.sinceStart()
	for y, w := range window {
		r := a.rows.Row(w.Seq)
		form.waits, form.sign, form.now, form.silence = a.waits(w.Seq), a.rowSign(w.Seq), 0, 0
		if form.held = ""; a.heldOn(w.Seq) != nil {
			form.sign, form.held = holdSign, a.waitsText(a.heldOn(w.Seq))
		}
		form.server = a.timeline.Part(a.timeline.PartOf(w.Seq)).Server != ""
		form.failure, form.broken = a.failure(&r.Frame), a.found.Worst(w.Seq, w.Seq+uint64(max(w.Frames, 1)), a.broke.Least)
		if r.Frame.Slow() != dialect.NotSlow {
			form.silence = a.snapshot.Silence(&r.Frame, a.sameTape(w.Seq))
		}
		if a.timeline.GoesOn(w.Seq) {
			form.now = now
		}
		c.spans(y, rowSpans(&r, form), w.Seq == a.model.selected)
		form.before, form.above = r.Frame.At, &r
	}
}

// sameTape returns a function that reports whether another frame is on the same tape as
// this one.
func (a *app) sameTape(seq uint64) func(uint64) bool {
	t := a.timeline
	part := t.PartOf(seq)
	return func(other uint64) bool { return t.PartOf(other) == part }
}

// timeBefore returns the time of the row just above the screen.
func (a *app) timeBefore(window []frameindex.RowRange) time.Duration {
	if a.model.times != sinceBefore || len(window) == 0 {
		return 0
	}
	above := a.model.rows().Previous(window[0].Seq - 1)
	if above == 0 {
		return 0
	}
	return a.snapshot.Time(above)
}

func (a *app) emptyText() string {
	switch {
	case !a.model.Complete:
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
	title.across(0, a.paneStyle(), a.paneTitle())
	if c.h == 0 || a.pane.Frame.Seq == 0 {
		return
	}
	a.noteRows = 0
	c = a.drawFindings(a.drawNotes(c))
	for y, row := range c.page(&a.pane.Page, a.paneStyle() == termtext.Bold) {
		c.part(1, 0, c.w, c.h).underline(y, row.Spans, a.pane.Underlines(row))
	}
}

// loadPane puts the selected frame into the pane.
func (a *app) loadPane() {
	seq := a.model.current()
	if a.page != nil {
		seq = a.page.Current().Seq
	}
	switch seq {
	case a.pane.Frame.Seq:
		return
	case 0:
		a.pane.Clear(0)
		return
	}
	f, err := a.rows.Frame(seq)
	if err != nil {
		a.pane.Clear(seq)
		a.fail(err)
		return
	}
	a.pane.Show(f)
}

// paneTitle describes the frame and the other half of its call.
func (a *app) paneTitle() string {
	f := &a.pane.Frame
	if f.Seq == 0 {
		return ""
	}
	if a.pane.Comparing() {
		return a.pane.Title
	}
	parts := []string{"frame " + a.timeline.Label(f.Seq), termtext.Spaced(f.Kind.String(), termtext.Piece(f.Method), termtext.Piece(f.Update))}
	held := a.heldTitle(f.Seq)
	switch {
	case held != "":
		parts = append(parts, held)
	case f.Origin != wire.Wire:
		parts = append(parts, f.Origin.String(), a.pairText(f))
	default:
		parts = append(parts, a.pairText(f))
	}
	parts = append(parts, termtext.Labelled("session", termtext.Piece(f.Session)), termtext.ByteSize(f.Size), a.pane.Form.String())
	if f.Kind == wire.Invalid || f.Kind == wire.Stderr {
		parts[len(parts)-1] = strings.Replace(parts[len(parts)-1], "tree", "text", 1)
	}
	return termtext.Dotted(parts...)
}

// pairText describes the other half of a call.
func (a *app) pairText(f *dialect.Frame) string {
	if a.waits(f.Seq) {
		if a.snapshot.Ended {
			return "no answer"
		}
		return "no answer yet"
	}
	request := frameindex.RequestOf(f)
	if !a.snapshot.Has(request) {
		return ""
	}
	text := "answers "
	if f.Events.Has(dialect.RequestCancelled) {
		text = "cancels "
	}
	text += a.timeline.Label(request)
	if latency, ok := a.snapshot.Latency(f); ok {
		text += " after " + termtext.Duration(latency)
	}
	return text
}
