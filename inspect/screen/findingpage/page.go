package findingpage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// A View lays out findings as lines: one group for each rule that one side broke,
// followed by its frames. It is not safe for concurrent use.
type View struct {
	Least  conform.Strength                    // weakest findings shown
	Failed func(width int) (lines []page.Line) // returns lines about what failed; nil: there are none

	reader *Reader
	all    map[string]bool // keys of the groups that show all their frames
	flips  int             // number of changes to all
	groups []report.Group  // as last shown
}

// NewView returns a View of a Reader's findings except notes.
func NewView(r *Reader) *View {
	return &View{Least: conform.Hurts, reader: r, all: make(map[string]bool)}
}

// State remains equal as long as the lines do.
func (v *View) State() any { return [3]any{v.reader.Revision(), v.Least, v.flips} }

// Number of frames shown in a group: initially, and at most. The lines of all groups are
// rebuilt whenever something is found.
const (
	atFirst = 5
	atMost  = 1000
)

// Lines returns the lines.
func (v *View) Lines(width int) []page.Line {
	r := v.reader
	r.mu.Lock()
	var shown []*conform.Finding
	for i := range r.findings {
		if r.findings[i].Strength >= v.Least {
			shown = append(shown, &r.findings[i])
		}
	}
	ended, broken, weaker, unlisted := r.ended, r.broken, r.tally, maps.Clone(r.unlisted)
	r.mu.Unlock()
	clear(weaker[v.Least:])
	v.groups = report.Groups(shown)
	var lines []page.Line
	if v.Failed != nil {
		lines = v.Failed(width)
	}
	if len(lines) > 0 {
		lines = append(lines, page.Line{Item: -1})
	}
	if len(shown) > 0 {
		lines = append(lines, page.Line{Spans: termtext.CutSpans(legend(), width), Item: -1}, page.Line{Item: -1})
	}
	for i := range v.groups {
		lines = append(lines, v.group(i, width)...)
	}
	if len(shown)+weaker.Total() == 0 {
		text := "No broken rule was found. acptap check says which rules were tried."
		switch {
		case broken:
			text = "No broken rule was found in what can be read. acptap check says which rules could not be judged."
		case !ended:
			text = "No broken rule so far."
		}
		lines = append(lines, page.Line{Spans: termtext.Dim.Line(text), Item: -1})
	}
	if len(shown) > 0 && (weaker.Total() > 0 || len(unlisted) > 0) {
		lines = append(lines, page.Line{Item: -1})
	}
	for _, id := range slices.Sorted(maps.Keys(unlisted)) {
		text := fmt.Sprintf("%s was broken %s more than is listed", id, termtext.Times(unlisted[id]))
		lines = append(lines, page.Line{Spans: termtext.Dim.Line(text), Item: -1})
	}
	if weaker.Total() > 0 {
		lines = append(lines, page.Line{Spans: termtext.Dim.Line(weaker.String() + " not shown: ! shows them"), Item: -1})
	}
	return lines
}

// legend returns the line above the findings.
func legend() []termtext.Span {
	line := []termtext.Span{termtext.Bold.Span("Findings"), termtext.Dim.Span(": who broke the protocol  ")}
	for s := conform.Violation; s >= conform.Note; s-- {
		line = append(line, StyleOf(s).Span("  "+report.Sign(s)), termtext.Dim.Span(" "+s.String()))
	}
	return line
}

// First returns the key of the first finding's line, or the empty string if there is none.
func (v *View) First() string {
	if len(v.groups) == 0 {
		return ""
	}
	return groupKey(&v.groups[0])
}

func groupKey(g *report.Group) string {
	return g.Rule.ID + g.Fault.String() + g.Strength.String()
}

// group returns a group's lines.
func (v *View) group(i, width int) []page.Line {
	g := &v.groups[i]
	key := groupKey(g)
	style := StyleOf(g.Strength)
	lines := []page.Line{{
		Spans: []termtext.Span{
			style.Span(report.Sign(g.Strength) + " " + g.Rule.ID), termtext.Bold.Span(" " + g.Rule.Name),
			termtext.Plain.Span("  " + g.Fault.String()), termtext.Dim.Span("  " + termtext.Times(len(g.Findings))),
		},
		Item: i, Key: key, Seq: g.Findings[0].Seq,
	}}
	list, rest := g.Findings, "Space shows them"
	switch {
	case v.all[key]:
		list, rest = list[:min(len(list), atMost)], "/rule:"+g.Rule.ID+" among the frames shows them"
	case len(list) > atFirst+1:
		list = list[:atFirst]
	}
	for k, f := range list {
		label := ""
		if f.Seq != 0 {
			label = v.reader.label(f.Seq)
		}
		head := fmt.Sprintf("    %5s  ", label)
		for n, text := range termtext.Wrap(report.Said(f), max(width-len(head), 20)) {
			line := page.Line{
				Spans: []termtext.Span{termtext.Dim.Span(head), termtext.Plain.Span(text)},
				Item:  i, Seq: f.Seq, Level: 1, Joined: n > 0,
			}
			if n == 0 {
				line.Key = fmt.Sprintf("%s/%d", key, k)
			}
			lines = append(lines, line)
			head = strings.Repeat(" ", len(head))
		}
	}
	if more := len(g.Findings) - len(list); more > 0 {
		text := fmt.Sprintf("           and %s more: %s", termtext.Grouped(int64(more)), rest)
		lines = append(lines, page.Line{Spans: termtext.Dim.Line(text), Item: i, Key: key + "/more", Level: 1})
	}
	return lines
}

// Flip shows as many frames as possible of the group that a line belongs to, or only the
// first ones.
func (v *View) Flip(l page.Line) {
	if l.Item < 0 || l.Item >= len(v.groups) {
		return
	}
	key := groupKey(&v.groups[l.Item])
	v.all[key] = !v.all[key]
	v.flips++
}

// Rule returns the rule that a line concerns, or nil if there is none.
func (v *View) Rule(l page.Line) *conform.Rule {
	if l.Item < 0 || l.Item >= len(v.groups) {
		return nil
	}
	return v.groups[l.Item].Rule
}

// StyleOf returns the style for a strength.
func StyleOf(s conform.Strength) termtext.Style {
	switch s {
	case conform.Violation:
		return termtext.Failure
	case conform.Warning:
		return termtext.Permission
	case conform.Hurts:
		return termtext.Slow
	}
	return termtext.Dim
}

// Explanation returns the lines that explain a rule.
func Explanation(rule *conform.Rule, width int) []page.Line {
	var b strings.Builder
	text := report.Text{W: &b}
	if err := text.Explain(rule); err != nil {
		return []page.Line{{Spans: termtext.Failure.Line(termtext.Piece(err.Error()))}}
	}
	var lines []page.Line
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		style := termtext.Plain
		if i == 0 {
			style = termtext.Bold
		}
		for k, part := range termtext.Wrap(line, width) {
			lines = append(lines, page.Line{Spans: style.Line(part), Joined: k > 0})
		}
	}
	return lines
}
