package main

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
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

// TestHelpOfJSON holds the help of the listings to name all that is in a line.
func TestHelpOfJSON(t *testing.T) {
	var dir string
	frame, err := frametext.JSON(dialect.Frame{
		Frame:      wire.Frame{Failed: true},
		Annotation: dialect.Annotation{Method: "m", Update: "u", Session: "s", Request: 1},
	}, time.Now(), time.Second)
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
		{newLsCmd(&dir), fieldsOf(tapeLine{})},
		{newSessionsCmd(&dir), fieldsOf(sessionLine{})},
		{newShowCmd(&dir), shown},
	} {
		_, list, ok := strings.Cut(tt.cmd.Long, "--json is an object with")
		if !ok || len(tt.fields) < 10 {
			t.Fatalf("%s: no list of fields, or only %q", tt.cmd.Name(), tt.fields)
		}
		for _, name := range tt.fields {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(list) {
				t.Errorf("%s: nothing about %s", tt.cmd.Name(), name)
			}
		}
	}
}

// fieldsOf returns the names that a struct's fields have in JSON.
func fieldsOf(line any) (names []string) {
	for i := range reflect.TypeOf(line).NumField() {
		name, _, _ := strings.Cut(reflect.TypeOf(line).Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
