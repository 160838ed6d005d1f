package screen

import (
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// The details are next to a page, if there is room. They show what the line under the cursor
// does not: a text, or else the line's frame in the pane.
type details struct {
	focus bool // they have the keyboard focus
	text  page.Page
	about any // identifies the subject of the text; nil: there is no text, and the frame is shown
	shown any // about, for the text shown last
}

// detailed reports whether details are on the screen. In the store, there are none for a tape
// that cannot be read or has not been read yet.
func (a *app) detailed() bool {
	l := a.layout(nil)
	return a.page != nil && l.pane.h > 0 && (a.place != storePlace || a.details.about != nil)
}

// detailPage returns the page with the details.
func (a *app) detailPage() *page.Page {
	if a.details.about == nil {
		return &a.pane.Page
	}
	return &a.details.text
}

// drawDetails draws the details.
func (a *app) drawDetails(title, c canvas) {
	if c.h == 0 {
		return
	}
	a.details.about = nil
	switch a.place {
	case storePlace:
		a.drawBrief(title, c)
		return
	case chatPlace:
		l := a.page.Current()
		if what, lines := a.talk.Detail(l, c.w-1); len(lines) > 0 {
			a.drawText(title, c, l.Seq, what, lines)
			return
		}
	}
	a.drawPane(title, c)
}

// drawText draws text as the details. about identifies its subject: the text keeps its scroll
// position as long as about stays the same.
func (a *app) drawText(title, c canvas, about any, what string, lines [][]termtext.Span) {
	d := &a.details
	if d.shown != about {
		d.text, d.shown = page.Page{}, about
	}
	d.about = about
	d.text.Lines = func(int) []page.Line {
		list := make([]page.Line, len(lines))
		for i, spans := range lines {
			list[i].Spans = spans
		}
		return list
	}
	title.across(0, a.paneStyle(), what)
	c.page(&d.text, d.focus)
}

// paneStyle returns the style of the pane's title, which shows whether the pane has the
// focus.
func (a *app) paneStyle() termtext.Style {
	if a.inPane && a.page == nil || a.details.focus {
		return termtext.Bold
	}
	return termtext.Dim
}

// leaveDetails ends a search in the details, or goes back to the list.
func (a *app) leaveDetails() {
	if p := a.detailPage(); !p.Words().IsZero() {
		p.EndSearch()
		return
	}
	a.details.focus = false
}

// openDetail folds or unfolds a value of the frame, or has the effect of Enter on the line in
// the list.
func (a *app) openDetail() {
	if a.details.about == nil {
		a.pane.Open()
		return
	}
	a.enterLine()
}
