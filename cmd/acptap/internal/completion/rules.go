package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// rules completes the last id in a list of rules with commas.
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
