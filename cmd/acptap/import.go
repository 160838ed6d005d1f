package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
)

func newImportCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import [flags] FILE|DIR...",
		Short: "Add tapes from files to the store",
		Args:  cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			paths, failed := importPaths(args)
			i := record.NewImporter(store)
			for _, path := range paths {
				id, err := importFile(ctx, i, path, cmd.InOrStdin(), cmd.ErrOrStderr())
				if errors.Is(err, cli.ErrInterrupted) {
					return err
				}
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				if asJSON {
					err = cli.WriteJSON(cmd.OutOrStdout(), importedLine{path, id})
				} else {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), id)
				}
				if err != nil {
					return err
				}
			}
			return failed
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// An importedLine is an imported tape as --json writes it.
type importedLine struct {
	File string `json:"file" help:"the name of the file as it was given or found in DIR"`
	Tape string `json:"tape" help:"id"`
}

// importPaths returns the files to import for the arguments. It replaces a directory with
// the files in it and puts a parent before the tapes nested in it, but otherwise keeps
// the order. err reports directories that have no tapes or cannot be read; importPaths
// returns the other files even then.
func importPaths(args []string) (paths []string, err error) {
	for _, arg := range args {
		if fi, bad := os.Stat(arg); bad != nil || !fi.IsDir() {
			paths = append(paths, arg)
			continue
		}
		entries, bad := os.ReadDir(arg)
		before := len(paths)
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".jsonl" {
				paths = append(paths, filepath.Join(arg, e.Name()))
			}
		}
		if bad == nil && len(paths) == before {
			bad = fmt.Errorf("%s: no *.jsonl in it", arg)
		}
		err = errors.Join(err, bad)
	}
	return parentsFirst(paths), err
}

// parentsFirst puts the file of a parent before the tapes nested in it. If several files
// have the parent's ID, the parent is the last one before the nested tape, otherwise the
// first one after it.
func parentsFirst(paths []string) []string {
	if len(paths) < 2 {
		return paths
	}
	heads := make([]portable.Head, len(paths))
	for i, path := range paths {
		heads[i] = fileHead(path)
	}
	var sorted []string
	added := make([]bool, len(paths))
	known := map[string]bool{}
	var add func(i int)
	add = func(i int) {
		if added[i] {
			return
		}
		added[i] = true // before its parent, because parents may form a cycle
		if parent := heads[i].Start.Parent.Tape; parent != "" && !known[parent] {
			for j := range heads {
				if !added[j] && heads[j].Tape == parent {
					add(j)
					break
				}
			}
		}
		known[heads[i].Tape] = true
		sorted = append(sorted, paths[i])
	}
	for i := range paths {
		add(i)
	}
	return sorted
}

// fileHead returns the head of a file. It returns a zero Head if the file cannot be read,
// or cannot be read twice, such as stdin and pipes.
func fileHead(path string) (head portable.Head) {
	if fi, err := os.Stat(path); path == "-" || err != nil || !fi.Mode().IsRegular() {
		return head
	}
	f, err := os.Open(path)
	if err != nil {
		return head
	}
	defer f.Close()
	// The import itself reports errors in the file.
	portable.Read(f, path, func(string) {}, func(h portable.Head) { head = h }, func(portable.Line) error { return io.EOF })
	return head
}

// importFile adds the tape in a file to the store; - means stdin. If ctx ends early,
// importFile leaves nothing in the store.
func importFile(ctx context.Context, to *record.Importer, path string, stdin io.Reader, stderr io.Writer) (string, error) {
	notes := stderr
	r, name, size := stdin, "stdin", int64(0)
	if path == "-" {
		stderr = nil // no progress: the size is unknown
	} else {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil {
			size = fi.Size()
		}
		r, name = f, path
	}
	in, out := io.Pipe()
	defer in.Close()
	defer context.AfterFunc(ctx, func() { out.CloseWithError(cli.ErrInterrupted) })()
	go func() { // a read of stdin cannot be interrupted, so this may outlive importFile
		_, err := io.Copy(out, r)
		out.CloseWithError(err)
	}()
	bar := cli.NewProgress(stderr, name)
	defer bar.End()
	id, err := to.Import(bar.Reader(in, size), name, func(text string) {
		bar.End()
		cli.Warn(notes, "%s", text)
	})
	if err != nil && filepath.Ext(path) == ".db" && !errors.Is(err, cli.ErrInterrupted) {
		err = fmt.Errorf("%w; if it is a tape as a store keeps it, import what acptap export %s writes", err, path)
	}
	return id, err
}
