package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFiles holds each command to have one file of help, each file to have a command,
// and each part to be known and used.
func TestHelpFiles(t *testing.T) {
	want := []string{"acptap-lake.txt", "acptap-proxy.txt"} // the other programs
	var every func(c *cobra.Command)
	every = func(c *cobra.Command) {
		if c.Name() == "completion" {
			return // cobra's own
		}
		want = append(want, strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "acptap "), " ", "-")+".txt")
		if c.Long != "" || c.Example != "" {
			t.Errorf("%s has help before somebody asks for it", c.CommandPath())
		}
		describe(c)
		if c.Long == "" || c.Example == "" {
			t.Errorf("%s: the file lacks text or examples", c.CommandPath())
		}
		if m := helpMark.FindString(c.Long + "\n" + c.Example); m != "" {
			t.Errorf("%s: the help has the line %q", c.CommandPath(), m)
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

	shared, err := filepath.Glob("help/commands/shared/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	marks := make(map[string]bool)
	for _, path := range append(paths, shared...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range helpMark.FindAllString(string(text), -1) {
			marks[mark] = true
		}
	}
	for name, text := range helpParts() {
		if !marks["-- "+name+" --"] || text == "" {
			t.Errorf("the part %q is used: %v; text: %q", name, marks["-- "+name+" --"], text)
		}
	}
	for _, path := range shared {
		if mark := "-- " + strings.TrimSuffix(filepath.Base(path), ".txt") + " --"; !marks[mark] {
			t.Errorf("no file has the line %q", mark)
		}
	}
}

// helpMark matches a line of a file of help that stands for something else.
var helpMark = regexp.MustCompile(`(?m)^-- .* --$`)
