package completion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// agents completes the program of an agent: those that were recorded first, the
// newest before, then the programs in PATH. A path is left to the shell.
func agents(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.ContainsAny(word, `/\`) {
		return files(c, word)
	}
	f := fit{word: word}
	for _, i := range slices.Backward(c.listing().Tapes) {
		if len(i.Start.Command) > 0 {
			f.add(i.Start.Command[0], "recorded before")
		}
	}
	if word != "" { // all programs there are would hide those that were recorded
		for _, name := range programs(word) {
			f.add(name, "")
		}
	}
	return f.list, cobra.ShellCompDirectiveKeepOrder
}

// programs returns the names in PATH that begin with a word.
func programs(word string) (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), word) && !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
