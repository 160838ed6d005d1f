package screen

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/record/termtext"
)

// wheelLines is the number of lines scrolled per notch of the wheel.
const wheelLines = 3

// mouse handles a click or the wheel, and reports whether it had any effect.
func (a *app) mouse(action tview.MouseAction, e *tcell.EventMouse) bool {
	x, y := e.Position()
	l := a.layout(nil)
	if a.prompt != nil {
		return false
	}
	switch action {
	case tview.MouseMove:
		return a.drag(l, x, y)
	case tview.MouseLeftUp:
		a.dragging = false
		return false
	case tview.MouseScrollUp:
		a.wheel(l, x, y, -wheelLines)
	case tview.MouseScrollDown:
		a.wheel(l, x, y, wheelLines)
	case tview.MouseLeftDown:
		return a.click(l, x, y)
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		// tview treats any two quick clicks as a double click, wherever they were.
		return a.clicks.isDouble(x, y, time.Now()) && a.doubleClick(l, x, y)
	default:
		return false
	}
	return true
}

// signColumns is the width of the fold sign in the conversation.
const signColumns = 2

// wheel scrolls what is under the mouse by n lines.
func (a *app) wheel(l layout, x, y, n int) {
	a.opening = false
	switch {
	case l.pane.has(x, y) && a.page != nil:
		a.detailPage().Scroll(n)
	case l.pane.has(x, y):
		a.pane.Scroll(n)
	case a.page != nil:
		a.page.Scroll(n)
	default:
		a.model.scroll(n)
	}
}

// drag moves the divider with the mouse that holds it.
func (a *app) drag(l layout, x, y int) bool {
	switch {
	case !a.dragging:
		return false
	case l.pane.x > l.list.x:
		a.moveDivider(shareOf(x-l.body.x, l.body.w))
	default:
		a.moveDivider(shareOf(y-l.body.y, l.body.h))
	}
	return true
}

// shareOf returns the smallest share that gives part columns or rows out of all.
func shareOf(part, all int) int { return (wholeShare*part + all - 1) / max(all, 1) }

// click selects what is under the mouse: a place, a line, a row or the divider. It reports
// whether there is anything.
func (a *app) click(l layout, x, y int) bool {
	switch {
	case l.onDivider(x, y):
		a.dragging = true
	case a.page != nil && l.pane.has(x, y):
		if !a.detailed() {
			return false
		}
		a.details.focus = true
		if p := a.detailPage(); p == &a.pane.Page {
			p.Point(y - l.pane.y - a.noteRows)
		} else {
			p.Point(y - l.pane.y)
		}
	case l.heading.has(x, y):
		a.nextTime()
	case a.part()&inTapes != 0 && y == l.list.y && l.list.has(x, y) && a.page.Headed() > 0:
		a.tapes.order.choose(columnAt(l.list.w-1, x-l.list.x-1))
		a.notify(a.tapes.order.says())
	case l.bar.has(x, y):
		for _, t := range a.tabs(l.bar.w) {
			if t.x <= x && x < t.x+termtext.Width(t.text) {
				a.visit(t.place)
			}
		}
	case a.page != nil && l.body.has(x, y):
		a.opening, a.details.focus = false, false
		a.page.Point(y - l.body.y)
		if a.onSign(l, x) {
			a.page.FlipHere()
		}
	case l.list.has(x, y):
		a.opening = false
		a.inPane, a.model.follow = false, false
		rows := a.model.rows()
		a.model.choose(rows.Below(a.model.top)+y-l.list.y, rows.Len())
	case l.pane.has(x, y):
		a.intoPane()
		a.pane.Point(y - l.pane.y - a.noteRows)
	default:
		return false
	}
	return true
}

// The clicks remember the previous click.
type clicks struct {
	x, y int
	at   time.Time // zero: none, or a double click
}

// isDouble reports whether a click is the second one at the same position.
func (c *clicks) isDouble(x, y int, now time.Time) bool {
	if c.x == x && c.y == y && now.Sub(c.at) <= tview.DoubleClickInterval {
		*c = clicks{}
		return true
	}
	*c = clicks{x, y, now}
	return false
}

// doubleClick applies Enter to the line under the mouse. On a fold sign it does nothing,
// since there the two clicks count separately. It reports whether it had any effect.
func (a *app) doubleClick(l layout, x, y int) bool {
	switch {
	case a.onSign(l, x):
		return false
	case l.pane.has(x, y) && (a.page == nil || a.details.about == nil && a.detailed()):
		a.pane.Open()
	case a.page != nil && a.page.Enter != nil && l.list.has(x, y) && y >= l.list.y+a.page.Headed():
		a.page.Enter(a.page.Current())
	default:
		return false
	}
	return true
}

// onSign reports whether column x of the conversation is on a fold sign.
func (a *app) onSign(l layout, x int) bool {
	return a.page != nil && a.place == chatPlace && a.page.Flip != nil && x-l.body.x <= signColumns && a.page.Current().Seq != 0
}

func (c canvas) has(x, y int) bool {
	return c.x <= x && x < c.x+c.w && c.y <= y && y < c.y+c.h
}
