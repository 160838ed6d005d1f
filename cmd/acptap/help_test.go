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
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
)

// TestHelp holds every command's help to fit into a terminal of 80 columns, to
// have an example, and to call the values of flags by what they are.
func TestHelp(t *testing.T) {
	root := newRootCmd(nil)
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" {
			return // cobra's own
		}
		t.Run(strings.ReplaceAll(c.CommandPath(), " ", "_"), func(t *testing.T) {
			describe(c)
			if c.Example == "" {
				t.Error("no example")
			}
			for line := range strings.Lines(c.Long + "\n" + c.UsageString()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > 80 {
					t.Errorf("%d columns: %q", n, line)
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

// TestHelpHasNoBackticks: what is code in Markdown is quoted in no other way where
// plain text is printed, and cobra takes names of values out of backticks.
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

// TestHelpOfJSON holds help that is written by hand to name all that is in a line.
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
		describe(tt.cmd)
		_, list, ok := strings.Cut(tt.cmd.Long, "--json is an object with")
		if !ok || len(tt.fields) < 2 {
			t.Fatalf("%s: no list of fields, or only %q", tt.cmd.Name(), tt.fields)
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
	for _, object := range []any{
		tapeLine{}, sessionLine{}, versionLine{}, watchLine{}, noteLine{}, importedLine{}, doomedTape{}, drive.Report{}, replay.Report{},
		report.Line{}, report.Total{}, summary.Head{},
	} {
		for _, name := range fieldsOf(object) {
			if !regexp.MustCompile(`(?m)^  ` + name + ` +\S`).MatchString(cli.Members(object)) {
				t.Errorf("%T: nothing about %s", object, name)
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

// TestHelpSaysJSON: whoever has --json says what it writes.
func TestHelpSaysJSON(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		describe(c)
		if c.Flags().Lookup("json") != nil && !regexp.MustCompile(`--json\s+(is|gives)\s`).MatchString(c.Long) {
			t.Errorf("%s: the help does not say what --json writes", c.CommandPath())
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
