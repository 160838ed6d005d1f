package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/record/termtext"
)

// variables maps flags to the environment variables that set the same thing.
var variables = map[string]string{
	"color": "NO_COLOR",
	"mode":  "ACPTAP_MODE",
	"otlp":  "OTEL_EXPORTER_OTLP_ENDPOINT",
	"store": "ACPTAP_STORE",
	"theme": "NO_COLOR",
}

// VariableOf returns the name of the environment variable for a flag if it is set, otherwise
// "".
func VariableOf(flag string) string {
	if name := variables[flag]; name != "" && os.Getenv(name) != "" {
		return name
	}
	return ""
}

// Check returns an error unless each setting names a flag of a command below root and has a
// value of the flag's type.
func (f *File) Check(root *cobra.Command) error {
	for _, s := range f.Settings {
		if err := s.check(root); err != nil {
			return err
		}
	}
	return nil
}

func (s *Setting) check(root *cobra.Command) error {
	if s.Flag == "store" {
		return s.at.errorf("store: this file is in the store; to use another one, set ACPTAP_STORE")
	}
	if len(s.Command) == 0 {
		return s.checkAll(root)
	}
	cmd := root
	for i, name := range s.Command {
		sub := below(cmd, name)
		if sub == nil {
			return s.at.errorf("unknown command %q%s", joined(s.Command[:i+1]), advice(cli.Suggestions(cmd, name), "acptap --help lists the commands"))
		}
		cmd = sub
	}
	f := flagOf(cmd, s.Flag)
	if f == nil {
		return s.at.errorf("%s has no flag %q%s", cmd.CommandPath(), s.Flag, advice(termtext.Near(s.Flag, flagNames(cmd)), "see "+cmd.CommandPath()+" --help"))
	}
	return s.fits(f)
}

// checkAll checks the setting for each command that has the flag.
func (s *Setting) checkAll(root *cobra.Command) error {
	found := false
	var all []string
	for _, cmd := range Commands(root) {
		if f := flagOf(cmd, s.Flag); f != nil {
			found = true
			if err := s.fits(f); err != nil {
				return err
			}
		}
		all = append(all, flagNames(cmd)...)
	}
	if !found {
		return s.at.errorf("no command has a flag %q%s", s.Flag, advice(termtext.Near(s.Flag, all), "a table such as [show] is for a command"))
	}
	return nil
}

// fits returns an error unless the value has the type of the flag.
func (s *Setting) fits(f *pflag.Flag) error {
	want, kinds := "a text in quotes", []unstable.Kind{unstable.String}
	switch kind := f.Value.Type(); {
	case kind == "bool":
		want, kinds = "true or false", []unstable.Kind{unstable.Bool}
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		want, kinds = "a number", []unstable.Kind{unstable.Integer}
	case kind == "stringSlice", kind == "stringArray":
		want, kinds = "a text in quotes, or a list of texts", []unstable.Kind{unstable.String, unstable.Array}
	case kind == "duration":
		want = `a time in quotes, such as "30s"`
	case f.NoOptDefVal != "":
		want, kinds = fmt.Sprintf("a text in quotes, or true for %q", f.NoOptDefVal), []unstable.Kind{unstable.String, unstable.Bool}
	}
	if !slices.Contains(kinds, s.value.kind) {
		return s.at.errorf("%s is %s, not %s", s.Flag, want, strings.Join(s.value.texts, ", "))
	}
	return nil
}

// Apply sets the flags of a command that the user has not given.
func (f *File) Apply(cmd *cobra.Command) error {
	command := strings.Fields(cmd.CommandPath())[1:]
	given := make(map[string]bool)
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { given[flag.Name] = flag.Changed })
	own := func(s *Setting) bool { return slices.Equal(s.Command, command) }
	for _, s := range f.Settings {
		flag := flagOf(cmd, s.Flag)
		switch {
		case !own(&s) && len(s.Command) > 0, flag == nil, given[s.Flag], VariableOf(s.Flag) != "":
			continue
		case !own(&s) && slices.ContainsFunc(f.Settings, func(o Setting) bool { return own(&o) && o.Flag == s.Flag }):
			continue
		}
		if err := s.apply(cmd.Flags(), flag); err != nil {
			return err
		}
	}
	return nil
}

// annotation marks a flag that a file has set. Its value is the setting's place.
const annotation = "acptap-config"

func (s *Setting) apply(flags *pflag.FlagSet, flag *pflag.Flag) error {
	texts := s.value.texts
	if s.value.kind == unstable.Bool && flag.Value.Type() != "bool" {
		if texts[0] != "true" {
			return nil
		}
		texts = []string{flag.NoOptDefVal}
	}
	var err error
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		if err = flags.Set(flag.Name, ""); err == nil {
			err = list.Replace(texts)
		}
	} else {
		err = flags.Set(flag.Name, texts[0])
	}
	if err != nil {
		return s.at.errorf("%w", err)
	}
	return flags.SetAnnotation(flag.Name, annotation, []string{s.at.String()})
}

// Text returns the value of a flag in command line syntax.
func Text(flag *pflag.Flag) string {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return flag.Value.String()
}

// From returns the place of the setting that set a flag, or "" if none did.
func From(flag *pflag.Flag) string {
	if at := flag.Annotations[annotation]; len(at) > 0 {
		return at[0]
	}
	return ""
}

// Commands returns the commands below root that may have settings.
func Commands(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && c.Name() != "config" {
			list = append(append(list, c), Commands(c)...)
		}
	}
	return list
}

func below(cmd *cobra.Command, name string) *cobra.Command {
	i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
	if i < 0 {
		return nil
	}
	return cmd.Commands()[i]
}

// flagOf returns a flag of a command, or nil unless a file may set it.
func flagOf(cmd *cobra.Command, name string) *pflag.Flag {
	f := cmd.LocalNonPersistentFlags().Lookup(name)
	if f == nil || f.Hidden || name == "help" || name == "version" {
		return nil
	}
	return f
}

func flagNames(cmd *cobra.Command) (list []string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if flagOf(cmd, f.Name) != nil {
			list = append(list, f.Name)
		}
	})
	return list
}

// advice suggests similar names or, without any, gives the other advice.
func advice(near []string, other string) string {
	if len(near) > 0 {
		slices.Sort(near)
		return "; did you mean " + strings.Join(slices.Compact(near), " or ") + "?"
	}
	return "; " + other
}

// joined returns the name of a table.
func joined(names []string) string { return strings.Join(names, ".") }
