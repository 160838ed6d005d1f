package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/record/termtext"
)

// Minimum sizes for the pane to be below the list, and next to it.
const (
	paneBelow  = 12 // rows
	paneBeside = 140
)

// A layout divides the screen into parts.
type layout struct {
	bar, body, heading, list, title, pane, status, hints canvas
}

// layout divides the screen. Parts without room have size zero.
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
	case b.w >= paneBeside && (a.page == nil || a.hasDetails()):
		left := a.divide(b.w)
		l.list, l.title, l.pane = b.part(0, 0, left, b.h), b.part(left+1, 0, b.w, 1), b.part(left+1, 1, b.w, b.h)
		if a.page != nil {
			l.list.w-- // a blank before the divider
		}
	case a.page != nil:
		l.list = b
	case b.h >= paneBelow:
		upper := a.divide(b.h)
		l.list, l.title, l.pane = b.part(0, 0, b.w, upper), b.part(0, upper, b.w, 1), b.part(0, upper+1, b.w, b.h)
	case a.inPane:
		l.title, l.pane = b.part(0, 0, b.w, min(1, b.h-1)), b.part(0, min(1, b.h-1), b.w, b.h)
	default:
		l.list = b
	}
	if list := l.list; a.page == nil && list.h >= headedList {
		l.heading, l.list = list.part(0, 0, list.w, 1), list.part(0, 1, list.w, list.h)
	}
	return l
}

// headedList is the minimum height at which a list of frames has headings.
const headedList = 4

// hasDetails reports whether the place shows details of the line under the cursor next to the
// lines, if there is room.
func (a *app) hasDetails() bool {
	switch {
	case a.page != a.pages[a.place]:
		return false
	case a.place == storePlace:
		return len(a.tapes.listing.Tapes) > 0
	}
	return a.timeline != nil && (a.place == chatPlace || a.place == turnsPlace || a.place == findingsPlace)
}

// Shares of the screen at which the divider between list and pane may be.
const (
	wholeShare = 1000
	usualShare = 550
	shareStep  = 50
	leastShare = 200
)

// divide returns the columns or rows of the list, given the total.
func (a *app) divide(all int) int {
	if a.share == 0 {
		a.share = usualShare
	}
	return all * a.share / wholeShare
}

// moveDivider sets the list's share of the screen.
func (a *app) moveDivider(share int) { a.share = min(max(share, leastShare), wholeShare-leastShare) }

// onDivider reports whether a point is on the line between list and pane.
func (l *layout) onDivider(x, y int) bool {
	switch {
	case l.title.w == 0 || l.list.h == 0:
		return false
	case l.pane.x > l.list.x:
		return x == l.pane.x-1 && l.body.has(x, y)
	}
	return l.title.has(x, y)
}

// Draw draws the screen.
func (a *app) Draw(screen tcell.Screen) {
	if a.screen != screen {
		a.screen, a.look = screen, a.Theme.looks(screen.Colors(), a.Background)
	}
	l := a.layout(screen)
	a.drawBar(l.bar)
	switch {
	case a.page != nil && a.part() == inDiff:
		a.drawDiff(l.body)
	case a.page != nil:
		l.list.page(a.page, a.part() != inDetails)
		a.drawDetails(l.title, l.pane)
	default:
		a.drawList(l.heading, l.list)
		a.drawPane(l.title, l.pane)
	}
	if l.pane.x > l.list.x && l.list.h > 0 {
		for y := range l.body.h {
			l.body.text(l.pane.x-l.body.x-1, y, termtext.Dim, "│")
		}
	}
	a.drawHints(l.hints)
	a.drawStatus(l.status)
	switch p := a.prompt; {
	case p != nil:
		l.body.notice(termtext.Failure, p.wrong)
	case !a.fits(l.status.w):
		l.body.notice(a.messageStyle(termtext.Reverse), a.message)
	}
}

// MouseHandler handles clicks and the wheel.
func (a *app) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		return a.mouse(action, e), nil
	}
}
