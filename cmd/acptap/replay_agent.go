package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/replay"
)

func newReplayAgentCmd(dir *string) *cobra.Command {
	var o replayOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agent [flags] REF | --file FILE [flags] [-- AGENT [ARG...]]",
		Short: "Play the agent of a tape on stdio, over HTTP or over WebSockets",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = *dir
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args, o.live = args[:n], args[n:]
			}
			if err := o.checkListen(cmd.Flags()); err != nil {
				return err
			}
			player, err := o.player(cmd, args)
			if err != nil {
				return err
			}
			if o.missesTo != "" {
				misses, err := newMissWriter(o.missesTo)
				if err != nil {
					return err
				}
				defer misses.Close()
				o.agent.Missed = misses.write
			}
			rules, err := readRules(&o.rules, cmd.Flags())
			switch flag := o.rules.On(cmd.Flags()); {
			case err != nil:
				return err
			case flag != "" && o.listen.On():
				return fmt.Errorf("--%s changes what passes on stdio, and --listen has none", flag)
			case rules.set != nil:
				ruled := &replay.Ruled{Player: player, Rules: rules.set, Seed: rules.seed}
				if err := ruled.Check(); err != nil {
					return err
				}
				player = ruled
			}
			if o.listen.On() {
				return replayListen(cmd, &o, asJSON)
			}
			return replayAgent(cmd, player, func(r replay.Report) {
				if o.report != "" {
					if err := writeReportFile(o.report, r); err != nil {
						cli.Warn(cmd.ErrOrStderr(), "--report: %v", err)
					}
				}
				if asJSON {
					writeReport(cmd.ErrOrStderr(), r)
				} else {
					cli.Warn(cmd.ErrOrStderr(), "%s%s", r.String(), o.advice(&r))
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.match, "match", "content", "`what` must agree: content, method or exact")
	f.StringVar(&o.pace, "pace", "fast", "`speed`: fast, recorded, or a factor such as 0.5x; ,max=2s after it limits each wait")
	f.StringVar(&o.session, "session", "", "only the session with this `id`, or the beginning of it")
	f.BoolVar(&o.agent.Partial, "partial", false, "the client may leave out messages")
	f.DurationVar(&o.agent.Patience, "patience", 0, "how long to wait in a turn for a message of the client, such as the answer to a permission (default 5s)")
	f.StringVar(&o.onMiss, "on-miss", "error", "`what` to do about a request that is not on the tape: error, or live (pass it to AGENT)")
	f.StringVar(&o.file, "file", "", "replay this `file`, or record it")
	f.BoolVar(&asJSON, "json", false, "write the report as one JSON object")
	f.StringVar(&o.report, "report", "", "write the report also to this `file`, as JSON")
	f.StringVar(&o.mode, "mode", "once", "`when` to record into the file: once, none, new or all")
	f.StringVar(&o.missesTo, "misses-to", "", "append each miss to this `file`")
	f.Lookup("misses-to").Hidden = true // for replay client --mcp=replay
	o.listen.clientFlags(f)
	o.rules.Flags(f)
	return cmd
}

// replayOptions are the flags of replay agent.
type replayOptions struct {
	agent                             replay.Agent
	dir, match, pace, session, onMiss string
	file, mode                        string
	missesTo, report                  string
	live                              []string
	listen                            listenFlags
	rules                             tap.RuleFlags
}

// player returns the player that the options select.
func (o *replayOptions) player(cmd *cobra.Command, args []string) (replay.Player, error) {
	if err := o.agent.Matching.UnmarshalText([]byte(o.match)); err != nil {
		return nil, fmt.Errorf("--match: %w", err)
	}
	var err error
	if o.agent.Pace, err = replay.ParsePace(o.pace); err != nil {
		return nil, fmt.Errorf("--pace: %w", err)
	}
	if err := cli.OneOf("on-miss", o.onMiss, "error", "live"); err != nil {
		return nil, err
	}
	switch {
	case o.onMiss == "live" && o.file != "":
		return nil, errors.New("--on-miss goes with a REF; with --file, use --mode new")
	case o.onMiss == "live" && len(o.live) == 0:
		return nil, errors.New("--on-miss live needs an agent after --")
	case o.file != "":
		return o.cassette(cmd.Flags(), args)
	case o.agent.Patience < 0:
		return nil, errors.New("--patience is negative")
	case cmd.Flags().Changed("mode"):
		return nil, errors.New("--mode needs --file")
	case len(args) != 1:
		return nil, fmt.Errorf("want one REF, got %d", len(args))
	}
	name, n, err := cutConnection(args[0])
	if err != nil {
		return nil, err
	}
	if name == "-" {
		return nil, errors.New("the tape cannot come from stdin, which is the client's")
	}
	sub, err := ref.Resolve(o.dir, name, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	o.agent.Connection = n
	o.agent.Tapes, o.agent.Session = sub.Tapes(), sub.Session
	if o.session != "" {
		if o.agent.Tapes, o.agent.Session, err = ref.OfSession(o.agent.Tapes, o.session); err != nil {
			return nil, err
		}
	}
	if o.onMiss == "live" {
		o.agent.Live = o.live
	}
	return &o.agent, nil
}

func (o *replayOptions) cassette(f *pflag.FlagSet, args []string) (replay.Player, error) {
	c := &replay.Cassette{Path: o.file, Command: o.live, Agent: o.agent}
	where := "--mode"
	if mode := os.Getenv(replay.ModeVariable); mode != "" {
		where, o.mode = replay.ModeVariable, mode
	}
	if err := c.Mode.UnmarshalText([]byte(o.mode)); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	switch {
	case len(args) > 0:
		return nil, fmt.Errorf("--file and REF %q cannot be used together", args[0])
	case o.session != "":
		return nil, errors.New("--session goes with a REF, not with --file")
	case len(o.live) == 0 && (c.Mode == replay.ModeAll || c.Mode == replay.ModeNew):
		return nil, fmt.Errorf("mode %v needs an agent after --", c.Mode)
	}
	if o.rules.On(f) != "" {
		c.Mode = replay.ModeNone // a recording would contain the traffic as changed by the rules
	}
	return c, nil
}

// cutConnection splits the connection number off a REF. It does not split a REF that
// names a file.
func cutConnection(name string) (string, int, error) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || ref.IsFile(name) {
		return name, 0, nil
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("%q is not the number of a connection", name[i+1:])
	}
	return name[:i], n, nil
}

// grace limits how long a replay may take to end after a signal. It exceeds the time that
// a replay waits for a client that does not read.
const grace = 3 * time.Second

// replayAgent plays until the client or the tape ends, reports, and exits as the recorded
// agent did. If it was ended by a signal that did not end the recorded agent, it exits
// with 128+n.
func replayAgent(cmd *cobra.Command, agent replay.Player, tell func(replay.Report)) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	done := make(chan ending, 1)
	go func() {
		out, flush := cli.Sanitized(cmd.OutOrStdout())
		errOut, flushErr := cli.Sanitized(cmd.ErrOrStderr())
		report, err := agent.Run(ctx, cmd.InOrStdin(), out, errOut)
		flush()
		flushErr()
		if err != nil && ctx.Err() == nil && !errors.Is(err, replay.ErrDiverged) && !errors.As(err, new(*proxy.ExitError)) {
			report.Error = err.Error()
		}
		tell(report)
		done <- ending{report, err}
	}()
	var end ending
	var ended syscall.Signal // the signal that ended the replay; 0: none
	select {
	case end = <-done:
	case sig := <-signals:
		ended = sig.(syscall.Signal)
		cancel()
		select {
		case end = <-done:
		case <-time.After(grace):
			return &proxy.ExitError{Code: 128 + int(ended)}
		}
	}
	return end.status(ended)
}

// An ending says how a replay ended.
type ending struct {
	report replay.Report
	err    error
}

// status returns the error for the exit status of a replay. ended is the signal that ended
// the replay, or 0.
func (end *ending) status(ended syscall.Signal) error {
	diverged := errors.Is(end.err, replay.ErrDiverged)
	var died *proxy.ExitError
	switch {
	case errors.As(end.err, &died): // a rule ended the agent
		return died
	case ended != 0 && len(end.report.Misses) == 0 && (diverged || end.report.Signal != ended.String()):
		return &proxy.ExitError{Code: 128 + int(ended)} // here, messages that never arrived are not divergence
	case diverged:
		return cli.ErrNo
	case end.err != nil:
		return end.err
	case end.report.Exit != nil:
		if code := replay.EndAs(*end.report.Exit); code != 0 {
			return &proxy.ExitError{Code: code}
		}
	}
	return nil
}
