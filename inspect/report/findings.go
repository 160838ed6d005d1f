package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
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
