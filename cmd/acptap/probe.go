package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/probe/model"
)

func newProbeCmd(dir *string) *cobra.Command {
	var p probeFlags
	cmd := &cobra.Command{
		Use:   "probe [flags] -- AGENT [ARG...]",
		Short: "Test how a live agent or server reacts",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("want -- AGENT [ARG...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Exclusive(cmd.Flags(), "model", "prompts"); err != nil {
				return err
			}
			if err := p.prepare(args); err != nil {
				return err
			}
			if err := p.verdict.prepare(cmd.Flags(), &p.r); err != nil {
				return err
			}
			store, done, err := p.verdict.store(*dir)
			if err != nil {
				return err
			}
			defer done()
			p.r.Store = store
			p.person(cmd)
			return p.run(cmd)
		},
	}
	f := cmd.Flags()
	p.registerCases(cmd)
	f.StringVar(&p.wait, "wait", "", "print this `text` before each case: what a person has to do with the client")
	f.StringVar(&p.dialect, "dialect", "", "only this `dialect`: v1, v2-early or v2 (default all that AGENT speaks); of MCP the revision to ask for, such as 2025-06-18")
	f.StringVar(&p.call, "call", "", "let cases call a tool of the MCP server, with arguments that it accepts, `NAME=JSON`")
	f.StringVar(&p.r.Login, "login", "", "log in with this `method` of AGENT")
	f.BoolVar(&p.model, "model", false, "have AGENT ask a scripted model on this machine, with a new home directory")
	f.IntVar(&p.r.Prompts, "prompts", 0, "let up to `n` cases send a prompt, which AGENT's model answers")
	f.StringVar(&p.r.Cwd, "cwd", "", "the `directory` in which each session gets one of its own (default a temporary one)")
	f.StringArrayVar(&p.r.Env, "env", nil, "add `NAME=VALUE` to AGENT's environment")
	f.IntVarP(&p.r.Jobs, "jobs", "j", 2, "how many cases at once, `n`")
	f.DurationVar(&p.r.Start, "start", time.Minute, "how long AGENT's first answer may take")
	f.DurationVar(&p.r.Patience, "patience", 0, "how long other answers may take (default 20 times the first, 10s to 60s)")
	f.DurationVar(&p.r.Limit, "limit", 5*time.Minute, "how long one case may take")
	p.verdict.register(f)
	cmd.AddCommand(newProbeListCmd(), newProbeShowCmd(), newProbeTestCmd(), newProbeEchoCmd(), newProbeAgentCmd())
	return cmd
}

// probeFlags are the flags of acptap probe.
type probeFlags struct {
	mcp, client    bool
	model          bool
	wait           string
	only, skip     []string
	cases, dialect string
	call           string
	verdict        probeVerdict
	r              probe.Runner
}

// registerKind adds the flags that say what kind of peer is tested.
func (p *probeFlags) registerKind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.mcp, "mcp", false, "the command is an MCP server")
	f.BoolVar(&p.client, "client", false, "the command is a client, which starts {agent}, opens a session and prompts once")
	cmd.PreRunE = func(*cobra.Command, []string) error { return cli.Exclusive(f, "mcp", "client") }
}

// registerCases adds the flags that select cases.
func (p *probeFlags) registerCases(cmd *cobra.Command) {
	p.registerKind(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&p.only, "only", nil, "only the cases whose ids match one of these `patterns`, such as load/*")
	f.StringSliceVar(&p.skip, "skip", nil, "without the cases whose ids match one of these `patterns`")
	f.StringVar(&p.cases, "cases", "", "also the cases in this `directory`")
}

// kind returns the kind of peer.
func (p *probeFlags) kind() probe.Kind {
	switch {
	case p.mcp:
		return probe.Server
	case p.client:
		return probe.Client
	}
	return probe.Agent
}

// hidden returns the command of this program that acts as part in cases, or nil if the
// program's path is unknown.
func hidden(part string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "probe", part}
}

// prepare sets up the Runner according to the flags.
func (p *probeFlags) prepare(args []string) (err error) {
	r := &p.r
	r.Kind = p.kind()
	if p.call != "" {
		if r.Call, err = parseCall(p.call); err != nil || !p.mcp {
			return fmt.Errorf("--call %q: want --mcp, and NAME=JSON with an object, such as echo={\"message\":\"hi\"}", p.call)
		}
	}
	switch {
	case p.wait != "" && !p.client:
		return errors.New("--wait needs --client")
	case p.model && r.Kind != probe.Agent:
		return errors.New("--model is for agents")
	case p.dialect != "" && p.mcp:
		if _, err := time.Parse(time.DateOnly, p.dialect); err != nil {
			return fmt.Errorf("--dialect of MCP is a revision, such as 2025-06-18, not %q", p.dialect)
		}
		r.Revision = p.dialect
	case p.dialect != "":
		var d dialect.Dialect
		if err := d.UnmarshalText([]byte(p.dialect)); err != nil || d.Protocol() != dialect.ACP {
			return fmt.Errorf("--dialect is v1, v2-early or v2, not %q", p.dialect)
		}
		r.Dialects = []dialect.Dialect{d}
	}
	for _, entry := range r.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" {
			return fmt.Errorf("--env %q is not NAME=VALUE", entry)
		}
	}
	if p.model {
		r.Model = &model.Model{}
	}
	if r.Cases, err = p.selectCases(r.Kind); err != nil {
		return err
	}
	if r.Command, err = command(args); err != nil {
		return err
	}
	r.EchoServer, r.AgentCommand, r.Version = hidden("echo"), hidden("agent"), cli.Version()
	return nil
}

// parseCall reads NAME=JSON as the params of tools/call.
func parseCall(text string) (map[string]any, error) {
	name, arguments, _ := strings.Cut(text, "=")
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	err := d.Decode(&object)
	if err == nil && (name == "" || object == nil || d.More()) {
		err = errors.New("not NAME=JSON")
	}
	return map[string]any{"name": name, "arguments": object}, err
}

// person makes the Runner ask a person for the steps that a case needs, if --wait says so.
func (p *probeFlags) person(cmd *cobra.Command) {
	if p.wait == "" {
		return
	}
	p.r.Jobs = 1
	if !cmd.Flags().Changed("start") {
		p.r.Start = 5 * time.Minute
	}
	p.r.Patience = cmp.Or(p.r.Patience, time.Minute)
	p.r.Ask = func(c *probe.Case) {
		id, do := "hello", ""
		if c != nil {
			id, do = c.ID, c.Do
		}
		cli.Warn(cmd.ErrOrStderr(), "%s: %s", id, strings.TrimSpace(p.wait+"\n"+do))
	}
}

// selectCases returns the built-in cases and those of --cases, as filtered by --only and
// --skip.
func (p *probeFlags) selectCases(k probe.Kind) ([]*probe.Case, error) {
	all, err := probe.Cases(k)
	if err == nil && p.cases != "" {
		var own []*probe.Case
		own, err = readCases(p.cases, k)
		all = append(all, own...)
	}
	if err != nil {
		return nil, err
	}
	return probe.Select(all, p.only, p.skip)
}

// run plays the cases and writes the report.
func (p *probeFlags) run(cmd *cobra.Command) error {
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	found, err := p.r.Run(ctx)
	var unmet *probe.StartError
	if errors.As(err, &unmet) {
		for _, line := range unmet.Stderr {
			cli.Warn(cmd.ErrOrStderr(), "  %s", line)
		}
		return err
	}
	failed, werr := p.verdict.conclude(cmd, p.r.Store, found)
	switch {
	case werr != nil:
		return werr
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; the report is about the cases that ran")
	case found.Walled && p.r.Login == "":
		return behindLogin(found)
	case err != nil:
		return err
	case failed:
		return cli.ErrNo
	}
	return nil
}

// newProbeEchoCmd returns the command that acts as the MCP server in cases.
func newProbeEchoCmd() *cobra.Command {
	return &cobra.Command{
		Use: "echo KIND LOG", Short: "The MCP server that cases offer to an agent", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := probe.Echo(args[0], args[1], cmd.InOrStdin(), cmd.OutOrStdout())
			if err != nil {
				return err
			}
			if status != 0 {
				os.Exit(status)
			}
			return nil
		},
	}
}

// newProbeAgentCmd returns the command that plays cases to a client.
func newProbeAgentCmd() *cobra.Command {
	return &cobra.Command{
		Use: "agent DIR", Short: "The agent that cases offer to a client", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return probe.PlayAgent(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}
