package screen

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// nextFrom returns the frame after or before the selected row, and the step for
// continuing from there.
func (a *app) nextFrom(forward bool) (seq, step uint64) {
	if !forward {
		return a.model.selected - 1, frameindex.Backward
	}
	return a.model.selected + uint64(max(a.model.rowRange(a.model.selected).Frames, 1)), 1
}

// nearby limits the frames that a key may search at once, which takes a few milliseconds
// (BenchmarkMillion). Longer searches run in the background.
const nearby = 1 << 14

// seek makes the event loop call then with the frame found, or 0 if there is none. It
// does so immediately if the frame is near and its fields suffice to find it.
func (a *app) seek(s frameindex.Seek, then func(seq uint64)) {
	c, t := a.snapshot.Columns, a.timeline
	if s.BytesFit == nil {
		left := nearby
		found := c.Seek(s.From, s.Step, func(f *dialect.Frame) bool { left--; return left < 0 || s.FieldsFit(f) })
		if left >= 0 {
			then(found)
			return
		}
		s.From = found
	}
	a.inBackground(func(on frameindex.Progress) func() {
		found, err := s.Run(c, t, on)
		return func() {
			if err != nil {
				a.fail(err)
				return
			}
			then(found)
		}
	})
}

// seekShown is like seek, but searches only visible frames, starting at the selected row.
func (a *app) seekShown(forward bool, s frameindex.Seek, missing string) {
	hits, may := a.model.All.Clone(), s.FieldsFit
	s.FieldsFit = func(f *dialect.Frame) bool { return hits.Has(f.Seq) && may(f) }
	s.From, s.Step = a.nextFrom(forward)
	a.seek(s, func(seq uint64) { a.jumpOr(seq, missing) })
}

// jump selects a frame.
func (a *app) jump(seq uint64) { a.fail(a.model.jump(seq)) }

// jumpOr selects a frame, or shows the message missing if there is none.
func (a *app) jumpOr(seq uint64, missing string) {
	if seq == 0 {
		a.notify(missing)
		return
	}
	a.jump(seq)
}

// toPair goes from a response or cancellation to its request, and from a request to its
// response or, if there is none, its cancellation.
func (a *app) toPair() {
	f := a.pane.Frame
	if request := frameindex.RequestOf(&f); request != 0 {
		a.jump(request)
		return
	}
	if f.Kind != wire.Request && f.Kind != wire.Batch {
		a.notify("no request and no response")
		return
	}
	cancelled := uint64(0)
	answers := func(g *dialect.Frame) bool {
		if frameindex.RequestOf(g) == f.Seq && g.Events.Has(dialect.RequestCancelled) {
			cancelled = cmp.Or(cancelled, g.Seq)
			return false
		}
		return frameindex.RequestOf(g) == f.Seq
	}
	a.seek(frameindex.Seek{From: f.Seq + 1, Step: 1, FieldsFit: answers}, func(seq uint64) { a.jumpOr(cmp.Or(seq, cancelled), "no answer") })
}

// sameMethod goes to the next frame with the same method or variant.
func (a *app) sameMethod(forward bool) {
	f := a.pane.Frame
	called := frametext.Name(&f)
	if called == "" {
		a.notify("this frame has no method")
		return
	}
	a.seekShown(forward, frameindex.Seek{FieldsFit: func(g *dialect.Frame) bool { return frametext.Name(g) == called }}, "no "+termtext.Piece(called)+" "+direction(forward))
}

// sameTool goes to the next frame about the same tool call.
func (a *app) sameTool(forward bool) {
	f := a.pane.Frame
	id := filter.ToolOf(&f).ID
	if id == "" {
		a.notify("this frame is about no tool call")
		return
	}
	may := func(g *dialect.Frame) bool { return g.Session == f.Session && filter.AboutTool(g) }
	fits := func(g *dialect.Frame) bool { return filter.ToolOf(g).ID == id }
	a.seekShown(forward, frameindex.Seek{FieldsFit: may, BytesFit: fits}, "nothing of this tool call "+direction(forward))
}

// compareForms shows what acptap changed in a frame.
func (a *app) compareForms() {
	f := a.pane.Frame
	seq, step := f.Seq+1, uint64(1)
	switch f.Origin {
	case wire.Rewritten:
		seq, step = f.Seq-1, frameindex.Backward
	case wire.Withheld:
	default:
		a.notify("acptap has not changed this frame")
		return
	}
	// A wire.Rewritten frame replaces the previous frame in its direction.
	var other wire.Origin
	onTape := a.sameTape(f.Seq)
	changed := func(g *dialect.Frame) bool {
		other = g.Origin
		return g.Dir == f.Dir && onTape(g.Seq) && (other == wire.Withheld || other == wire.Rewritten)
	}
	a.seek(frameindex.Seek{From: seq, Step: step, FieldsFit: changed}, func(found uint64) {
		if found == 0 || other == f.Origin {
			a.notify("it was withheld, and nothing came in its place")
			return
		}
		a.compare(found, f.Seq)
	})
}

// compare shows the differences between two frames.
func (a *app) compare(before, after uint64) {
	if before > after {
		before, after = after, before
	}
	f, err := a.rows.Frame(before)
	g, err2 := a.rows.Frame(after)
	if err := errors.Join(err, err2); err != nil {
		a.fail(err)
		return
	}
	a.pane.Compare("frame "+a.timeline.Label(before)+" against frame "+a.timeline.Label(after)+" · Esc ends", f.Raw, g.Raw)
	a.intoPane()
}

// askPlace goes to a frame or a time.
func (a *app) askPlace() {
	a.ask(":", "", func(text string) error {
		text = strings.TrimSpace(text)
		if at, ok := strings.CutPrefix(text, "+"); ok {
			d, err := time.ParseDuration(at)
			if err != nil {
				return errors.New("want a time such as +2.5s")
			}
			a.jumpTo(a.timeline.Began(a.model.selected) + d)
			return nil
		}
		seq, err := a.timeline.ParseLabel(text, a.model.selected)
		if err != nil {
			return err
		}
		return a.model.jump(seq)
	})
}

// jumpTo goes to the first row at or after a given time.
func (a *app) jumpTo(at time.Duration) {
	rows := a.model.rows()
	a.model.follow = false
	a.model.choose(sort.Search(rows.Len(), func(i int) bool { return a.snapshot.Time(rows.At(i)) >= at }), rows.Len())
}

// A failureFound is the failure last visited in the conversation or among the turns. Several
// failures may share a line.
type failureFound struct {
	place Place
	seq   uint64
	line  uint64 // 0: the page is not there yet
}

// landOn records that the page goes to a frame, which may be a failure.
func (a *app) landOn(seq uint64) {
	a.lastFailure = failureFound{}
	if a.model.Failures.Has(seq) {
		a.lastFailure = failureFound{place: a.place, seq: seq}
	}
}

// failureOnLine returns the failure last visited if the cursor is on its line; otherwise 0.
func (a *app) failureOnLine() uint64 {
	f := &a.lastFailure
	if f.place != a.place || f.seq == 0 || a.page.Awaits() || a.page.Own == nil {
		return 0
	}
	if f.line == 0 {
		f.line = a.page.LineOf(a.page.Own(f.seq))
	}
	if f.line != a.page.Current().Seq {
		return 0
	}
	return f.seq
}

// showsAll reports whether no filter hides frames of the subject.
func (a *app) showsAll() bool {
	all, _ := queryOf(a.subject, "")
	return a.query == all
}

// failure returns a frame's kind of failure.
func (a *app) failure(f *dialect.Frame) dialect.Failure {
	if a.snapshot.Open.IsUnanswered(f) {
		return dialect.Unanswered
	}
	return f.Failure()
}

// nextFailure goes to the next or previous failure: to its frame, or to its line in the
// conversation or among the turns.
func (a *app) nextFailure(forward bool) {
	if a.page == nil {
		round, err := a.model.nextFailure(forward, a.brokenFrom)
		if round {
			a.sayRound(forward)
		}
		a.fail(err)
		return
	}
	from, step := a.page.Current().Seq, uint64(1)
	if last := a.lastFailure; last.place == a.place && last.line == from {
		from = last.seq
	}
	if !forward {
		step = frameindex.Backward
	}
	a.seekFailure(from+step, step, false)
}

// seekFailure goes to the next failure on another line, and wraps around unless round is
// set.
func (a *app) seekFailure(from, step uint64, round bool) {
	id := a.session()
	isShown, open, found, least := a.trace.IsShown(id), a.snapshot.Open, a.found, a.broke.Least
	t := a.timeline
	fails := func(f *dialect.Frame) bool {
		return isShown(f) && t.PartOf(f.Seq) < len(t.Agents()) && (f.Failure() != dialect.NoFailure || open.IsUnanswered(f) || found.Worst(f.Seq, f.Seq+1, least) != conform.None)
	}
	a.seek(frameindex.Seek{From: from, Step: step, FieldsFit: fails}, func(seq uint64) {
		switch {
		case a.page == nil: // the user has left
			return
		case seq == 0 && round:
			a.notify("no failure or finding on another line")
			return
		case seq == 0 && step == 1:
			a.seekFailure(1, step, true)
			return
		case seq == 0:
			a.seekFailure(a.snapshot.Last, step, true)
			return
		}
		f, err := a.rows.Frame(seq)
		if err != nil {
			a.fail(err)
			return
		}
		line := a.trace.ChatLine(id, &f)
		if a.place == turnsPlace {
			line = a.trace.TurnLine(id, &f)
		}
		line = a.page.LineOf(line)
		a.lastFailure = failureFound{a.place, seq, line}
		if line == 0 || line == a.page.Current().Seq {
			a.seekFailure(seq+step, step, round)
			return
		}
		if round {
			a.sayRound(step == 1)
		}
		a.page.ShowFrame(line)
	})
}

// inBackground runs do in the background, and then makes the event loop call the function
// that do returned, unless it was cancelled. It cancels any earlier background run.
func (a *app) inBackground(do func(on frameindex.Progress) (then func())) {
	a.endSeek()
	a.seeking.Start(a.ctx, func(ctx context.Context) {
		reported := time.Now()
		show := func(seq uint64) {
			if ctx.Err() == nil {
				a.seekedTo = "frame " + termtext.Grouped(int64(seq))
			}
		}
		then := do(frameindex.NewProgress(ctx, func(seq uint64) {
			if now := time.Now(); now.Sub(reported) > frameindex.ReportEvery {
				reported = now
				a.updates.post(func() { show(seq) })
			}
		}))
		a.updates.post(func() {
			if ctx.Err() == nil {
				a.seekedTo = ""
				then()
			}
		})
	})
}

// endSeek cancels the background run.
func (a *app) endSeek() {
	a.seeking.Stop()
	a.seekedTo = ""
}
