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

// A finding is what one side did against one rule of a protocol, however often.
type finding struct {
	Rule, Name string
	Strength   string
	Class      string
	Fault      string
	Count      int
	Text       string // what was done, the first time
	Frames     []frameRef
	More       int // frames that are not named

	strength conform.Strength
}

// maxNamed is how many frames of a finding are named.
const maxNamed = 8

// findings returns what was found, the worst first: violations, and the rest.
func (r *reader) findings() (violations, rest []*finding) {
	type key struct {
		rule     string
		fault    conform.Fault
		strength conform.Strength
	}
	groups := map[key]*finding{}
	var all []*finding
	for run, t := range r.in.Tapes {
		for _, seq := range slices.Sorted(maps.Keys(t.Findings)) {
			for _, l := range t.Findings[seq] {
				k := key{l.Rule, l.Fault, l.Strength}
				one := groups[k]
				if one == nil {
					one = &finding{Rule: l.Rule, Name: l.Name, Strength: l.Strength.String(), Fault: l.Fault.String(), Text: termtext.Brief(l.Text, 400), strength: l.Strength}
					if l.Strength == conform.Violation {
						one.Class = "bad"
					}
					groups[k] = one
					all = append(all, one)
				}
				one.Count++
				if seq == 0 {
					continue
				}
				if len(one.Frames) < maxNamed {
					one.Frames = append(one.Frames, r.frame(run, seq))
				} else {
					one.More++
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(b.Count, a.Count))
	})
	n := slices.IndexFunc(all, func(f *finding) bool { return f.strength != conform.Violation })
	if n < 0 {
		n = len(all)
	}
	return all[:n], all[n:]
}

// foundIn says in a line what was found in a frame; nothing if nothing was.
func (r *reader) foundIn(run int, seq uint64) string {
	lines := r.in.Tapes[run].Findings[seq]
	if len(lines) == 0 {
		return ""
	}
	worst := slices.MaxFunc(lines, func(a, b check.Line) int { return cmp.Compare(a.Strength, b.Strength) })
	text := fmt.Sprintf("%s %s: %s %s", worst.Strength, worst.Rule, worst.Fault, termtext.Brief(worst.Text, 300))
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}
