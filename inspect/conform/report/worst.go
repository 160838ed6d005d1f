package report

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
)

// A located finding has its section.
type located struct {
	*Finding
	section *Section
	nth     int // among those of its rule and side, from 0
}

// worstFirst returns the new findings of all sections: the strongest first, and within a
// strength the first of each rule and side, then the second of each.
func worstFirst(sections []*Section) []located {
	type group struct {
		rule  *conform.Rule
		fault conform.Fault
	}
	count := map[group]int{}
	var all []located
	for _, s := range sections {
		for i := range s.Findings {
			f := &s.Findings[i]
			if f.Known {
				continue
			}
			g := group{f.Rule, f.Fault}
			all = append(all, located{f, s, count[g]})
			count[g]++
		}
	}
	slices.SortStableFunc(all, func(a, b located) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.nth, b.nth))
	})
	return all
}
