package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/proxy/dialect"
)

// values are the sources for the placeholders in the usage of flags.
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

// ofFlag returns what completes the values of a flag; nil if there is nothing to
// complete, as for a number.
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

// Choices returns the words of which a flag takes one, as its usage lists them behind
// a colon, such as `when` in "when to use colours: auto, always or never". What
// stands in brackets explains the word before it, and is left out, as is what is more
// than a word.
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

// withoutBrackets returns text without what stands in round brackets.
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

// words returns a source of a closed or well-known set.
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

// nothing completes a value that only the user knows, such as a number. Names of
// files would mislead.
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
