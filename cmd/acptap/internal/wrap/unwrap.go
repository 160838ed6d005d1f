package wrap

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

// Unwrap returns the command that removes acptap from settings.
func (c Commands) Unwrap() *cobra.Command {
	o := &flags{Commands: c}
	cmd := &cobra.Command{
		Use:               "unwrap [flags] [CLIENT [ENTRY...]]",
		Short:             "Take acptap out of the settings of clients again",
		RunE:              func(cmd *cobra.Command, args []string) error { return o.unwrap(cmd.OutOrStdout(), args) },
		ValidArgsFunction: completeEntries(c),
	}
	o.define(cmd)
	return cmd
}

func (o *flags) unwrap(out io.Writer, args []string) error {
	s, err := o.setup()
	if err != nil {
		return err
	}
	list, failed := s.Status() // failed reports unreadable files; others can still be changed
	found, err := o.meant(s, list, args)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		failed = nil
	}
	if len(args) < 2 && !o.all {
		return errors.Join(o.writeWrapped(out, s, found), failed)
	}
	if len(found) == 0 && failed == nil {
		_, err := fmt.Fprintln(out, "Nothing is wrapped.")
		return err
	}
	for len(found) > 0 {
		first, same := found[0], []string(nil)
		if first.IsLost() {
			failed = errors.Join(failed, o.forget(out, s, first))
			found = found[1:]
			continue
		}
		found = slices.DeleteFunc(found, func(st settings.Status) bool {
			together := !st.IsLost() && st.Client == first.Client && st.File == first.File
			if together {
				same = append(same, st.Name)
			}
			return together
		})
		failed = errors.Join(failed, o.carryOut(out, s, func() (*settings.Change, error) {
			c, err := settings.Find(first.Client)
			if err != nil {
				return nil, err
			}
			return s.Unwrap(c, first.File, same, false)
		}))
	}
	return failed
}

// writeWrapped lists what is wrapped and says how to undo it.
func (o *flags) writeWrapped(out io.Writer, s *settings.Setup, list []settings.Status) error {
	err := o.writeStatuses(out, s, list)
	if err == nil && len(list) > 0 && !o.asJSON {
		_, err = fmt.Fprintf(out, "\nNothing was changed. To unwrap one: acptap unwrap CLIENT ENTRY. All of a client: acptap unwrap CLIENT --all.\n")
	}
	return err
}

// forget removes the record of an entry that was unwrapped by other means.
func (o *flags) forget(out io.Writer, s *settings.Setup, st settings.Status) error {
	if o.dry {
		return nil
	}
	if err := s.Forget(st); err != nil || o.asJSON {
		return err
	}
	_, err := fmt.Fprintf(out, "%s in %s was wrapped no longer; acptap has forgotten it.\n", st.Name, s.Machine.Short(st.File))
	return err
}

// meant returns the wrapped entries that the arguments name.
func (o *flags) meant(s *settings.Setup, list []settings.Status, args []string) ([]settings.Status, error) {
	switch {
	case o.all && len(args) > 1:
		return nil, errors.New("--all and names of entries cannot be used together")
	case len(args) == 0 && (o.file != "" || o.project):
		return nil, errors.New("the client is missing: acptap unwrap CLIENT")
	case len(args) == 0:
		return list, nil
	}
	c, err := settings.Find(args[0])
	if err != nil {
		return nil, err
	}
	if !c.IsFile() {
		return nil, fmt.Errorf("acptap does not write the settings of %s; take acptap out of them by hand", c.Name)
	}
	if o.file != "" || o.project {
		if list, err = o.inFile(s, c); err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(st settings.Status) bool { return st.Client != c.Name })
	if len(args) == 1 {
		return list, nil
	}
	var meant []settings.Status
	for _, name := range args[1:] {
		named := slices.DeleteFunc(slices.Clone(list), func(st settings.Status) bool { return !st.Names(name) })
		if exact := slices.DeleteFunc(slices.Clone(named), func(st settings.Status) bool { return st.Name != name }); len(exact) > 0 {
			named = exact
		}
		switch len(named) {
		case 0:
			return nil, o.notWrapped(s, c, list, name)
		case 1:
			meant = append(meant, named[0])
		default:
			return nil, fmt.Errorf("%s is wrapped in %s and in %s; say which with --file", settings.ShellWords(name), named[0].File, named[1].File)
		}
	}
	return meant, nil
}

// inFile returns the wrapped entries of the file that the flags name.
func (o *flags) inFile(s *settings.Setup, c *settings.Client) (list []settings.Status, err error) {
	path, err := o.path(s, c)
	if err != nil {
		return nil, err
	}
	entries, err := s.Entries(c, path)
	for _, e := range entries {
		if e.State == settings.Wrapped {
			list = append(list, settings.Status{Entry: e, What: "is wrapped"})
		}
	}
	return list, err
}

// notWrapped returns the error for an entry that is not wrapped.
func (o *flags) notWrapped(s *settings.Setup, c *settings.Client, list []settings.Status, name string) error {
	there := "; nothing of " + c.Name + " is"
	if len(list) > 0 {
		there = "; wrapped are"
		for _, st := range list {
			there += " " + settings.ShellWords(st.Name)
		}
	}
	path, err := o.path(s, c)
	if err != nil {
		return err
	}
	if entries, err := s.Entries(c, path); err != nil {
		return err
	} else if i := slices.IndexFunc(entries, func(e settings.Entry) bool { return e.Name == name }); i >= 0 && entries[i].Why != "" {
		there += "; " + entries[i].Why
	}
	return fmt.Errorf("%s: entry %s is not wrapped%s", s.Machine.Short(filepath.Clean(path)), settings.ShellWords(name), there)
}
