package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/record/termtext"
)

// Smallest sizes at which the pane is below the list, and beside it.
const (
	paneBelow  = 12 // rows
	paneBeside = 150
)

// A layout divides the screen into parts.
type layout struct {
	bar, body, list, title, pane, status, hints canvas
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
	if a.screen != screen {
		a.screen, a.look = screen, a.Theme.looks(screen.Colors(), a.Background)
	}
	l := a.layout(screen)
	a.drawBar(l.bar)
	switch {
	case a.page != nil && a.part() == inDiff:
		a.drawDiff(l.body)
	case a.page != nil:
		l.body.page(a.page, true)
	default:
		a.drawList(l.list)
		a.drawPane(l.title, l.pane)
		if l.pane.x > l.list.x && l.list.h > 0 {
			for y := range l.list.h {
				l.body.text(l.list.w, y, termtext.Dim, "│")
			}
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
