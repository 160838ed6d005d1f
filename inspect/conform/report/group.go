package report

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
)

// A Group holds one side's findings under one rule.
type Group struct {
	Rule     *conform.Rule
	Fault    conform.Fault // Sender: no one's
	Strength conform.Strength
	Findings []*conform.Finding // in their order
}

// Groups groups findings, greatest strength first, then largest group first.
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

// A located is a finding together with the section it is in.
type located struct {
	*Finding
	section *Section
	nth     int // index among those with the same rule and side, from 0
}

// worstFirst returns the new findings of all sections, strongest first. Among equals, the
// first finding of each rule and side precedes the second of each.
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
