// Package tap is the command acptap proxy: it runs an agent, forwards what the agent and
// its client say, and records it. It is also all of acptap-proxy, a small program that an
// editor can start for each of its agents and servers. A Rest, which only acptap has, adds
// what few of them need and what takes much code and memory. If acptap-proxy needs it, it
// runs acptap in its place.
package tap

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
)

// Options are the flags of the command and their values.
type Options struct {
	Start  record.Start
	Listen Listen
	OTLP   string        // where to send what is recorded; empty: nowhere
	Watch  time.Duration // how long an agent may be silent before stderr says so; 0: forever

	sessions sessionFlags
	mcp      mcpFlags
	host     hostFlags
}

// A Rest does what acptap can do and acptap-proxy cannot.
type Rest interface {
	// Check returns an error if a flag that the Rest implements has a wrong value.
	Check(o *Options, f *pflag.FlagSet) error

	// Listen serves clients until a signal ends it. It is called if Options.Listen is on.
	Listen(ctx context.Context, dir string, o *Options, stderr io.Writer) error

	// Attend starts what runs alongside a recording. It is called once, before the agent
	// starts.
	Attend(o *Options, store *record.Store, journal *record.Recorder, w *cli.Warnings) Attendant
}

// NewCommand returns the command acptap proxy, which records into the store in dir.
func NewCommand(dir *string, rest Rest) *cobra.Command {
	cmd := newCommand(dir, rest, nil)
	cmd.Use = "proxy [flags] -- AGENT [ARG...]"
	cmd.Short = "Run an agent and record what it and its client say"
	return cmd
}

// NewProgram returns the command of the program acptap-proxy. args are its arguments.
func NewProgram(args []string) *cobra.Command {
	dir := new(string)
	cmd := newCommand(dir, nil, args)
	cmd.Use = string(cli.Proxy) + " [flags] -- AGENT [ARG...]"
	cmd.Version = cli.Version()
	cmd.Long = `acptap-proxy is acptap proxy alone: a small program which takes little memory beside
each agent and each server. acptap wrap writes it into settings if it lies beside
acptap. With --listen, --otlp, --watch, or --mcp of servers with a URL, which it
cannot do itself, it becomes acptap, with the same arguments.

` + cmd.Long
	cmd.Example = strings.ReplaceAll(cmd.Example, "acptap proxy", string(cli.Proxy))
	ref.StoreFlag(cmd.Flags(), dir)
	cli.Configure(cmd, nil)
	return cmd
}

// newCommand returns the command without its name. If rest is nil, it is the command of
// acptap-proxy, and args are its arguments.
func newCommand(dir *string, rest Rest, args []string) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Long: `Runs AGENT with its arguments, and passes on stdin, stdout, stderr, signals and
the exit status unchanged. Everything that passes is recorded in the store. If
recording fails, stderr says so, and the traffic goes on. AGENT decides what to
do about a signal; acptap ends when AGENT ends. See acptap help editors.

With --sessions, an agent that forgets its sessions when it ends gets
session/load, list, resume, delete and close: acptap serves the client from the
store, and gives the agent a record of the conversation with the next prompt.
Frames that acptap adds or changes are marked on the tape. For more, see
acptap help resume.

With --mcp, the MCP servers that the client names to the agent are recorded too,
on tapes of their own: in the client's session/new, load, resume and fork,
acptap proxy takes the place of their commands, and runs them, and an address of
this machine takes the place of their URLs. Servers that the agent takes from
its own settings are not recorded. See acptap help servers.

With --mcp-sessions, an MCP server that has no sessions gets those of a proposal
for MCP that was closed, for authors of clients who want to try it: acptap runs
a process of the server for each session. See acptap help mcp-sessions.

With --watch 30s, stderr says when the agent is silent for so long in a turn, or
something else hangs, as acptap watch does: in one line, at most once a minute
for each kind. What you are asked is left out.

With --otlp, what is recorded is sent to a collector of OpenTelemetry, as acptap
ship --follow does: in a process of its own, for which nothing waits, and which
ends once all is sent, or a minute after the last tape. OTEL_* variables without
--otlp have no effect here; the agent sees them in either case.

With --listen ADDR --upstream URL, acptap listens in place of an MCP or ACP
server that is reached over HTTP or a WebSocket, and runs nothing: clients use
the URL that stderr tells, and each of their connections has a tape. Values of
credentials in HTTP headers are not recorded. OAuth may not work through another
URL; give the client the token as a header then. acptap ends with SIGINT or
SIGTERM, and status 0.

The exit status is that of AGENT; 128+n if signal n ended it; 127 if it is not
found; 126 if it cannot be run.`,
		Example: `  acptap proxy -- claude-agent-acp
  acptap proxy --name claude -- npx -y @agentclientprotocol/claude-agent-acp
  acptap proxy --sessions --name my-agent -- my-agent --acp
  acptap proxy --mcp=not:browser --name my-agent -- my-agent --acp
  acptap proxy --mcp-sessions -- my-mcp-server
  acptap proxy --store /tmp/tapes -- gemini --acp
  acptap proxy --otlp=http://localhost:4318 -- my-agent --acp
  acptap proxy --listen 127.0.0.1:7000 --upstream https://example.com/mcp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.Listen.Address == "" && o.Listen.Upstream == "" {
				return fmt.Errorf("the agent's command is missing: %s -- AGENT ARG…", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, agent []string) error {
			o.Start.Command = agent
			if rest == nil && NeedsAcptap(cmd.Flags()) {
				acptap, err := cli.Acptap.Find()
				if err != nil {
					return err
				}
				return cli.Become(acptap, append([]string{"proxy"}, args...)...)
			}
			if err := o.check(cmd.Flags(), rest); err != nil {
				return err
			}
			if o.Listen.On() {
				return rest.Listen(cmd.Context(), *dir, &o, cmd.ErrOrStderr())
			}
			return run(cmd.Context(), *dir, &o, rest, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after AGENT belong to AGENT
	f.StringVar(&o.Start.Name, "name", "", "the agent's `name` in listings; sessions recorded under one name belong together")
	f.StringVar(&o.Start.Proto, "protocol", "", "the `protocol`: acp or mcp (default: as the traffic shows)")
	f.DurationVar(&o.Watch, "watch", 0, "say on stderr what hangs, such as an agent that is silent for a `time` such as 30s")
	o.sessions.flags(f)
	o.mcp.flags(f)
	o.host.flags(f)
	o.Listen.flags(f)
	f.StringVar(&o.OTLP, "otlp", "", "send what is recorded to a collector, in the background, as acptap ship does: `URL`, or env: as the variables OTEL_* say")
	f.Lookup("otlp").NoOptDefVal = "env"
	return cmd
}

// NeedsAcptap reports whether the flags of the command need something that acptap-proxy
// cannot do.
func NeedsAcptap(f *pflag.FlagSet) bool {
	for _, name := range []string{"listen", "upstream", "expose", "allow-origin", "oauth", "otlp", "watch"} {
		if f.Changed(name) {
			return true
		}
	}
	selection, err := nest.ParseSelection(f.Lookup("mcp").Value.String())
	return err == nil && selection.HTTP
}

// check returns an error if a flag has a wrong value.
func (o *Options) check(f *pflag.FlagSet, rest Rest) error {
	switch o.Start.Proto {
	case "", "acp", "mcp":
	default:
		return fmt.Errorf("--protocol is acp or mcp, not %q", o.Start.Proto)
	}
	if err := checkValues(f, o.Start.Command); err != nil {
		return err
	}
	if rest != nil {
		if err := rest.Check(o, f); err != nil {
			return err
		}
	}
	if err := o.sessions.check(); err != nil {
		return err
	}
	if err := o.mcp.check(&o.Start); err != nil {
		return err
	}
	return o.host.check(f, o)
}

// checkValues returns an error if the agent's command begins with the intended value of a
// flag that takes a value only after =, as in --mcp stdio -- AGENT or --otlp URL AGENT.
func checkValues(f *pflag.FlagSet, command []string) (err error) {
	if len(command) == 0 { // with --listen
		return nil
	}
	if !strings.Contains(command[0], "://") && (len(command) < 2 || command[1] != "--") {
		return nil
	}
	if _, found := exec.LookPath(command[0]); found == nil {
		return nil
	}
	f.Visit(func(flag *pflag.Flag) {
		if flag.Value.Type() == "string" && flag.NoOptDefVal != "" && flag.Value.String() == flag.NoOptDefVal {
			err = fmt.Errorf("%q is no program; a value of --%s stands behind =: --%s=%s -- AGENT", command[0], flag.Name, flag.Name, command[0])
		}
	})
	return err
}
