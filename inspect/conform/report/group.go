package report

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
)

// A Group is what one side did against one rule.
type Group struct {
	Rule     *conform.Rule
	Fault    conform.Fault // Sender: no one's
	Strength conform.Strength
	Findings []*conform.Finding // in their order
}

// Groups groups findings, those of the greatest strength first, then the largest group
// first.
func Groups(findings []*conform.Finding) []Group {
	type key struct {
		rule     *conform.Rule
		fault    conform.Fault
		strength conform.Strength
	}
	var groups []Group
	at := map[key]int{}
	for _, f := range findings {
		k := key{f.Rule, f.Fault, f.Strength}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, Group{Rule: f.Rule, Fault: f.Fault, Strength: f.Strength})
		}
		groups[i].Findings = append(groups[i].Findings, f)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(len(b.Findings), len(a.Findings)))
	})
	return groups
}
