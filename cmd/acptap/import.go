package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/record"
)

func newImportCmd(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE...",
		Short: "Take tapes from files into the store",
		Long: `Takes tapes from files into the store, and prints the id of each. A file is in
the portable form (acptap export), plain JSON Lines of frames with a direction
each, or a JSON export of acp-devtools. - is stdin. Of a file that cannot be
read to its end nothing is kept.

Exit status 0; 2 if a file cannot be imported.`,
		Example: `  acptap import bug.jsonl
  ssh box acptap export last | acptap import -`,
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			var failed error
			for _, path := range args {
				id, err := importFile(store, path, cmd.InOrStdin(), cmd.ErrOrStderr())
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				fmt.Fprintln(cmd.OutOrStdout(), id)
			}
			return failed
		},
	}
}

func importFile(store *record.Store, path string, stdin io.Reader, stderr io.Writer) (string, error) {
	if path == "-" {
		return store.Import(stdin, "stdin")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	m := &meter{File: f, progress: newProgress(stderr, path)}
	defer m.end()
	if fi, err := f.Stat(); err == nil {
		m.total = fi.Size()
	}
	return store.Import(m, path)
}
