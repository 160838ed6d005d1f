package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

func newReplayScriptCmd() *cobra.Command {
	dialectName := "v1"
	var check bool
	cmd := &cobra.Command{
		Use:   "script [flags] FILE",
		Short: "Play a script written by hand as the agent or server on stdio",
		Args:  cli.Operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, ok := script.Dialect(dialectName)
			if !ok {
				return fmt.Errorf("--for is v1, v2-early, v2 or mcp, not %q", dialectName)
			}
			s, err := readScript(args[0], d)
			if err != nil || check {
				return withCaret(err)
			}
			return replayScript(cmd, args[0], s, d)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dialectName, "for", dialectName, "the `dialect` of the script: v1, v2-early, v2 or mcp")
	f.BoolVar(&check, "check", false, "only check the script")
	return cmd
}

// readScript reads the script in a file.
func readScript(name string, d dialect.Dialect) (*script.Script, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, script.MaxSize+1))
	if err != nil {
		return nil, err
	}
	return script.Parse(name, string(text), d)
}

// replayScript plays a script to the client on stdin and stdout, and reports on stderr what
// the script required and the client did not do.
func replayScript(cmd *cobra.Command, name string, s *script.Script, d dialect.Dialect) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	missed := false
	settled := func(o script.Outcome) {
		if o.State == script.Missed && o.Step.Tier != script.Tell {
			missed = true
			cli.Warn(cmd.ErrOrStderr(), "%s:%d: wanted %s: %s", name, o.Step.Line, probe.Wanted(o.Step), o.Got)
		}
	}
	p := proxy.Proxy{
		Peer: script.NewAgent(s, d, script.Captures{"cwd": cwd}, settled),
		In:   cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(),
	}
	err = p.Run(cmd.Context())
	var exit *proxy.ExitError
	if missed && !errors.As(err, &exit) {
		return cli.ErrNo
	}
	return err
}
