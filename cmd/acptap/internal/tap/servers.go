package tap

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/termtext"
)

// mcpFlags are the flags of acptap proxy about the MCP servers of an agent.
type mcpFlags struct {
	which  string
	parent string

	selection nest.Selection // parsed from which
}

// flags defines the flags.
func (c *mcpFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.which, "mcp", "off", "also record the MCP servers that the client names to the agent, `which`: all, stdio, http (by a URL) or off; only:NAME and not:NAME, with commas between, choose; with force, also where docker, ssh or the like run the agent")
	f.Lookup("mcp").NoOptDefVal = "all"
	f.StringVar(&c.parent, "parent", "", "whose server this is, as --mcp writes it: `TAPE/LINK/NAME`")
	f.Lookup("parent").Hidden = true // only acptap itself uses it
}

// check returns an error if a flag has a wrong value. It sets in start what the flags say
// about the tape.
func (c *mcpFlags) check(start *record.Start) error {
	if c.parent != "" {
		p, err := nest.ParseParent(c.parent)
		if err == nil && !tapeid.IsValid(p.Tape) {
			err = fmt.Errorf("%q is not the id of a tape", p.Tape)
		}
		if err != nil {
			return fmt.Errorf("--parent: %w", err)
		}
		start.Parent = record.Parent{Tape: p.Tape, Link: p.Link, Server: p.Server}
	}
	if c.which == "off" {
		return nil
	}
	if start.Proto == "mcp" {
		return errors.New("--mcp is about the servers of an agent, and --protocol mcp says that this is a server")
	}
	var err error
	if c.selection, err = nest.ParseSelection(c.which); err != nil {
		return fmt.Errorf("--mcp: %w", err)
	}
	return nil
}

// rewriter returns the interceptor that makes the agent recorded on tape start its servers
// through a recorder, which records them in store. It returns nil if --mcp is off.
func (c *mcpFlags) rewriter(program cli.Program, start record.Start, store *record.Store, tape string, w *cli.Warnings) (*nest.Rewriter, error) {
	if c.which == "off" {
		return nil, nil
	}
	recorder, err := program.Recorder(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return nil, err
	}
	return &nest.Rewriter{
		Recorder: recorder, Store: store.Dir(), Tape: tape,
		Agent: start.Command, Selection: c.selection,
		Complain: func(format string, args ...any) {
			w.Print("--mcp: %s", termtext.Line(fmt.Sprintf(format, args...))) // names come from the client
		},
	}, nil
}
