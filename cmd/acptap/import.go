package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
)

func newImportCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import [flags] FILE|DIR...",
		Short: "Add tapes from files to the store",
		Long: `Adds tapes from files to the store, and prints the id of each. A file may be in
the portable form (acptap export), plain JSON Lines of frames that each have a
direction, or a JSON export of acp-devtools. - is stdin; DIR stands for all
*.jsonl in it. If a file cannot be read to its end, nothing of it is added. A
tape keeps its id if the id is free and the file says when the tape began; else
it gets a new one.

The tapes that acptap export --mcp wrote belong together again if one import
takes them, whatever their order and their new ids. That of an agent is added
before those of its servers.

A line of --json is an object with
` + cli.Members(importedLine{}) + `
Exit status 0; 2 if a file cannot be imported.`,
		Example: `  acptap import bug.jsonl
  ssh box acptap export last | acptap import -
  acptap import bug-7
  acptap import --json *.jsonl | jq -r .tape`,
		Args: cli.Operands(1, -1),
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
