package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
)

func newReplayClientCmd(dir *string) *cobra.Command {
	var client drive.Client
	var save, asJSON bool
	var mcp string
	cmd := &cobra.Command{
		Use:   "client [flags] REF -- AGENT [ARG...]",
		Short: "Play the client of a tape to a live agent, and compare",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("want REF -- AGENT [ARG...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			servers, err := parseServerReplay(mcp)
			if err != nil {
				return err
			}
			sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			client.Tapes, client.Session = sub.Tapes(), sub.Session
			if save {
				if client.Store, err = ref.OpenStore(*dir); err != nil {
					return err
				}
			}
			if client.Start.Command, err = command(args[1:]); err != nil {
				return err
			}
			end := func() []string { return nil }
			if servers.on {
				end, err = servers.play(*dir, sub.File, &client, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				defer end()
			}
			client.Start.Version, client.Start.PID = cli.Version(), os.Getpid()
			if cwd := client.Start.Cwd; cwd != "" {
				// AGENT inherits our working directory.
				if err := os.Chdir(cwd); err != nil {
					return err
				}
			}
			if client.Start.Cwd, err = os.Getwd(); err != nil {
				return err
			}
			return replayClient(cmd, &client, end, args[0], save, asJSON)
		},
	}
	f := cmd.Flags()
	f.TextVar(&client.Level, "compare", compare.Shape, "the `level` of comparison: shape, content, exact or none")
	f.StringVar(&client.Start.Cwd, "cwd", "", "the working `directory` of AGENT (default the current one)")
	f.BoolVar(&client.AsNew, "as-new", false, "create a new session in place of one that the tape loads but does not create")
	f.DurationVar(&client.Patience, "patience", 0, "how long AGENT may be silent while an answer is expected (default 30s)")
	f.DurationVar(&client.Limit, "limit", 0, "how long one run of AGENT may take (default 1h)")
	f.StringVar(&mcp, "mcp", "off", "`what` AGENT gets for the MCP servers on the tape: replay (their tapes) or off (them); with replay,not:NAME the real NAME")
	f.BoolVar(&save, "save", false, "keep the new run as a tape in the store")
	f.BoolVar(&asJSON, "json", false, "write the report and the diff as one JSON object")
	f.StringVar(&client.Start.Name, "name", "", "with --save, the `name` of AGENT in listings")
	return cmd
}

// command makes a relative program path absolute, because AGENT may run in another
// directory.
func command(args []string) ([]string, error) {
	if !strings.ContainsAny(args[0], `/\`) {
		return args, nil
	}
	program, err := filepath.Abs(args[0])
	return append([]string{program}, args[1:]...), err
}

// replayClient plays a client and reports. end returns the requests that replayed MCP
// servers could not answer.
func replayClient(cmd *cobra.Command, client *drive.Client, end func() []string, ref string, save, asJSON bool) error {
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	errOut, flush := cli.Sanitized(cmd.ErrOrStderr())
	client.Err = errOut
	report, err := client.Run(ctx)
	flush()
	missed := end()
	report.Notes = append(report.Notes, missed...)
	if !asJSON {
		cli.Warn(cmd.ErrOrStderr(), "%s", report.String())
		for _, tape := range report.Tapes {
			if save {
				cli.Warn(cmd.ErrOrStderr(), "tape: %s", tape)
			}
		}
	}
	switch {
	case errors.Is(err, drive.ErrUnmade):
		return fmt.Errorf("%w; --as-new creates a new one", err)
	case err != nil && !errors.Is(err, drive.ErrDiffers):
		return err
	}
	if werr := writeComparison(cmd.OutOrStdout(), report, ref, save, asJSON); werr != nil {
		return werr
	}
	if err != nil || len(missed) > 0 {
		return cli.ErrNo
	}
	return nil
}
