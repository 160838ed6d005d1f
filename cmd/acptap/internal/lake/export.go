// Package lake holds what acptap and acptap-lake, its program for object storage and
// tables, share: the commands with their flags and help. acptap parses a command to check
// it and to show its help; acptap-lake parses it to run it.
package lake

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
)

// Parquet is the export format that acptap-lake writes.
const Parquet = "parquet"

// An Export holds the flags of export --format parquet.
type Export struct {
	Which   tapelist.Subjects
	Output  string // a directory, or the URL of a bucket
	Content bool
	Raw     bool
}

// Check checks the flags and arguments.
func (x *Export) Check(args []string) error {
	switch {
	case x.Output == "" || x.Output == "-":
		return errors.New("--format parquet writes several files: name a directory for them, or a bucket, with --output")
	case strings.Contains(x.Output, "://") && !x.InBucket():
		return errors.New("--format parquet writes to a directory, or to s3://BUCKET/PREFIX")
	case x.Raw && !x.Content:
		return errors.New("--raw changes nothing: without --content, --format parquet writes nothing that was said")
	}
	return x.Which.Check(args)
}

// InBucket reports whether the tables go to a bucket.
func (x *Export) InBucket() bool { return strings.HasPrefix(x.Output, "s3://") }

// NewExportCmd returns the export command of acptap-lake, which is a part of acptap's. run
// runs it; args are REFs.
func NewExportCmd(run func(cmd *cobra.Command, x *Export, args []string) error) *cobra.Command {
	var x Export
	var format string
	cmd := &cobra.Command{
		Use:   "export --format parquet -o DIR|URL [flags] [REF...]",
		Short: "Write tapes as tables",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != Parquet {
				return fmt.Errorf("--format %q is not for %s", format, cli.Lake)
			}
			if err := x.Check(args); err != nil {
				return err
			}
			return run(cmd, &x, args)
		},
	}
	f := cmd.Flags()
	x.Which.Register(f)
	f.StringVar(&format, "format", Parquet, "`format` to write")
	f.StringVarP(&x.Output, "output", "o", "", "`directory`, or URL of a bucket")
	f.BoolVar(&x.Content, "content", false, "also what was said")
	f.BoolVar(&x.Raw, "raw", false, "keep secrets")
	return cmd
}
