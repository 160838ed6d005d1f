package screen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/screen/tracepage"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Place is what fills the screen.
type Place uint8

const (
	noPlace Place = iota
	storePlace
	framesPlace
	chatPlace
	turnsPlace
	capabilitiesPlace
	statisticsPlace
	findingsPlace
	diffPlace
	searchPlace
	summaryPlace
	places
)

var placeNames = [places]string{
	storePlace: "store", framesPlace: "frames", chatPlace: "chat", turnsPlace: "turns", capabilitiesPlace: "capabilities",
	statisticsPlace: "statistics", findingsPlace: "findings", diffPlace: "diff", searchPlace: "search", summaryPlace: "summary",
}

// Places returns the names of the places that an Inspector can begin with.
func Places() []string {
	return append(slices.Clone(placeNames[storePlace:diffPlace]), placeNames[summaryPlace])
}

// Set accepts one of Places.
func (p *Place) Set(name string) error {
	i := slices.Index(placeNames[:], name)
	if !slices.Contains(Places(), name) {
		return fmt.Errorf("must be one of %s", strings.Join(Places(), ", "))
	}
	*p = Place(i)
	return nil
}

func (p *Place) String() string { return placeNames[*p] }

// Type names the flag's type.
func (p *Place) Type() string { return "place" }

var (
	errNoTape  = errors.New("choose a tape first: Enter opens it")
	errNoStore = errors.New("this is a file: there is no store around it")
)

// ofTape reports whether a place shows the open tape.
func (p Place) ofTape() bool { return framesPlace <= p && p <= findingsPlace || p == summaryPlace }

// goesAlong reports whether a place moves to the selected frame.
func (p Place) goesAlong() bool { return p.ofTape() && p != findingsPlace && p != summaryPlace }

// visit goes to a place. The selected frame stays selected.
func (a *app) visit(to Place) {
	switch {
	case to == storePlace && a.Store == nil:
		a.fail(errNoStore)
		return
	case to == diffPlace && a.diff.view == nil:
		a.fail(errNotCompared)
		return
	case to.ofTape() && a.timeline == nil:
		a.fail(errNoTape)
		return
	case to.ofTape() && to != framesPlace && to != findingsPlace && a.trace == nil:
		a.feed(&a.tracing, a.Store, a.traces())
	}
	a.leave()
	a.place, a.page, a.returnTo, a.details.focus = to, a.pages[to], noPlace, false
	if p := a.page; p != nil && to.goesAlong() {
		a.landOn(cmp.Or(a.model.target, a.model.selected))
		if p.Await(cmp.Or(a.model.target, a.model.selected)); a.model.follow {
			p.ToLast()
		}
	}
}

// leave selects the frame that the user moved to in the place.
func (a *app) leave() {
	if a.page == nil {
		return
	}
	if seq := a.page.TakeMove(); seq != 0 && a.place.ofTape() {
		a.fail(a.model.jump(seq))
	}
}

// traces makes the pages that show what happened on the tapes, and returns their reader.
func (a *app) traces() *tracepage.Reader {
	tapes := len(a.timeline.Agents())
	r := tracepage.NewReader(a.timeline.Label, tapes, a.updates.wake)
	a.trace = r

	a.pages[summaryPlace] = &page.Page{
		Lines: func(width int) []page.Line { return r.Overview(a.subject.Session, width, a.layout(nil).body.h) },
		State: func() any { return [2]any{r.Revision(), a.layout(nil).body.h} },
		Enter: a.showFrame,
	}
	c := tracepage.NewConversation(r, slices.Repeat([]time.Time{a.model.start}, tapes), a.session)
	a.talk = c
	a.pages[chatPlace] = &page.Page{
		Lines: func(width int) []page.Line { return a.withNotes(c.Lines(width), c.Session(), width) },
		State: func() any { return [2]any{c.State(), a.written.revision} }, UpTo: r.UpTo, Own: a.ownLine(r.ChatLine),
		Enter: a.showFrame, Flip: c.Flip, Fold: c.FlipAll, Block: c.Block,
	}
	turns := tracepage.NewTurns(r, a.session, a.sinceStart)
	a.turns = turns
	a.pages[turnsPlace] = &page.Page{
		Lines: turns.Lines, State: turns.State, UpTo: r.UpTo, Own: a.ownLine(r.TurnLine), Enter: a.showFrame,
		Fold: func() bool { return turns.Isolate(a.page.Current()) }, Late: turns.Late, Above: turns.Above,
	}
	a.pages[capabilitiesPlace] = &page.Page{
		Lines: func(width int) []page.Line { return r.Capabilities(width, a.rows.Frame) }, State: r.Revision,
		Enter: a.showFrame,
	}
	a.pages[statisticsPlace] = &page.Page{Lines: r.Statistics, State: r.Revision, Enter: a.showFrame}
	return r
}

// maxOwned limits the size of frames that are read to find their lines.
const maxOwned = 1 << 20

// ownLine returns a function that maps a frame to the frame of the line about it.
func (a *app) ownLine(line func(session string, f *dialect.Frame) uint64) func(seq uint64) uint64 {
	return func(seq uint64) uint64 {
		var f dialect.Frame
		if !a.snapshot.Frame(seq, &f) || f.Size > maxOwned {
			return seq
		}
		f, err := a.rows.Frame(seq)
		if err != nil {
			return seq
		}
		return line(a.session(), &f)
	}
}

// joinTurns puts all turns on one axis, or each on its own. The cursor stays in place.
func (a *app) joinTurns() {
	a.page.GoTo(a.page.Current().Seq)
	a.turns.Join()
}

// zoomTurns zooms out or in on the axis of the line under the cursor.
func (a *app) zoomTurns(in bool) {
	switch {
	case a.turns.Zoom(a.page.Current(), in):
	case in:
		a.notify("no closer")
	default:
		a.notify("that is all of it")
	}
}

// showFrame goes to a line's frame.
func (a *app) showFrame(l page.Line) {
	if l.Tape != "" {
		a.openServer(l)
		return
	}
	switch {
	case l.Seq != 0:
		a.showNumber(l.Seq)
	case a.place == summaryPlace:
		a.visit(framesPlace)
		a.returnTo = summaryPlace
	}
}

// showNumber goes from a page to a frame.
func (a *app) showNumber(seq uint64) {
	if err := a.model.jump(seq); err != nil {
		a.fail(err)
		return
	}
	a.page.TakeMove()
	if words := a.page.Words(); !words.IsZero() {
		a.pane.Look(words)
	}
	from := a.place
	a.visit(framesPlace)
	a.returnTo = from
}

// openEntry opens the tape or session on a line of the store.
func (a *app) openEntry(l page.Line) {
	e, ok := a.tapes.entry(l)
	if !ok {
		return
	}
	if e.broken != nil {
		a.fail(e.broken)
		return
	}
	if err := a.openTape(TapesOf(a.Store, e.session, e.tapes...), a.Filter); err != nil {
		a.fail(err)
		return
	}
	a.pages[storePlace].Find(e.key())
	if i := slices.Index(e.tapes, e.tape.Tape); i > 0 && !a.info.Live {
		a.await(tapeFrame{e.tape.Tape, e.first})
	}
	a.visit(a.first())
}

// first returns the place that a tape opens on: the frames if the user asks for some of them,
// if the tape is being recorded, or if it is very long; otherwise its summary.
func (a *app) first() Place {
	if a.Filter != "" || a.info.Live || a.info.Lines > maxTraced {
		return framesPlace
	}
	return summaryPlace
}
