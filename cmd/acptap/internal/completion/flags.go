package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/proxy/dialect"
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
	"method":    words(methods),
	"variant":   words(variants),
}

// ofFlag returns the source for the values of a flag; nil if it takes none.
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
