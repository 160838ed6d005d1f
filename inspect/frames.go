package inspect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Sizes from which on the pane stands below the list, and beside it.
const (
	paneBelow  = 12 // rows
	paneBeside = 150
)

// A layout is where the parts of the screen are.
type layout struct {
	bar, body, list, title, pane, status, hints canvas
}

// layout divides the screen. What there is no room for has no size.
func (a *app) layout(screen tcell.Screen) layout {
	x, y, w, h := a.GetRect()
	all := canvas{screen: screen, looks: a.look, x: x, y: y, w: w, h: h}
	var l layout
	top, bottom := 0, h
	if h >= 4 {
		l.bar, top = all.part(0, 0, w, 1), 1
	}
	if h >= 8 {
		l.hints, bottom = all.part(0, h-1, w, 1), h-1
	}
	if h >= 2 {
		l.status, bottom = all.part(0, bottom-1, w, 1), bottom-1
	}
	l.body = all.part(0, top, w, bottom-top)
	switch b := l.body; {
	case b.w >= paneBeside:
		half := b.w * 11 / 20
		l.list, l.title, l.pane = b.part(0, 0, half, b.h), b.part(half+1, 0, b.w, 1), b.part(half+1, 1, b.w, b.h)
	case b.h >= paneBelow:
		half := b.h * 11 / 20
		l.list, l.title, l.pane = b.part(0, 0, b.w, half), b.part(0, half, b.w, 1), b.part(0, half+1, b.w, b.h)
	case a.inPane:
		l.title, l.pane = b.part(0, 0, b.w, min(1, b.h-1)), b.part(0, min(1, b.h-1), b.w, b.h)
	default:
		l.list = b
	}
	return l
}

// Draw draws the screen.
func (a *app) Draw(screen tcell.Screen) {
	a.screen = screen
	l := a.layout(screen)
	a.drawBar(l.bar)
	switch {
	case a.page != nil:
		a.page.draw(l.body)
	default:
		a.drawList(l.list)
		a.drawPane(l.title, l.pane)
		if l.pane.x > l.list.x && l.list.h > 0 {
			for y := range l.list.h {
				l.body.text(l.list.w, y, dim, "│")
			}
		}
	}
	a.drawHints(l.hints)
	a.drawStatus(l.status)
	switch p := a.prompt; {
	case p != nil:
		l.body.notice(p.wrong)
	case a.message != "" && width(a.message) > l.status.w/2:
		l.body.notice(a.message)
	}
}

// drawList draws the rows of the frames.
func (a *app) drawList(c canvas) {
	window := a.model.window(c.h)
	a.book.load(window)
	if len(window) == 0 && c.h > 0 {
		c.text(1, 0, dim, a.emptyText())
		return
	}
	form := rowForm{
		width: c.w, digits: max(len(a.reel.label(a.model.last)), 4), label: a.reel.label, late: a.reel.late, latency: a.known.latency,
		times: a.model.times, start: a.model.start, now: a.sinceStart(),
	}
	form.before = a.timeBefore(window)
	for y, w := range window {
		r := a.book.rows[w.seq]
		form.waits, form.marked = a.waits(w.seq), w.seq == a.model.mark
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
	s := dim
	if a.inPane {
		s = bold
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
	if a.model.selected == a.pane.frame.Seq || a.model.selected == 0 {
		return
	}
	f, err := a.book.frame(a.model.selected)
	if err != nil {
		a.pane = pane{form: a.pane.form}
		a.pane.frame.Seq = a.model.selected
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
	parts := []string{"frame " + a.reel.label(f.Seq), words(f.Kind.String(), piece(f.Method), piece(f.Update))}
	if f.Origin != wire.Wire {
		parts = append(parts, f.Origin.String())
	}
	parts = append(parts, a.pairText(f), before("session", piece(f.Session)), byteSize(f.Size), paneNames[a.pane.form])
	if f.Kind == wire.Junk || f.Kind == wire.Stderr {
		parts[len(parts)-1] = strings.Replace(parts[len(parts)-1], "tree", "text", 1)
	}
	return points(parts...)
}

// pairText tells of the other half of a call.
func (a *app) pairText(f *dialect.Frame) string {
	if a.waits(f.Seq) {
		return "no answer yet"
	}
	if latency, ok := a.known.latency(f); ok {
		return "answers " + a.reel.label(requestOf(f)) + " after " + brief(latency)
	}
	return ""
}

// A tab is the name of a place on the first line.
type tab struct {
	place Place
	x     int
	text  string
}

func (a *app) tabs(columns int) []tab {
	var list []tab
	x := 0
	if columns >= 100 {
		x = len(" acptap ")
	}
	for p := storePlace; p < places; p++ {
		key := strconv.Itoa(int(p))
		switch {
		case p == storePlace && a.Store == nil, p == searchPlace && a.search.query == "":
			continue
		case p == searchPlace:
			key = "s"
		}
		t := tab{p, x, " " + key + " " + placeNames[p] + " "}
		list = append(list, t)
		x += len(t.text)
	}
	return list
}

// drawBar draws the first line: what is looked at.
func (a *app) drawBar(c canvas) {
	if c.h == 0 {
		return
	}
	c.fill(0, 0, reverse)
	tabs := a.tabs(c.w)
	if tabs[0].x > 0 {
		c.text(1, 0, reverse, "acptap")
	}
	x := 0
	for _, t := range tabs {
		s := reverse
		if t.place == a.place {
			s = bold
		}
		x = c.text(t.x, 0, s, t.text)
	}
	if a.reel == nil {
		return
	}
	room := c.w - x - 2
	if room < 8 {
		return
	}
	agent, state := piece(agentName(&a.info)), stateText(a.info)
	said := points(agent, piece(a.subject.Name), before("session", piece(a.subject.Session)), state)
	if width(said) > room {
		said = points(agent, state)
	}
	if width(said) > room {
		said = points(state, agent)
	}
	said = Cut(said, room)
	c.text(c.w-width(said)-1, 0, reverse, said)
}

// drawStatus draws the line with the place in the list and the filter, a
// message, or what is typed.
func (a *app) drawStatus(c canvas) {
	if c.h == 0 {
		return
	}
	if a.prompt != nil {
		a.prompt.field.SetRect(c.x, c.y, c.w, 1)
		a.prompt.field.Draw(c.screen)
		return
	}
	at, all := a.model.place()
	if a.page != nil {
		at, all = a.page.cursor, len(a.page.shown)
	}
	status := []span{{bold, counts(at, all)}, {dim, a.progress()}}
	if a.message != "" {
		s := plain
		if a.trouble {
			s = red
		}
		status = append(status, span{dim, " · "}, span{s, a.message})
	}
	if a.query != "" && a.page == nil {
		status = append(status, span{dim, " · filter "}, span{cyan, piece(a.query)})
	}
	for _, note := range a.notes() {
		status = append(status, span{dim, " · " + note})
	}
	c.line(1, 0, status)
}

// maxNotice is how many lines a notice takes at most.
const maxNotice = 4

// notice tells at the bottom of the canvas what is too long for a line.
func (c canvas) notice(text string) {
	if text == "" {
		return
	}
	lines, _ := wrapped(text, max(c.w-2, 1), maxNotice)
	for i, said := range lines {
		y := c.h - len(lines) + i
		c.text(0, y, red, " ")
		c.fill(c.text(1, y, red, said), y, red)
	}
}

// progress tells how much of the tape was looked at.
func (a *app) progress() string {
	switch {
	case a.place == searchPlace:
		return a.search.progress()
	case a.place == storePlace:
		return ""
	}
	if s := a.story; s != nil && a.page != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended || s.last >= a.info.Lines {
			return ""
		}
		return " · read " + grouped(int64(s.last*100/a.info.Lines)) + " %"
	}
	if a.model.caught || a.info.Lines == 0 {
		return ""
	}
	text := " · read " + grouped(int64(min(a.model.last*100/a.info.Lines, 100))) + " %"
	if a.query != "" {
		text += ", Esc ends it"
	}
	return text
}

func (a *app) notes() []string {
	var list []string
	if a.page != nil {
		return nil
	}
	if a.model.times != sinceStart {
		list = append(list, "time "+timeNames[a.model.times])
	}
	if a.info.Live && a.model.follow {
		list = append(list, "following")
	}
	if a.model.mark != 0 {
		list = append(list, "marked "+a.reel.label(a.model.mark))
	}
	if n := a.model.bad.n; n > 0 {
		list = append(list, grouped(int64(n))+" with errors (e)")
	}
	if a.err != nil {
		list = append(list, "a part cannot be read")
	}
	if a.prefix != "" {
		list = append(list, a.prefix+"…")
	}
	return list
}

// drawHints draws the keys that a newcomer needs.
func (a *app) drawHints(c canvas) {
	if c.h == 0 {
		return
	}
	if a.prompt != nil {
		a.prompt.propose(c)
		return
	}
	where := a.part()
	var hints []key
	room := c.w - 1 + len(hintGap)
	for _, k := range a.keys {
		if k.hint != "" && k.where&where != 0 {
			hints = append(hints, k)
			room -= k.hintWidth()
		}
	}
	for room < 0 && len(hints) > 2 { // the last two are the keys, and how to leave
		drop := len(hints) - 3
		room += hints[drop].hintWidth()
		hints = slices.Delete(hints, drop, drop+1)
	}
	var row []span
	gap := ""
	for _, k := range hints {
		row = append(row, span{bold, gap + k.names[0]}, span{dim, " " + k.hint})
		gap = hintGap
	}
	c.line(1, 0, row)
}

// MouseHandler takes clicks and the wheel.
func (a *app) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		return a.mouse(action, e), nil
	}
}
