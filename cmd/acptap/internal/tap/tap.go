// Package tap is the command acptap proxy: it runs an agent, forwards what the agent and
// its client say, and records it. It is also all of acptap-proxy, a small program that an
// editor can start for each of its agents and servers. A Rest, which only acptap has,
// adds what few of them need and what takes a lot of code and memory. If acptap-proxy
// needs it, it runs acptap in its place.
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

	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
)

// Options are the flags of the command and their values.
type Options struct {
	Start  record.Start
	Listen Listen
	OTLP   string        // where to send what is recorded; empty: nowhere
	Watch  time.Duration // how long an agent may be silent before stderr says so; 0: forever
	Rules  RuleFlags
	Holds  HoldFlags

	complaint string // message for stderr; empty: none

	sessions sessionFlags
	mcp      mcpFlags
	host     hostFlags
}

// A Rest does what acptap can do and acptap-proxy cannot.
type Rest interface {
	// Check returns an error if a flag implemented by the Rest has a wrong value.
	Check(o *Options, f *pflag.FlagSet) error

	// Listen serves clients until a signal ends it. It is called if Options.Listen is on.
	Listen(ctx context.Context, dir string, o *Options, stderr io.Writer) error

	// Chain returns the interceptors of a proxy with those around them that apply rules.
	Chain(chain []proxy.Interceptor) []proxy.Interceptor

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
	ref.StoreFlag(cmd.Flags(), dir)
	cli.Configure(cmd, commands.OfProgram, nil)
	return cmd
}

// newCommand returns the command without its name. If rest is nil, it is the command of
// acptap-proxy, and args are its arguments.
func newCommand(dir *string, rest Rest, args []string) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.Listen.Address == "" && o.Listen.Upstream == "" {
				return fmt.Errorf("the agent's command is missing: %s -- AGENT ARG…", cmd.CommandPath())
			}
			return nil
		},
		PreRunE: func(cmd *cobra.Command, agent []string) error {
			if rest == nil {
				if err := becomeIfNeeded(cmd, *dir, args); err != nil {
					return err
				}
			}
			o.Start.Command, o.complaint = agent, cmd.Annotations[complaint]
			return o.check(cmd.Flags(), rest)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Listen.On() {
				if o.complaint != "" {
					cli.Warn(cmd.ErrOrStderr(), "%s", o.complaint)
				}
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
	o.Rules.Flags(f)
	o.Holds.Flags(f)
	o.Listen.flags(f)
	f.StringVar(&o.OTLP, "otlp", "", "send what is recorded to a collector, in the background, as acptap ship does: `URL`, or env: as the variables OTEL_* say")
	f.Lookup("otlp").NoOptDefVal = "env"
	return cmd
}

// NeedsAcptap reports whether the flags of the command need something that acptap-proxy
// cannot do.
func NeedsAcptap(f *pflag.FlagSet) bool {
	if cli.Given(f, "listen", "upstream", "expose", "allow-origin", "oauth", "otlp", "watch") != "" || new(RuleFlags).On(f) != "" || new(HoldFlags).On(f) != "" {
		return true
	}
	selection, err := nest.ParseSelection(f.Lookup("mcp").Value.String())
	return err == nil && selection.HTTP
}

// check returns an error if a flag has a wrong value.
func (o *Options) check(f *pflag.FlagSet, rest Rest) error {
	if o.Start.Proto != "" {
		if err := cli.OneOf("protocol", o.Start.Proto, "acp", "mcp"); err != nil {
			return err
		}
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
			err = fmt.Errorf("%q is not a program; --%s takes a value only after =: --%s=%s -- AGENT", command[0], flag.Name, flag.Name, command[0])
		}
	})
	return err
}

// Listen holds the flags for a server at a URL.
type Listen struct {
	Address  string
	Upstream string
	Expose   bool
	Origins  []string
	OAuth    string
}

// flags defines the flags.
func (l *Listen) flags(f *pflag.FlagSet) {
	f.StringVar(&l.Address, "listen", "", "in place of an agent: listen on `ADDR`, such as 127.0.0.1:7000, for clients of the server at --upstream")
	f.StringVar(&l.Upstream, "upstream", "", "with --listen, the `URL` of the server: http, https, or h2c (HTTP/2 without TLS)")
	f.BoolVar(&l.Expose, "expose", false, "with --listen, let other machines connect; there is no login")
	f.StringSliceVar(&l.Origins, "allow-origin", nil, "with --listen, also pass on requests of web pages of an `origin` such as https://app.example")
	f.StringVar(&l.OAuth, "oauth", "rewrite", "with --listen, `what` is done to the URLs of OAuth documents: rewrite (to this address) or pass")
}

// On reports whether acptap must listen.
func (l *Listen) On() bool { return l.Address != "" }
