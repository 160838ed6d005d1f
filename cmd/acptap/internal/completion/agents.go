package completion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// agents completes an agent's program: recorded programs, the newest first, then programs
// in PATH. It leaves paths to the shell.
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
	if word != "" { // otherwise all of PATH would hide the recorded programs
		for _, name := range programs(word) {
			f.add(name, "")
		}
	}
	return f.list, cobra.ShellCompDirectiveKeepOrder
}

// programs returns the names in PATH that have word as prefix.
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
