// Package config says which findings count, and how much: by the ids of rules, and by a
// file of exceptions that have reasons.
package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/spelling"
)

// Select returns the rules whose ids begin with one of the words of choose, or all if
// there is none, but for those whose ids begin with one of the words of ignore.
func Select(choose, ignore []string) ([]*conform.Rule, error) {
	for _, word := range slices.Concat(choose, ignore) {
		if err := checkID(word); err != nil {
			return nil, err
		}
	}
	rules := slices.DeleteFunc(conform.Rules(), func(r *conform.Rule) bool {
		return len(choose) > 0 && !begins(r.ID, choose) || begins(r.ID, ignore)
	})
	if len(rules) == 0 {
		return nil, fmt.Errorf("no rule is left of %s without %s", strings.Join(choose, ","), strings.Join(ignore, ","))
	}
	return rules, nil
}

// begins reports whether an id begins with one of some words.
func begins(id string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(id, strings.ToUpper(word)) })
}

// checkID returns an error if no rule has an id that begins with a word.
func checkID(word string) error {
	var ids []string
	for _, r := range conform.Rules() {
		if word != "" && begins(r.ID, []string{word}) {
			return nil
		}
		ids = append(ids, r.ID)
	}
	near := slices.MinFunc(ids, func(a, b string) int { return cmp.Compare(distance(word, a), distance(word, b)) })
	return fmt.Errorf("no rule is called %q, and none begins so; the nearest is %s (see acptap check --rules)", word, near)
}

// distance returns how far a word is from an id, whatever its case.
func distance(word, id string) int { return spelling.Distance(strings.ToUpper(word), id) }

// Lookup returns the rule with an id, in capital letters or small ones.
func Lookup(id string) (*conform.Rule, error) {
	if r := conform.Lookup(strings.ToUpper(id)); r != nil {
		return r, nil
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range conform.Rules() {
		if begins(r.ID, []string{id}) {
			ids = append(ids, r.ID)
		}
	}
	return nil, fmt.Errorf("%q is the beginning of %d rules, such as %s", id, len(ids), ids[0])
}
