package screen

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/inspect/screen/framepane"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// judge makes the page of findings, and returns what finds them.
func (a *app) judge() *findingpage.Reader {
	r := findingpage.NewReader(a.timeline.Label, a.subject.Session, a.updates.wake)
	v := findingpage.NewView(r)
	if a.broke != nil {
		v.Least = a.broke.Least
	}
	a.found, a.broke = r, v
	a.pages[findingsPlace] = &page.Page{Lines: v.Lines, State: v.State, Enter: a.showFinding, Flip: v.Flip}
	return r
}

// showFinding goes to the frame that a line is about, and to what is wrong in it.
func (a *app) showFinding(l page.Line) {
	a.pane.RevealUnderlined(l.Seq)
	a.showFrame(l)
}

// brokenIn returns the greatest strength of the findings on the frames of a row.
func (a *app) brokenIn(r frameindex.RowRange) conform.Strength {
	return a.found.Worst(r.Seq, r.Seq+uint64(max(r.Frames, 1)), a.broke.Least)
}

// maxFindingLines is how many lines of findings stand above a frame.
const maxFindingLines = 4

// drawFindings draws what is broken in the selected frame, and returns what of the canvas
// is left.
func (a *app) drawFindings(c canvas) (rest canvas) {
	var lines [][]termtext.Span
	var places []framepane.Place
	for _, f := range a.found.On(a.pane.Frame.Seq, a.broke.Least) {
		places = append(places, framepane.Place{Entry: f.Entry, Path: f.Path})
		head := fmt.Sprintf("%s %s %s · %s: ", report.Sign(f.Strength), f.Rule.ID, f.Rule.Name, f.Fault)
		for i, text := range termtext.Wrap(head+report.Said(&f), max(c.w-2, 20)) {
			style := findingpage.StyleOf(f.Strength)
			if i > 0 {
				text = "  " + text
			}
			lines = append(lines, style.Line(text))
		}
	}
	a.pane.Underline(places)
	lines = lines[:min(len(lines), maxFindingLines, c.h/2)]
	for y, line := range lines {
		c.line(1, y, line)
	}
	a.noteRows += len(lines)
	return c.part(0, len(lines), c.w, c.h)
}

// foundHere returns the rule that is broken under the cursor, nil if none is.
func (a *app) foundHere() *conform.Rule {
	if a.page != nil {
		return a.broke.Rule(a.page.Current())
	}
	if list := a.found.On(a.model.current(), a.broke.Least); len(list) > 0 {
		return list[0].Rule
	}
	return nil
}

func (a *app) hasFinding() bool { return a.foundHere() != nil }

// explain shows what the rule asks for that is broken under the cursor.
func (a *app) explain() {
	rule := a.foundHere()
	if rule == nil {
		a.notify("no finding here")
		return
	}
	a.page = &page.Page{State: func() any { return nil }, Lines: func(width int) []page.Line { return findingpage.Explanation(rule, width) }}
}

// toggleFindingNotes shows the notes among the findings, or leaves them out.
func (a *app) toggleFindingNotes() {
	if a.broke.Least == conform.Note {
		a.broke.Least = conform.Warning
		a.notify("violations and warnings")
		return
	}
	a.broke.Least = conform.Note
	a.notify("violations, warnings and notes")
}

// brokenFrom returns the nearest frame with a finding behind another or before it that is
// shown; 0 if there is none.
func (a *app) brokenFrom(from uint64, forward bool) uint64 {
	return a.found.Next(from, forward, a.broke.Least, a.model.All.Has)
}

// findingCounts says how many findings there are of each strength, behind the name of the
// place; and that more may come.
func (a *app) findingCounts() string {
	if a.found == nil {
		return ""
	}
	var b strings.Builder
	tally := a.found.Tally()
	for s := conform.Violation; s >= conform.Note; s-- {
		if n := tally[s]; n > 0 {
			fmt.Fprintf(&b, " %s%s", report.Sign(s), termtext.Grouped(int64(n)))
		}
	}
	if judged, ended := a.found.Progress(); !ended && judged < a.info.Lines {
		b.WriteString("…")
	}
	return b.String()
}
