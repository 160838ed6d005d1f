package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
)

// A finding says how often, and where, one side broke one rule of a protocol.
type finding struct {
	Rule, Name string
	Strength   string
	Class      string
	Fault      string
	Count      int
	Text       string // text of the first occurrence
	Frames     []frameRef
	More       int // unlisted frames
}

// findingList returns a table of findings.
func findingList(list []*finding) h.Node {
	return h.Group{h.Raw(`<p class="meta small">Where the traffic departs from the rules of the protocol, as acptap check finds it. A violation breaks a rule, a warning is likely to cause trouble, what hurts is allowed but known to break a peer, a note is worth knowing.</p>
`), h.Table(h.Class("numbers"), tableHead("rule", "who", "what", "frames"), h.TBody(h.NL, h.Each(list, func(f *finding) h.Node {
		return h.Group{h.Tr(f.rule(h.If(f.Count > 1, fmt.Sprintf(", ×%d", f.Count))), h.Td(
			h.Each(f.Frames, func(at frameRef) h.Node { return h.Group{h.A(at.link(), h.Text(at.String())), h.Text(" ")} }),
			h.Given(f.More, span("soft", fmt.Sprintf("and %d more", f.More))))), h.NL}
	}))), h.NL}
}

// rule returns the cells about the rule, who broke it, and how.
func (f *finding) rule(times string) h.Node {
	return h.Group{h.Td(span("mono", f.Rule), h.Text(" "), status{f.Strength, f.Class}.chip()), h.Td(h.Text(f.Fault)),
		h.Td(h.Text(f.Text+" "), span("soft", "("+f.Name+times+")"))}
}

// tableHead returns the head of a table.
func tableHead(columns ...string) h.Node {
	return h.THead(h.Tr(h.Each(columns, func(name string) h.Node { return h.Th(h.Scope("col"), h.Text(name)) })))
}

// maxNamed limits the frames listed for a finding.
const maxNamed = 8

// findings returns what was found, worst first: violations, and the rest.
func (r *reader) findings() (violations, rest []*finding) {
	var all []*conform.Finding
	for _, t := range r.in.Tapes {
		for _, seq := range slices.Sorted(maps.Keys(t.Findings)) {
			for _, f := range t.Findings[seq] {
				all = append(all, &f.Finding)
			}
		}
	}
	for _, g := range check.Groups(all) {
		if one := r.finding(&g); g.Strength == conform.Violation {
			one.Class = "bad"
			violations = append(violations, one)
		} else {
			rest = append(rest, one)
		}
	}
	return violations, rest
}

// finding returns a group as shown on the page.
func (r *reader) finding(g *check.Group) *finding {
	one := &finding{Rule: g.Rule.ID, Name: g.Rule.Name, Strength: g.Strength.String(), Fault: g.Fault.String(), Count: len(g.Findings), Text: termtext.Brief(g.Findings[0].Text, 400)}
	for _, f := range g.Findings {
		switch {
		case f.Seq == 0:
		case len(one.Frames) < maxNamed:
			one.Frames = append(one.Frames, r.frame(f.Tape, f.Seq))
		default:
			one.More++
		}
	}
	return one
}

// foundIn returns what was found in a frame, on one line, or "" if nothing was.
func (r *reader) foundIn(run int, seq uint64) string {
	found := r.in.Tapes[run].Findings[seq]
	if len(found) == 0 {
		return ""
	}
	worst := slices.MaxFunc(found, func(a, b *check.Finding) int { return cmp.Compare(a.Strength, b.Strength) })
	text := fmt.Sprintf("%s %s: %s %s", worst.Strength, worst.Rule.ID, worst.Fault, termtext.Brief(worst.Text, 300))
	if n := len(found) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}
