package screen

import (
	"strconv"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A tab is a place's name on the first line.
type tab struct {
	place Place
	x     int
	text  string
}

// tabs returns the names of the places. If they do not fit, it narrows the gaps and then
// omits two of the names.
func (a *app) tabs(columns int) []tab {
	list := a.tabsWith(columns, "  ", false)
	for _, narrow := range []bool{false, true} {
		if last := list[len(list)-1]; last.x+termtext.Width(last.text) > columns {
			list = a.tabsWith(columns, " ", narrow)
		}
	}
	return list
}

func (a *app) tabsWith(columns int, gap string, narrow bool) []tab {
	var list []tab
	x := 0
	if columns >= 100 {
		x = len(" acptap ")
	}
	for i := range places {
		p := (i + summaryPlace) % places // the summary comes first
		key := strconv.Itoa(int(p))
		switch {
		case p == noPlace, p == summaryPlace && a.timeline == nil:
			continue
		case p == summaryPlace:
			key = "0"
		case p == storePlace && a.Store == nil, p == diffPlace && a.diff.view == nil, p == searchPlace && a.search.query == "":
			continue
		case p == searchPlace:
			key = "s"
		}
		name := placeNames[p]
		if p == findingsPlace {
			name += a.findingCounts()
		}
		if narrow && p != a.place && (p == capabilitiesPlace || p == statisticsPlace) {
			name = ""
		}
		t := tab{p, x, " " + termtext.Spaced(key, name) + gap[1:]}
		list = append(list, t)
		x += termtext.Width(t.text)
	}
	return list
}

// drawBar draws the first line: the places, and what is open.
func (a *app) drawBar(c canvas) {
	if c.h == 0 {
		return
	}
	c.fill(0, 0, termtext.Reverse)
	tabs := a.tabs(c.w)
	if tabs[0].x > 0 {
		c.text(1, 0, termtext.Reverse, "acptap")
	}
	x := 0
	for _, t := range tabs {
		s := termtext.Reverse
		if t.place == a.place {
			s = termtext.Bold
		}
		x = c.text(t.x, 0, s, t.text)
	}
	if a.timeline == nil || a.place == summaryPlace { // the summary tells it
		return
	}
	room := c.w - x - 2
	if room < 8 {
		return
	}
	agent, state := termtext.Piece(tapetext.AgentName(a.info)), tapetext.OutcomeSpan(a.info.Outcome()).Text
	text := termtext.Dotted(state, agent, termtext.Piece(a.subject.Name), termtext.Labelled("session", termtext.Piece(a.subject.Session)))
	if termtext.Width(text) > room {
		text = termtext.Dotted(state, agent)
	}
	text = termtext.Cut(text, room)
	c.text(c.w-termtext.Width(text)-1, 0, termtext.Reverse, text)
}

// drawStatus draws the status line: the position, the filter and a message, or the prompt.
func (a *app) drawStatus(c canvas) {
	if c.h == 0 {
		return
	}
	if a.prompt != nil {
		a.prompt.field.SetRect(c.x, c.y, c.w, 1)
		a.prompt.field.Draw(c.screen)
		c.unjoin(0)
		if a.prompt.count != nil {
			text := a.prompt.count()
			c.text(c.w-termtext.Width(text)-1, 0, termtext.Dim, text)
		}
		return
	}
	status := a.whereabouts()
	if a.message != "" && a.fits(c.w) {
		status = append(status, termtext.Dim.Span(" · "), a.messageStyle(termtext.Plain).Span(a.message))
	}
	if a.query != "" && a.page == nil {
		status = append(status, termtext.Dim.Span(" · filter "), termtext.Bold.Span(termtext.Piece(a.query)))
	}
	status = append(status, a.searchNote()...)
	for _, note := range a.notes() {
		status = append(status, termtext.Dim.Span(" · "+note))
	}
	c.line(1, 0, status)
}

// whereabouts describes the position in the list.
func (a *app) whereabouts() []termtext.Span {
	at, all := a.model.place()
	if a.page != nil {
		at, all = a.page.Position()
	}
	spans := []termtext.Span{termtext.Bold.Span(counts(at, all)), termtext.Dim.Span(a.progress())}
	if text := a.holding(); text != "" {
		spans = append(spans, termtext.Permission.Span(" · "+text))
	}
	if text := a.hanging(); text != "" {
		spans = append(spans, termtext.Permission.Span(" · "+hangSign+" "+text))
	}
	if text := a.announcement(); text != "" {
		spans = append(spans, termtext.LifeCycle.Span(" · "+text))
	}
	return spans
}

// hanging describes what hangs on the tape being followed, or returns the empty string if
// nothing does.
func (a *app) hanging() string {
	if a.timeline == nil || !a.info.Live || !a.place.ofTape() {
		return ""
	}
	last := a.timeline.Latest().Info.Tape
	return hangText(a.tapes.hangs[last], a.subject.Session, a.Now())
}

// fits reports whether the message, if any, fits on the status line.
func (a *app) fits(width int) bool {
	if a.message == "" {
		return true
	}
	used := len(" ") + len(" · ")
	for _, s := range a.whereabouts() {
		used += termtext.Width(s.Text)
	}
	return used+termtext.Width(a.message) < width
}

// messageStyle returns the message's style, which is special only for an error.
func (a *app) messageStyle(usual termtext.Style) termtext.Style {
	if a.trouble {
		return termtext.Failure
	}
	return usual
}

// maxNotice limits the lines of a notice.
const maxNotice = 4

// notice shows text at the bottom of the canvas that is too long for the status line.
func (c canvas) notice(s termtext.Style, text string) {
	if text == "" {
		return
	}
	lines := termtext.Wrap(text, max(c.w-2, 1))
	lines = lines[:min(len(lines), maxNotice)]
	for i, text := range lines {
		y := c.h - len(lines) + i
		c.text(0, y, s, " ")
		c.fill(c.text(1, y, s, text), y, s)
	}
}

// progress says how much of the tape has been read.
func (a *app) progress() string {
	switch {
	case a.place == searchPlace:
		return a.search.progress()
	case a.place == storePlace:
		return ""
	case a.place == diffPlace:
		return a.diff.summary()
	}
	if a.page != nil {
		last, ended, _ := a.readerProgress()
		if ended || last >= a.info.Lines {
			return ""
		}
		return " · read " + termtext.Grouped(int64(last*100/a.info.Lines)) + " %"
	}
	if a.seekedTo != "" {
		return " · looking, at " + a.seekedTo + ", Esc ends it"
	}
	if a.model.Complete || a.info.Lines == 0 {
		return ""
	}
	text := " · read " + termtext.Grouped(int64(min(a.model.Last*100/a.info.Lines, 100))) + " %"
	if a.query != "" {
		text += ", Esc ends it"
	}
	return text
}

// readerProgress returns how far the current place's reader has got: the last frame read,
// whether nothing will follow, and whether part of the tapes cannot be read.
func (a *app) readerProgress() (last uint64, ended, broken bool) {
	switch {
	case a.place == findingsPlace:
		return a.found.Progress()
	case a.place.ofTape() && a.trace != nil:
		return a.trace.Progress()
	}
	return 0, true, false
}

func (a *app) notes() []string {
	var list []string
	if a.page != nil {
		if e, ok := a.tapes.entry(a.page.Current()); ok && a.part()&inTapes != 0 {
			list = append(list, termtext.Dotted(e.tape.Tape, termtext.Piece(tapetext.Place(e.tape))))
		}
		if (a.place == chatPlace || a.place == turnsPlace) && a.showsAll() {
			list = append(list, a.failuresNote(a.failureOnLine())...)
		}
		if _, _, broken := a.readerProgress(); broken {
			list = append(list, brokenNote)
		}
		return list
	}
	if a.holds != nil && a.holds.filter != "" {
		list = append(list, "hold "+termtext.Piece(a.holds.filter))
	}
	if a.model.times != sinceStart {
		list = append(list, "time "+timeNames[a.model.times])
	}
	if text := a.signNote(); text != "" {
		list = append(list, text)
	}
	if a.info.Live && a.model.follow {
		list = append(list, "following")
	}
	if written := a.written.count(); written != "" {
		list = append(list, written+" (')")
	}
	list = append(list, a.failuresNote(a.model.failureHere())...)
	if a.err != nil {
		list = append(list, brokenNote)
	}
	if a.prefix != "" {
		list = append(list, a.prefix+"…")
	}
	return list
}

// signNote says what the signs of the selected row mean.
func (a *app) signNote() string {
	f := &a.pane.Frame
	text := ""
	if f.Origin != wire.Wire {
		text = f.Origin.String() + " by acptap"
	}
	if found := a.found.On(a.model.current(), a.broke.Least); len(found) > 0 {
		text = termtext.Dotted(text, found[0].Strength.String()+" (i)")
	}
	return text
}

const brokenNote = "a part cannot be read"

// failuresNote says which of the visible failures a frame is, or how many there are if it is
// none.
func (a *app) failuresNote(seq uint64) []string {
	failures := &a.model.Failures
	all := failures.Len()
	switch {
	case all == 0:
		return nil
	case seq != 0 && failures.Has(seq):
		return []string{"failure " + counts(failures.Below(seq), all) + " (e)"}
	}
	return []string{termtext.Counted(all, "failure") + " (e)"}
}
