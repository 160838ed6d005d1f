package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFiles holds each command to have one file of help, and each file to have a
// command.
func TestHelpFiles(t *testing.T) {
	want := []string{"acptap-lake.txt", "acptap-proxy.txt"} // the other programs
	var every func(c *cobra.Command)
	every = func(c *cobra.Command) {
		if c.Name() == "completion" {
			return // cobra's own
		}
		want = append(want, strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "acptap "), " ", "-")+".txt")
		if c.Long != "" || c.Example != "" {
			t.Errorf("%s has help outside its file", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			every(sub)
		}
	}
	root := newRootCmd(nil)
	root.InitDefaultHelpCmd()
	every(root)
	slices.Sort(want)

	var files []string
	paths, err := filepath.Glob("help/commands/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		files = append(files, filepath.Base(path))
	}
	if !slices.Equal(files, want) {
		t.Errorf("got files %q, want one for each command: %q", files, want)
	}
}
