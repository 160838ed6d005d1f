package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/completion"
)

// TestFlagChoices compares the words that completion offers for flags, which it finds
// in their usage, with a list that was read by eyes.
func TestFlagChoices(t *testing.T) {
	const golden = "testdata/flag_choices.txt"
	var got strings.Builder
	var list func(c *cobra.Command)
	list = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if choices := completion.Choices(f.Usage); choices != nil && f.Value.Type() != "bool" {
				fmt.Fprintf(&got, "%s --%s: %s\n", c.CommandPath(), f.Name, strings.Join(choices, " "))
			}
		})
		for _, sub := range c.Commands() {
			list(sub)
		}
	}
	list(newRootCmd(nil))
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("read the lines that are new, then run with -update (-want +got):\n%s", diff)
	}
}
