package screen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/diffpage"
	"github.com/acptap/acptap/inspect/screen/framepane"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// A diffPlaceState is the state of the place that shows two tapes or sessions side by
// side.
type diffPlaceState struct {
	sides  [2]comparedSide
	level  compare.Level
	view   *diffpage.View       // nil: nothing is being compared
	opened *frameindex.Timeline // the timeline last opened from here
	worker
}

// A comparedSide is one side of the comparison.
type comparedSide struct {
	Subject
	name     string
	timeline *frameindex.Timeline // for the event loop
}

var errNotCompared = errors.New("nothing is compared: in the store, m marks a tape and D on another one shows both")

// toggleMark marks the tape or session under the cursor for compareTapes.
func (a *app) toggleMark() {
	e, ok := a.entry()
	if !ok {
		return
	}
	if a.tapes.marked.key() == e.key() {
		a.tapes.marked = tapeEntry{}
		return
	}
	a.tapes.marked = e
	a.notify("marked: D on another one shows both side by side")
}

// compareTapes shows the marked tape or session next to the one under the cursor.
func (a *app) compareTapes() {
	e, ok := a.entry()
	marked := a.tapes.marked
	switch {
	case !ok:
		return
	case marked.key() == "":
		a.notify("mark another one with m first")
		return
	case marked.key() == e.key():
		a.notify("this one is marked; D on another one shows both")
		return
	case marked.broken != nil || e.broken != nil:
		a.fail(errors.Join(marked.broken, e.broken))
		return
	}
	var sides [2]comparedSide
	for i, e := range []tapeEntry{marked, e} {
		s := comparedSide{Subject: TapesOf(a.Store, e.session, e.tapes...), name: e.name(a.Now())}
		var err error
		if s.timeline, err = frameindex.OpenTimeline(s.Name, s.Open); err != nil {
			a.fail(err)
			return
		}
		sides[i] = s
	}
	a.diff.sides, a.diff.opened = sides, nil
	a.readDiff(compare.Content, diffpage.Left)
	a.visit(diffPlace)
}

// name returns a short name of the tape or session.
func (e *tapeEntry) name(now time.Time) string {
	began := e.tape.Start.Time.Local()
	when := began.Format("15:04")
	if y, m, d := now.Local().Date(); began.Before(time.Date(y, m, d, 0, 0, 0, 0, time.Local)) {
		when = began.Format("2006-01-02 15:04")
	}
	what := e.title
	if what == "" {
		what = tapetext.AgentName(e.tape)
	}
	return termtext.Dotted(termtext.Piece(what), when, termtext.Piece(tapetext.ShortID(e.tape.Tape)))
}

// readDiff reads both sides and compares them at the given level.
func (a *app) readDiff(level compare.Level, cursor diffpage.Side) {
	var subjects [2]diffpage.Subject
	var heads [2]diffpage.Head
	for i, s := range a.diff.sides {
		subjects[i] = diffpage.Subject{Session: s.Session, Open: s.Open}
		for _, p := range s.timeline.Agents() {
			subjects[i].Lines += p.Info.Lines
			subjects[i].Live = p.Info.Live // of the last tape
		}
		heads[i] = diffpage.Head{Name: s.name, Label: func(at compare.Position) string { return s.timeline.Label(s.seq(at)) }}
	}
	r := diffpage.NewReader(subjects[0], subjects[1], level)
	v := diffpage.NewView(r, heads)
	v.Side = cursor
	a.diff.level, a.diff.view = level, v
	a.diff.Start(a.ctx, func(ctx context.Context) { r.Read(ctx, a.updates.wake) })
	a.pages[diffPlace] = &page.Page{
		Lines: v.Lines, State: v.State, Late: v.Spans,
		Enter: func(l page.Line) { a.enterDiff(l.Item) }, Fold: v.FlipAll,
	}
}

// seq returns the number of a frame on the timeline.
func (s *comparedSide) seq(at compare.Position) uint64 {
	return s.timeline.Number(frameindex.Place{Part: at.Tape, Seq: at.Seq})
}

// nextLevel compares at the next level.
func (a *app) nextLevel() {
	a.readDiff((a.diff.level+1)%compare.None, a.diff.view.Side)
	a.page = a.pages[diffPlace]
}

// forgetDiff ends the comparison if it includes a tape. The returned function blocks
// until reading of the tape has ended.
func (a *app) forgetDiff(tape string) (wait func()) {
	if a.diff.view == nil || !a.diff.sides[0].timeline.Has(tape) && !a.diff.sides[1].timeline.Has(tape) {
		return func() {}
	}
	a.diff.view, a.pages[diffPlace] = nil, nil
	return a.diff.Stop()
}

// enterDiff unfolds the equal steps under the cursor, or goes to the frame on the
// cursor's side.
func (a *app) enterDiff(item int) {
	if a.diff.view.Folded(item) {
		a.flipDiff()
		return
	}
	a.openCompared(a.diff.view.Side)
}

// flipDiff folds or unfolds equal steps.
func (a *app) flipDiff() {
	if key := a.diff.view.Flip(a.page.Current().Item); key != "" {
		a.page.Find(key)
	}
}

// nextDifference goes to the next or previous difference.
func (a *app) nextDifference(forward bool) {
	from := a.page.Current().Item
	to := a.diff.view.NextDifference(from, forward)
	if to < 0 {
		a.notify("no difference " + direction(forward))
		return
	}
	a.page.Move(to - from)
}

// compared returns the frame on a side of the line under the cursor. If there is none, it
// tells the user.
func (a *app) compared(side diffpage.Side) (at compare.Position, ok bool) {
	at, ok = a.diff.view.Position(a.page.Current().Item, side)
	if !ok || at.Seq == 0 {
		a.notify("there is nothing on this side; % goes to the frame on the other one")
		return at, false
	}
	return at, true
}

// openCompared opens a side at the frame of the line under the cursor.
func (a *app) openCompared(side diffpage.Side) {
	at, ok := a.compared(side)
	if !ok {
		return
	}
	s := &a.diff.sides[side]
	seq := s.seq(at)
	if a.timeline == nil || a.timeline != a.diff.opened || a.subject.Name != s.Name || a.subject.Session != s.Session || a.model.jump(seq) != nil {
		if err := a.openTape(s.Subject, ""); err != nil {
			a.fail(err)
			return
		}
		a.model.follow, a.model.target, a.opening = false, seq, false
		a.pages[storePlace].Find("") // the cursor stays on one of the two
	}
	a.diff.opened, a.openedFrom, a.inPane = a.timeline, diffPlace, false
	a.visit(framesPlace)
}

// compareFrames shows the differences between the two frames on the line under the
// cursor.
func (a *app) compareFrames() {
	var frames [2]dialect.Frame
	var names [2]string
	for side, word := range []string{"left", "right"} {
		at, ok := a.diff.view.Position(a.page.Current().Item, diffpage.Side(side))
		if !ok || at.Seq == 0 {
			a.notify("this line has a frame on one side only")
			return
		}
		s := &a.diff.sides[side]
		f, err := s.timeline.Agents()[at.Tape].Tape.Frame(at.Seq)
		if err != nil {
			a.fail(err)
			return
		}
		frames[side], names[side] = f, fmt.Sprintf("%s frame %s", word, s.timeline.Label(s.seq(at)))
	}
	heading := page.Line{Spans: termtext.Bold.Line(names[0] + " against " + names[1]), Heading: page.Stays}
	lines := append([]page.Line{heading}, framepane.Comparison(frames[0].Raw, frames[1].Raw)...)
	a.page = &page.Page{State: func() any { return nil }, Lines: func(int) []page.Line { return lines }}
	a.page.Find(framepane.FirstDifference)
}

// summary says how much differs.
func (d *diffPlaceState) summary() string {
	t := d.view.Table()
	if t == nil {
		return ""
	}
	return " · " + t.Summary() + " · " + d.level.String()
}

// drawDiff draws the two sides and, below them, the full text of the line under the cursor.
func (a *app) drawDiff(c canvas) {
	c = c.part(1, 0, c.w, c.h)
	list, strip := c, canvas{}
	if c.h >= paneBelow {
		h := min(max(c.h/4, 5), 10)
		list, strip = c.part(0, 0, c.w, c.h-h), c.part(0, c.h-h, c.w, h)
	}
	v := a.diff.view
	w := a.page.Window(list.w, list.h)
	if key := v.TakeFirst(); key != "" {
		a.page.Find(key)
		w = a.page.Window(list.w, list.h)
	}
	list = list.headings(w.Heading)
	item := a.page.Current().Item
	_, whole := v.Position(item, v.Side)
	for y, row := range w.Rows {
		list.spans(y, row.Spans, y == w.Cursor && !whole)
	}
	if whole {
		each, right := diffpage.Columns(list.w)
		x := [2]int{0, right}[v.Side]
		list.part(x, w.Cursor, each, 1).spans(0, v.Half(item, v.Side, each), true)
	}
	for y, row := range w.Rows {
		list.marks(y, row.Spans, row.Marks)
	}
	d := v.Detail(item, strip.w, strip.h-1)
	strip.across(0, termtext.Dim, d.Title)
	for y, line := range d.Lines {
		strip.line(0, y+1, line)
	}
}
