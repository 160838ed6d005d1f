package screen

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/inspect/screen/framepane"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// judge makes the findings page and returns its reader.
func (a *app) judge() *findingpage.Reader {
	r := findingpage.NewReader(a.timeline.Label, a.subject.Session, a.updates.wake)
	v := findingpage.NewView(r)
	if a.broke != nil {
		v.Least = a.broke.Least
	}
	v.Failed = a.failedLines
	a.found, a.broke = r, v
	start := func() string { return cmp.Or(v.First(), worstKey) }
	a.pages[findingsPlace] = &page.Page{Lines: v.Lines, Start: start, State: func() any { return [2]any{v.State(), a.failuresRead()} }, Enter: a.showFinding, Flip: v.Flip}
	return r
}

// failuresRead returns a value that changes when more is known about failures.
func (a *app) failuresRead() any {
	if a.trace == nil {
		return nil
	}
	return a.trace.Revision()
}

// worstKey is the key of the line about the worst failure.
const worstKey = "worst failure"

// failedLines says what failed on the tape, worst first. Breaches of the protocol are not
// among it.
func (a *app) failedLines(width int) (lines []page.Line) {
	if a.trace == nil {
		return nil
	}
	sum := a.trace.Summary(a.subject.Session)
	if len(sum.Failures.Worst) == 0 {
		return nil
	}
	add := func(seq uint64, spans ...termtext.Span) {
		l := page.Line{Spans: termtext.CutSpans(spans, width), Seq: seq, Item: -1}
		if len(lines) == 1 {
			l.Key = worstKey
		}
		lines = append(lines, l)
	}
	add(0, termtext.Bold.Span("Failed"))
	for _, f := range sum.Failures.Worst {
		style := f.Style()
		what, why, at := f.Said()
		add(at.Seq, f.MarkStyle().Span(termtext.Spaced(f.Sign(), f.Word())+" "), termtext.Bold.Span(what), style.Span(why), termtext.Dim.Span("  frame "+at.Label), style.Span(f.Repeated()))
		if text := f.Aftermath(true); text != "" {
			add(at.Seq, termtext.Plain.Span(strings.Repeat(" ", 2+len("not retried"))), termtext.Dim.Span(text))
		}
	}
	if more := sum.MoreFailures(sum.Failures.Worst); more != "" {
		add(0, termtext.Dim.Span("  "+more+": e among the frames goes to each"))
	}
	return lines
}

// showFinding goes to a line's frame, and to its finding.
func (a *app) showFinding(l page.Line) {
	a.pane.RevealUnderlined(l.Seq)
	a.showFrame(l)
}

// drawFindings draws the findings on the selected frame, and returns the rest of the
// canvas.
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
	if a.place == findingsPlace { // the list shows it
		return c
	}
	return a.drawAbove(c, lines)
}

// foundHere returns the broken rule under the cursor, or nil if there is none.
func (a *app) foundHere() *conform.Rule {
	if a.page != nil {
		return a.broke.Rule(a.page.Current())
	}
	if list := a.found.On(a.model.current(), a.broke.Least); len(list) > 0 {
		return list[0].Rule
	}
	return nil
}

// explain explains the broken rule under the cursor.
func (a *app) explain() {
	rule := a.foundHere()
	if rule == nil {
		a.notify("no finding here")
		return
	}
	a.page = &page.Page{State: func() any { return nil }, Lines: func(width int) []page.Line { return findingpage.Explanation(rule, width) }}
}

// toggleFindingNotes shows or hides notes among the findings.
func (a *app) toggleFindingNotes() {
	if a.broke.Least == conform.Note {
		a.broke.Least = conform.Hurts
		a.notify("violations, warnings and what hurts")
		return
	}
	a.broke.Least = conform.Note
	a.notify("violations, warnings and notes")
}

// brokenFrom returns the nearest visible frame after or before another that has a
// finding, or 0 if there is none.
func (a *app) brokenFrom(from uint64, forward bool) uint64 {
	return a.found.Next(from, forward, a.broke.Least, a.model.All.Has)
}

// findingCounts returns the number of findings by strength, with an ellipsis if more may
// come. It is shown after the place's name.
func (a *app) findingCounts() string {
	if a.timeline == nil {
		return ""
	}
	var b strings.Builder
	tally := a.found.Tally()
	for s := conform.Violation; s >= conform.Note; s-- {
		if n := tally[s]; n > 0 {
			fmt.Fprintf(&b, " %s%s", report.Sign(s), termtext.Grouped(int64(n)))
		}
	}
	if judged, ended, _ := a.found.Progress(); !ended && judged < a.info.Lines {
		b.WriteString("…")
	}
	return b.String()
}
