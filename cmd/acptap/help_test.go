package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/help"
	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/compare"
)

// TestHelp checks that every command's help begins with what most users look for, fits into a
// terminal of 80 columns, has an example, and names the values of flags by their meaning.
func TestHelp(t *testing.T) {
	root := newRootCmd(nil)
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" {
			return // cobra's own
		}
		t.Run(strings.ReplaceAll(c.CommandPath(), " ", "_"), func(t *testing.T) {
			h := commands.Of(c)
			if n := strings.Count(h.Examples, "\n") + 1; h.Examples == "" || n > 3 {
				t.Errorf("%d examples: %q", n, h.Examples)
			}
			lines := strings.Split(c.UsageString(), "\n")
			if !slices.Contains(lines[:6], "Usage:") {
				t.Errorf("the help begins with %q", lines[:6])
			}
			if i := slices.Index(lines, "Examples:"); i > 20 {
				t.Errorf("examples in line %d", i+1)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 80 {
					t.Errorf("%d columns: %q", n, line)
				}
			}
			for _, topic := range h.Topics {
				if _, ok := help.Find(topic); !ok {
					t.Errorf("no topic %s", topic)
				}
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if name, _ := pflag.UnquoteUsage(f); f.DefValue != "" && name == f.DefValue {
					t.Errorf("--%s %s: this is a value, and not what it is a value of", f.Name, name)
				}
			})
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(root)
}

// TestFlagGroups: each flag of a command is in one group of its help.
func TestFlagGroups(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Name() == "completion" {
			return // cobra's own
		}
		groups := make(map[string]int)
		for _, g := range commands.Of(c).Flags {
			if g.Title == "" || len(g.Flags) == 0 {
				t.Errorf("%s: a group %q of the flags %q", c.CommandPath(), g.Title, g.Flags)
			}
			for _, name := range g.Flags {
				groups[name]++
			}
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if n := groups[f.Name]; n != 1 && !f.Hidden && f.Name != "help" && f.Name != "version" {
				t.Errorf("%s: --%s is in %d groups", c.CommandPath(), f.Name, n)
			}
			delete(groups, f.Name)
		})
		for name := range groups {
			t.Errorf("%s has no flag --%s", c.CommandPath(), name)
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	root := newRootCmd(nil)
	root.InitDefaultHelpCmd()
	check(root)
}

// TestHelpHasNoBackticks: plain text contains no backticks around code, and the names of
// values, which cobra takes from backticks, are right.
func TestHelpHasNoBackticks(t *testing.T) {
	var check func(args []string, c *cobra.Command)
	check = func(args []string, c *cobra.Command) {
		var out bytes.Buffer
		if status := run(t.Context(), append(args, "--help"), nil, &out, &out); status != 0 || out.Len() == 0 {
			t.Errorf("acptap %s --help: status %d and %q", strings.Join(args, " "), status, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "`") {
				t.Errorf("acptap %s --help: %s", strings.Join(args, " "), line)
			}
		}
		for _, sub := range c.Commands() {
			check(append(args[:len(args):len(args)], sub.Name()), sub)
		}
	}
	root := newRootCmd(nil)
	root.InitDefaultHelpCmd()
	check(nil, root)
	for _, topic := range help.Topics() {
		if text := topic.Text(help.Width, false); strings.Contains(text, "`") {
			t.Errorf("the topic %s prints backticks", topic.Name)
		}
	}
}

// TestHelpOfJSON checks that the hand-written parts of the topic json name all members of a
// line.
func TestHelpOfJSON(t *testing.T) {
	var dir string
	frame, err := frametext.JSON(&filter.Subject{
		Frame: &dialect.Frame{
			Frame:      wire.Frame{Failed: true},
			Annotation: dialect.Annotation{Method: "m", Update: "u", Session: "s", Request: 1},
		},
		Latency: time.Second, Unanswered: true,
	}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(frame, &members); err != nil {
		t.Fatal(err)
	}
	var shown []string
	for name := range members {
		shown = append(shown, name)
	}
	for _, tt := range []struct {
		cmd    *cobra.Command
		fields []string
	}{
		{newShowCmd(&dir), shown},
		{newDiffCmd(&dir), append(fieldsOf(compare.Diff{}), fieldsOf(compare.Hunk{})...)},
		{newCheckCmd(&dir), slices.Concat(fieldsOf(report.Line{}), fieldsOf(report.Spec{}), fieldsOf(report.Total{}), fieldsOf(report.Open{}), fieldsOf(report.RuleLine{}), fieldsOf(report.ClauseLine{}))},
		{newStatsCmd(&dir), statsFields()},
	} {
		list := jsonSection(tt.cmd)
		if len(tt.fields) < 2 {
			t.Fatalf("%s: only %q", tt.cmd.Name(), tt.fields)
		}
		for _, name := range tt.fields {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(list) {
				t.Errorf("%s: nothing about %s", tt.cmd.Name(), name)
			}
		}
	}
}

// TestHelpOfMembers: the help of a member is in the tag of its field.
func TestHelpOfMembers(t *testing.T) {
	for name, list := range generated() {
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, " ") && len(strings.Fields(line)) < 2 {
				t.Errorf("%s: nothing about %s", name, line)
			}
		}
	}
}

// statsFields returns the columns of all tables of statistics.
func statsFields() (names []string) {
	tables := new(stats.Collector).Overview()
	for _, by := range stats.Bys {
		tables = append(tables, (&stats.Collector{By: by}).Grouped())
	}
	for _, t := range tables {
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestHelpSaysJSON: the topic json says what --json of each command writes, and the help of
// the command names the topic.
func TestHelpSaysJSON(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Flags().Lookup("json") != nil {
			if jsonSection(c) == "" {
				t.Errorf("the topic json has no section about %s", c.CommandPath())
			}
			if !slices.Contains(commands.Of(c).Topics, "json") {
				t.Errorf("the help of %s does not name the topic json", c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRootCmd(nil))
}

// fieldsOf returns the names that a struct's fields have in JSON.
func fieldsOf(line any) (names []string) {
	for i := range reflect.TypeOf(line).NumField() {
		name, _, _ := strings.Cut(reflect.TypeOf(line).Field(i).Tag.Get("json"), ",")
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
