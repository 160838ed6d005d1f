package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/jsonlines"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/cmd/acptap/internal/usage"
	"github.com/acptap/acptap/cmd/acptap/internal/warning"
	"github.com/acptap/acptap/record"
)

func newImportCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import [flags] FILE...",
		Short: "Add tapes from files to the store",
		Long: `Adds tapes from files to the store, and prints the id of each. A file may be in
the portable form (acptap export), plain JSON Lines of frames that each have a
direction, or a JSON export of acp-devtools. - is stdin. If a file cannot be
read to its end, nothing of it is added. A tape keeps its id if the id is free
and the file says when the tape began; else it gets a new one.

A line of --json is an object with file, the name of the file as it was given,
and tape, the id.

Exit status 0; 2 if a file cannot be imported.`,
		Example: `  acptap import bug.jsonl
  ssh box acptap export last | acptap import -
  acptap import --json *.jsonl | jq -r .tape`,
		Args: usage.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			var failed error
			for _, path := range args {
				id, err := importFile(ctx, store, path, cmd.InOrStdin(), cmd.ErrOrStderr())
				if errors.Is(err, errInterrupted) {
					return err
				}
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				if asJSON {
					err = jsonlines.Write(cmd.OutOrStdout(), importedLine{path, id})
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
	File string `json:"file"`
	Tape string `json:"tape"`
}

// importFile adds the tape in a file to the store; - is stdin. If ctx ends early,
// nothing of it stays in the store.
func importFile(ctx context.Context, store *record.Store, path string, stdin io.Reader, stderr io.Writer) (string, error) {
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
	defer context.AfterFunc(ctx, func() { out.CloseWithError(errInterrupted) })()
	go func() { // a read of stdin cannot be interrupted, so this may outlive importFile
		_, err := io.Copy(out, r)
		out.CloseWithError(err)
	}()
	bar := terminal.NewProgress(stderr, name)
	defer bar.End()
	return store.Import(bar.Reader(in, size), name, func(text string) {
		bar.End()
		warning.Print(notes, "%s", text)
	})
}
