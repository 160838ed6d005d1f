package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/record/termtext"
)

// known returns all rules that can be named.
func known() []*conform.Rule { return append(conform.Rules(), report.Own()...) }

// selectRules returns the rules, including those of package report, whose IDs start with
// a word of choose (all if it is empty) and with no word of ignore.
func selectRules(choose, ignore []string) ([]*conform.Rule, error) {
	for _, word := range slices.Concat(choose, ignore) {
		if err := checkID(word); err != nil {
			return nil, err
		}
	}
	rules := slices.DeleteFunc(known(), func(r *conform.Rule) bool {
		return len(choose) > 0 && !begins(r.ID, choose) || begins(r.ID, ignore)
	})
	if len(rules) == 0 {
		return nil, fmt.Errorf("no rule is left of %s without %s", strings.Join(choose, ","), strings.Join(ignore, ","))
	}
	return rules, nil
}

// begins reports whether an ID starts with one of the words.
func begins(id string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(strings.ToUpper(id), strings.ToUpper(word)) })
}

// checkID returns an error if no rule's ID starts with word.
func checkID(word string) error {
	var ids []string
	for _, r := range known() {
		if word != "" && begins(r.ID, []string{word}) {
			return nil
		}
		ids = append(ids, r.ID)
	}
	return unknown(word, ids)
}

// unknown is the error for a word that matches no rule.
func unknown(word string, names []string) error {
	near := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(distance(word, a), distance(word, b)) })
	return fmt.Errorf("no rule is called %q, and none begins so; the nearest is %s (see acptap check --rules)", word, near)
}

// distance returns the edit distance of two words, ignoring case.
func distance(word, name string) int {
	return termtext.Distance(strings.ToLower(word), strings.ToLower(name))
}

// lookupRule returns the rule whose ID or name is word, ignoring case, otherwise the only
// one whose ID or name starts with it.
func lookupRule(word string) (*conform.Rule, error) {
	var names []string
	var begun []*conform.Rule
	for _, r := range known() {
		switch {
		case strings.EqualFold(word, r.ID), strings.EqualFold(word, r.Name):
			return r, nil
		case word != "" && (begins(r.ID, []string{word}) || strings.HasPrefix(r.Name, strings.ToLower(word))):
			begun = append(begun, r)
		}
		names = append(names, r.ID, r.Name)
	}
	switch len(begun) {
	case 0:
		return nil, unknown(word, names)
	case 1:
		return begun[0], nil
	}
	return nil, fmt.Errorf("%q is the beginning of %d rules, such as %s %s", word, len(begun), begun[0].ID, begun[0].Name)
}
