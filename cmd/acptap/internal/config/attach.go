package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
)

// Attach makes the commands below root read the file of the store in dir. scratch returns a
// second acptap proxy command. The settings are tried on that one first, so that recording
// never fails because of them.
func Attach(root *cobra.Command, dir *string, scratch func() *cobra.Command) {
	for _, cmd := range Commands(root) {
		if slices.Contains([]string{"version", "help", "demo"}, cmd.Name()) {
			continue
		}
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			var err error
			if cmd.Name() == cli.ProxyNames[0] {
				applyToProxy(cmd, args, *dir, scratch)
			} else {
				err = apply(cmd, *dir)
			}
			if err != nil || check == nil {
				return err
			}
			return check(cmd, args)
		}
		cmd.PreRunE, cmd.RunE = blaming(cmd.PreRunE), blaming(cmd.RunE)
	}
}

// blaming wraps run. If the error of run names flags that a file has set, it adds where.
func blaming(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	if run == nil {
		return nil
	}
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if err == nil {
			return nil
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if at := From(f); at != "" && strings.Contains(err.Error(), "--"+f.Name) {
				err = fmt.Errorf("%w (--%s is set in %s)", err, f.Name, at)
			}
		})
		return err
	}
}

// Of reads the file of the store in dir.
func Of(dir string) (*File, error) {
	path, err := ref.ConfigPath(dir)
	if err != nil {
		return nil, err
	}
	return Read(path)
}

func apply(cmd *cobra.Command, dir string) error {
	f, err := Of(dir)
	if err != nil {
		return err
	}
	if err := f.Check(cmd.Root()); err != nil {
		return err
	}
	return f.Apply(cmd)
}

// applyToProxy applies the file to acptap proxy. If it cannot, acptap proxy says why and
// records without the file. It does not apply to the proxy of a server, which gets its flags
// from acptap.
func applyToProxy(cmd *cobra.Command, args []string, dir string, scratch func() *cobra.Command) {
	if cmd.Flags().Changed("parent") {
		return
	}
	f, err := Of(dir)
	if err == nil {
		f = f.of(cmd)
		err = f.try(cmd, args, scratch)
	}
	if err == nil {
		err = f.Apply(cmd)
	}
	if err != nil {
		tap.Complain(cmd, "%v; recording without that file", err)
	}
}

// of returns the settings for cmd, which may be the only command of its root.
func (f *File) of(cmd *cobra.Command) *File {
	part := &File{Path: f.Path}
	for _, s := range f.Settings {
		if len(s.Command) == 1 && s.Command[0] == cmd.Name() || len(s.Command) == 0 && flagOf(cmd, s.Flag) != nil {
			part.Settings = append(part.Settings, s)
		}
	}
	return part
}

// try returns an error if a command would not run with the settings.
func (f *File) try(cmd *cobra.Command, args []string, scratch func() *cobra.Command) error {
	if len(f.Settings) == 0 {
		return nil
	}
	if err := f.Check(cmd.Root()); err != nil {
		return err
	}
	root := &cobra.Command{Use: cmd.Root().Name()}
	other := scratch()
	root.AddCommand(other)
	var failed error
	cmd.LocalNonPersistentFlags().Visit(func(flag *pflag.Flag) {
		if err := other.Flags().Set(flag.Name, Text(flag)); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return failed
	}
	if err := f.Apply(other); err != nil {
		return err
	}
	if err := other.PreRunE(other, args); err != nil {
		for _, s := range f.Settings {
			if strings.Contains(err.Error(), "--"+s.Flag) {
				return s.at.errorf("%w", err)
			}
		}
		return err
	}
	return nil
}
