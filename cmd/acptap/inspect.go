package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

func newInspectCmd(dir *string) *cobra.Command {
	in := newInspector()
	cmd := &cobra.Command{
		Use:     "inspect [flags] [REF[:FRAME]]",
		Aliases: []string{"open", "view", "ui"},
		Short:   "Browse tapes in the terminal",
		Args:    refAndFrame,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := query.Parse(in.Filter); err != nil {
				return err
			}
			if !cli.IsTerminal(cmd.OutOrStdout()) {
				return errors.New("inspect needs a terminal; acptap show writes frames as text")
			}
			if len(args) == 0 {
				return browseStore(cmd.Context(), in, *dir)
			}
			return browse(cmd, in, *dir, strings.Join(args, ":"))
		},
	}
	cmd.Flags().StringVar(&in.Filter, "filter", "", "show only frames that match this `query`")
	cmd.Flags().Var(&in.Place, "place", "`place` to start in: "+strings.Join(screen.Places(), ", "))
	cmd.Flags().Var(&in.Theme, "theme", "`colours`: ansi (those of the terminal), dark, light or mono")
	for name, values := range map[string][]string{"place": screen.Places(), "theme": screen.Themes()} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic("acptap: " + err.Error()) // cannot happen: the flag was just defined
		}
	}
	return cmd
}

// newInspector returns an inspector that respects NO_COLOR (no-color.org).
func newInspector() screen.Inspector {
	in := screen.Inspector{Theme: screen.ANSI, View: view}
	if os.Getenv("NO_COLOR") != "" {
		in.Theme = screen.Mono
	}
	return in
}

// viewers lists the programs to use if the environment names none.
var viewers = map[string]string{"PAGER": "less", "EDITOR": "vi"}

// view opens a file with the program that an environment variable names.
func view(variable, path string) error {
	args := strings.Fields(cmp.Or(os.Getenv(variable), viewers[variable])) // may have flags, as in "code -w"
	if len(args) == 0 {
		return fmt.Errorf("$%s names no program", variable)
	}
	// ^C is meant for that program: less stops a search and continues. We catch the
	// signal instead of ignoring it, because the program would inherit an ignored signal.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	cmd := exec.Command(args[0], append(args[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("$%s, which is %s: %w", variable, args[0], err)
	}
	return nil
}

// browseStore opens the inspector on the tapes of a store.
func browseStore(ctx context.Context, in screen.Inspector, dir string) error {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	in.Store, in.History, in.Controls = store, historyFile(store), screenControls{store}
	return runInspector(ctx, in, screen.Subject{})
}

// runInspector shows a subject. SIGTERM and SIGHUP end it as q does: it restores the
// terminal and leaves no copies of files.
func runInspector(ctx context.Context, in screen.Inspector, sub screen.Subject) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if in.Theme == screen.ANSI {
		in.Background = background()
	}
	return in.Run(ctx, sub)
}

// historyFile returns the path of the file with the most recent filters.
func historyFile(store *record.Store) string { return filepath.Join(store.Dir(), "filters") }

// browse opens the inspector on what a REF names.
func browse(cmd *cobra.Command, in screen.Inspector, dir, name string) error {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	in.History = historyFile(store)
	name, frame := cutFrame(name)
	if name == "-" || ref.NamesFile(name) {
		return browseFile(cmd, in, name, frame)
	}
	sub, err := ref.Resolve(dir, name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	in.Store, in.Controls = store, screenControls{store}
	var ids []string
	for _, p := range sub.Parts {
		ids = append(ids, p.Tape.ID())
	}
	if frame.Part > len(ids) {
		_, err := sub.PartWith(frame)
		return err
	}
	if frame.Seq > 0 && len(ids) > 1 {
		return fmt.Errorf("session %s is on %d tapes: name the tape before :%d", name, len(ids), frame.Seq)
	}
	of := screen.TapesOf(in.Store, sub.Session, ids...)
	of.Frame = frame.Seq
	return runInspector(cmd.Context(), in, of)
}

// cutFrame splits REF:FRAME, where REF may be a file. A file's name may end like a frame.
func cutFrame(arg string) (name string, frame ref.Frame) {
	if ref.IsFile(arg) {
		return arg, ref.Frame{}
	}
	return ref.CutFrame(arg)
}

// browseFile opens the inspector on a file. It first imports a file in the portable form
// into a temporary store, because the inspector reads several places of a tape
// concurrently.
func browseFile(cmd *cobra.Command, in screen.Inspector, path string, frame ref.Frame) (err error) {
	if frame.Part > 1 {
		return fmt.Errorf("%s is one tape: name a frame of it as %s:%d", path, path, frame.Seq)
	}
	sub := screen.Subject{
		Name: filepath.Base(path), Frame: frame.Seq,
		Open: func() ([]*record.Tape, error) {
			tape, err := record.OpenFile(path)
			return []*record.Tape{tape}, err
		},
	}
	if filepath.Ext(path) == ".db" {
		return runInspector(cmd.Context(), in, sub)
	}
	if path == "-" {
		sub.Name = "stdin"
	}
	// One signal often follows another, for example when a terminal is closed. We catch
	// them all until the store is removed.
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	tmp, err := os.MkdirTemp("", "acptap-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	store := record.OpenStore(tmp)
	id, err := importFile(ctx, record.NewImporter(store), path, cmd.InOrStdin(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	sub.Open = screen.TapesOf(store, "", id).Open
	return runInspector(cmd.Context(), in, sub)
}
