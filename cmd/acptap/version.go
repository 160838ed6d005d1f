package main

import (
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

func newVersionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				hash, date := cli.Commit()
				return cli.WriteJSON(cmd.OutOrStdout(), versionLine{cli.Version(), hash, date, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			_, err := io.WriteString(cmd.OutOrStdout(), cli.Acptap.VersionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

// A versionLine is the version as --json writes it.
type versionLine struct {
	Version string `json:"version" help:"of acptap"`
	Commit  string `json:"commit,omitempty" help:"that it was built from"`
	Date    string `json:"date,omitempty" help:"of the commit"`
	Go      string `json:"go" help:"the version of Go that built it"`
	OS      string `json:"os" help:"as in $GOOS"`
	Arch    string `json:"arch" help:"as in $GOARCH"`
}
