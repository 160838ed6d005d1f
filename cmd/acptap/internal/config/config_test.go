package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/tap"
)

// program returns a root command with acptap proxy and a command with flags of all types.
func program(dir *string) (root, proxy, other *cobra.Command) {
	root, proxy = &cobra.Command{Use: "acptap"}, tap.NewCommand(dir, nil)
	other = &cobra.Command{Use: "other", RunE: func(*cobra.Command, []string) error { return nil }}
	f := other.Flags()
	f.Bool("yes", false, "")
	f.Int("number", 1, "")
	f.Duration("wait", 0, "")
	f.StringSlice("list", nil, "")
	f.String("mcp", "off", "")
	f.Lookup("mcp").NoOptDefVal = "all"
	root.AddCommand(proxy, other)
	return root, proxy, other
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		text, flag, want, at string
	}{
		{"other.yes = true", "yes", "true", "file:1"},
		{"[other]\nnumber = 3", "number", "3", "file:2"},
		{"other = {number = 3}", "number", "3", "file:1"},
		{"number = 2\n[other]\nnumber = 3", "number", "3", "file:3"},
		{"number = 2", "number", "2", "file:1"},
		{"[other]\nwait = '30s'", "wait", "30s", "file:2"},
		{"[other]\nlist = ['a,b', \"c\"]", "list", "a,b,c", "file:2"},
		{"[other]\nlist = 'a'", "list", "a", "file:2"},
		{"mcp = true", "mcp", "all", "file:1"},
		{"mcp = false", "mcp", "off", ""},
		{"mcp = 'stdio'", "mcp", "stdio", "file:1"},
		{"", "number", "1", ""},
	} {
		var dir string
		root, _, other := program(&dir)
		f, err := parse("file", []byte(tt.text))
		if err == nil {
			err = f.Check(root)
		}
		if err == nil {
			err = f.Apply(other)
		}
		flag := other.Flags().Lookup(tt.flag)
		if err != nil || Text(flag) != tt.want || From(flag) != tt.at {
			t.Errorf("%q: got %s from %q, %v; want %s from %q", tt.text, Text(flag), From(flag), err, tt.want, tt.at)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"other.yes = 1":            `file:1:1: yes is true or false, not 1`,
		"[other]\n number = '3'":   `file:2:2: number is a number, not 3`,
		"[other]\nwait = 30":       `file:2:1: wait is a time in quotes, such as "30s", not 30`,
		"[other]\nwait = 'soon'":   `file:2:1: invalid argument "soon" for "--wait" flag: time: invalid duration "soon"`,
		"[other]\nlist = [1]":      `file:2:1: the elements of list are texts in quotes`,
		"[other]\nhelp = true":     `file:2:1: acptap other has no flag "help"; see acptap other --help`,
		"[proxy]\nparent = 'x'":    `file:2:1: acptap proxy has no flag "parent"; see acptap proxy --help`,
		"[other.deep]\nyes = true": `file:2:1: unknown command "other.deep"; acptap --help lists the commands`,
		"store = '/x'":             `file:1:1: store: this file is in the store; to use another one, set ACPTAP_STORE`,
		"numbr = 3":                `file:1:1: no command has a flag "numbr"; did you mean number?`,
		"[[other]]":                `file:1:3: [[other]] is a list of tables, but a command has one table: [other]`,
		"number = 1\nnumber = 2":   `file:2:1: number is set twice, first in line 1`,
		"[other]\n[other]":         `file:2:`,
		"number = 1 2":             `file:1:`,
	} {
		var dir string
		root, _, other := program(&dir)
		f, err := parse("file", []byte(text))
		if err == nil {
			err = f.Check(root)
		}
		if err == nil {
			err = f.Apply(other)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// acptap-proxy leaves each file to acptap that sets flags of a proxy, though it cannot read
// TOML.
func TestConcernsProxy(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                    false,
		"[show]\nmcp = true":                  false,
		"color = 'never'\n[show]\nname = 'x'": false,
		"[proxy]\nname = 'x'":                 true,
		" [ 'proxy' ]\nname = 'x'":            true,
		"proxy.name = 'x'":                    true,
		"\"proxy\" = {name = 'x'}":            true,
		"name='x'":                            true,
		"\"name\" = 'x'":                      true,
		"[show]\nname = 'x'\n[proxy]\nmcp = true": true,
		"# [proxy]\n#name = 'x'":                  false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, proxy, _ := program(&dir)
		if got := tap.IsConfigured(proxy.Flags(), dir); got != want {
			t.Errorf("%q: got %v", text, got)
		}
		f, err := Of(dir)
		if err != nil {
			t.Fatal(err)
		}
		if sets := len(f.of(proxy).Settings) > 0; sets != want {
			t.Errorf("%q: the file sets flags: %v", text, sets)
		}
	}
}
