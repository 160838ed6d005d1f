package completion

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/inspect/frames/filter"
)

// queries completes the end of a filter query: keys with their meanings, and values of the
// key before the cursor.
func queries(c *Completer, word string) (list []cobra.Completion, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	word = strings.TrimPrefix(word, "'") // fish includes an unclosed quote
	open := true                         // every completion needs more text after it, as a key needs a value
	for _, one := range filter.Complete(word, len(word), c.values) {
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
