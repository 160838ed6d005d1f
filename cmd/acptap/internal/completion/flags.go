package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/probe"
)

// values maps placeholders in the usage of flags to their sources.
var values = map[string]source{
	"directory": directories,
	"file":      files,
	"query":     queries,
	"id":        sessions,
	"name":      names,
	"tag":       tags,
	"rules":     rules,
	"rule":      ruleNames,
	"patterns":  words(cases),
	"method":    words(methods),
	"variant":   words(variants),
}

// ofFlag returns the source for a flag's values, or nil if it takes none.
func ofFlag(f *pflag.Flag) source {
	if f.Value.Type() == "bool" {
		return nil
	}
	if list := Choices(f.Usage); list != nil {
		return words(func() []string { return list })
	}
	placeholder, _ := pflag.UnquoteUsage(f)
	if from := values[placeholder]; from != nil {
		return from
	}
	return nothing
}

// Choices returns the words that a flag accepts, if its usage lists them after a colon, as
// in "when to use colours: auto, always or never". It ignores text in brackets and items of
// several words.
func Choices(usage string) []string {
	_, list, _ := strings.Cut(withoutBrackets(usage), ": ")
	list, _, _ = strings.Cut(list, ";")
	var choices []string
	for part := range strings.SplitSeq(strings.ReplaceAll(list, " or ", ", "), ",") {
		if word := strings.TrimSpace(part); word != "" && !strings.ContainsAny(word, " .") {
			choices = append(choices, word)
		}
	}
	if len(choices) < 2 {
		return nil
	}
	return choices
}

// withoutBrackets returns text without everything in round brackets.
func withoutBrackets(text string) string {
	var b strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// words returns a source for a fixed list.
func words(list func() []string) source {
	return func(_ *Completer, word string) (fit []cobra.Completion, _ cobra.ShellCompDirective) {
		for _, w := range list() {
			if strings.HasPrefix(w, word) {
				fit = append(fit, w)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// nothing offers no completion, for values that only the user knows, such as numbers. File
// names would mislead.
func nothing(*Completer, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// cases returns the ids of acptap probe's cases.
func cases() (ids []string) {
	for k := probe.Agent; k <= probe.Client; k++ {
		all, err := probe.Cases(k)
		if err != nil {
			continue // there are none
		}
		for _, c := range all {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func methods() (names []string) {
	for _, m := range dialect.Methods() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func variants() (names []string) {
	for _, u := range dialect.Updates() {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// queries completes the end of a filter query: keys with their meanings, and values of the
// key before the cursor.
func queries(c *Completer, word string) (list []cobra.Completion, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	word = strings.TrimPrefix(word, "'") // fish includes an unclosed quote
	open := true                         // every completion needs more text after it, as a key needs a value
	for _, one := range filter.Complete(word, c.values) {
		text := word[:one.From] + one.Text
		if !strings.HasPrefix(text, word) {
			continue // shells drop completions without the word as prefix
		}
		open = open && strings.HasSuffix(text, ":")
		list = append(list, described(text, one.Means))
	}
	if open {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return list, how
}

// values returns the known values of a key.
func (c *Completer) values(key string) []string {
	var known fit
	switch key {
	case "method":
		return methods()
	case "update":
		return variants()
	case "server":
		for _, i := range c.listing().Tapes {
			known.add(i.Start.Parent.Server, "")
		}
	case "session":
		for _, s := range c.listing().Sessions {
			known.add(s.ID, "")
		}
	}
	return known.list
}

// rules completes the last id in a comma-separated list of rules.
func rules(_ *Completer, word string) (fit []cobra.Completion, _ cobra.ShellCompDirective) {
	begin := strings.LastIndexByte(word, ',') + 1
	before, last := word[:begin], word[begin:]
	for _, r := range slices.Concat(conform.Rules(), report.Own()) {
		if strings.HasPrefix(r.ID, last) {
			fit = append(fit, described(before+r.ID, r.Name))
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp
}

// ruleNames completes the id or name of one rule.
func ruleNames(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	fit, directive := rules(c, word)
	for _, r := range conform.Rules() {
		if word != "" && strings.HasPrefix(r.Name, word) {
			fit = append(fit, described(r.Name, r.ID))
		}
	}
	return fit, directive
}
