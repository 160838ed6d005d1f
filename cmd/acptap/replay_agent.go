package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

func newReplayAgentCmd(dir *string) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "agent [flags] REF | --file FILE [flags] [-- AGENT [ARG...]]",
		Short: "Play the agent of a tape on stdio",
		Long: `Plays the agent of a tape to the client on stdin and stdout: answers what was
asked on the tape, sends what the agent sent, asks what it asked and waits for
the answer. No agent is run. Sessions and calls may come in another order than
they were recorded, with other ids and in another directory.

A request that the tape does not have gets an error that names the nearest
recorded one and what differs. A report of that, and of what never came, is
written to stderr at the end. With --on-miss live, sessions and calls of MCP
servers that the tape does not have go to AGENT. Nothing that the tape says can
control a terminal: there it is written harmless.

--match says what counts when a message is compared with the recorded one:

  content  what it asks for: the blocks of a prompt, the chosen option, the mode
  method   the method and the session
  exact    everything but ids and paths

With --file, AGENT is recorded into FILE, in the portable form, as --mode says,
or as ACPTAP_MODE does:

  once     if there is no such file; else the file is replayed
  none     never
  new      as once; what the file lacks of sessions and calls of MCP goes to
           AGENT and is added, but not a new prompt in a recorded session
  all      always, in place of what is there
` + refHelp + `
REF#2 is its second connection.

The exit status is that of the agent on the tape; 1 if the client left the tape;
2 if it cannot be played; 128+n if signal n ended it and not the agent on the
tape. A death by signal is repeated.`,
		Example: `  acptap replay agent last
  acptap replay agent --match method --pace recorded,max=2s fix.jsonl
  acptap replay agent --session 7f3a last~1
  acptap replay agent --file testdata/fix.jsonl -- my-agent --acp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = *dir
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args, o.live = args[:n], args[n:]
			}
			player, err := o.player(cmd, args)
			if err != nil {
				return err
			}
			err = replayAgent(cmd, player)
			if errors.Is(err, errNo) && o.file != "" && len(o.live) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "acptap: to record %s anew: --mode %v\n", o.file, replay.ModeAll)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.match, "match", "content", "`what` counts: content, method or exact")
	f.StringVar(&o.pace, "pace", "fast", "`how` fast: fast, recorded, or a speed such as 0.5x; with ,max=2s no wait is longer")
	f.StringVar(&o.session, "session", "", "only the session with this `id`, or the one whose id begins so")
	f.BoolVar(&o.agent.Partial, "partial", false, "the client may leave things out")
	f.DurationVar(&o.agent.Patience, "patience", 0, "how long to wait in a turn for a client that owes something (default 5s)")
	f.StringVar(&o.onMiss, "on-miss", "error", "`what` becomes of a session that is not on the tape: error, or live for AGENT")
	f.StringVar(&o.file, "file", "", "replay this `file`, or record it")
	f.StringVar(&o.mode, "mode", "once", "`when` to record into the file: once, none, new or all")
	return cmd
}

// A replayOptions is what the flags of replay agent say.
type replayOptions struct {
	agent                             replay.Agent
	dir, match, pace, session, onMiss string
	file, mode                        string
	live                              []string
}

// A player plays an agent.
type player interface {
	Run(ctx context.Context, in io.Reader, out, errOut io.Writer) (replay.Report, error)
}

// player returns what the options ask for.
func (o *replayOptions) player(cmd *cobra.Command, args []string) (player, error) {
	if err := o.agent.Matching.UnmarshalText([]byte(o.match)); err != nil {
		return nil, fmt.Errorf("--match: %w", err)
	}
	var err error
	if o.agent.Pace, err = replay.ParsePace(o.pace); err != nil {
		return nil, fmt.Errorf("--pace: %w", err)
	}
	switch {
	case o.onMiss != "error" && o.onMiss != "live":
		return nil, fmt.Errorf("--on-miss is error or live, not %q", o.onMiss)
	case o.onMiss == "live" && len(o.live) == 0:
		return nil, errors.New("--on-miss live wants an agent behind --")
	case o.file != "":
		return o.cassette(cmd, args)
	case o.agent.Patience < 0:
		return nil, errors.New("--patience is less than nothing")
	case cmd.Flags().Changed("mode"):
		return nil, errors.New("--mode wants a --file")
	case len(args) != 1:
		return nil, fmt.Errorf("one REF is wanted, not %d", len(args))
	}
	ref, n, err := cutConnection(args[0])
	if err != nil {
		return nil, err
	}
	if ref == "-" {
		return nil, errors.New("a tape cannot come from stdin, where the client is")
	}
	sub, err := resolve(o.dir, ref, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	o.agent.Connection = n
	o.agent.Tapes, o.agent.Session = sub.tapes(), sub.Session
	if o.session != "" {
		if o.agent.Tapes, o.agent.Session, err = ofSession(o.agent.Tapes, o.session); err != nil {
			return nil, err
		}
	}
	if o.onMiss == "live" {
		o.agent.Live = o.live
	}
	return &o.agent, nil
}

func (o *replayOptions) cassette(cmd *cobra.Command, args []string) (player, error) {
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
		return nil, fmt.Errorf("with --file there is no REF: %q", args[0])
	case o.session != "":
		return nil, errors.New("--session goes with a REF, not with --file")
	case len(o.live) == 0 && (c.Mode == replay.ModeAll || c.Mode == replay.ModeNew):
		return nil, fmt.Errorf("the mode %v wants an agent behind --", c.Mode)
	}
	return c, nil
}

// ofSession returns the tapes that have the session with an id, or the only one
// whose id begins so, and its whole id.
func ofSession(tapes []*record.Tape, id string) (having []*record.Tape, session string, err error) {
	bySession := make(map[string][]*record.Tape)
	for _, t := range tapes {
		sessions, err := t.Sessions()
		if err != nil {
			return nil, "", err
		}
		for _, one := range sessions {
			bySession[one.ID] = append(bySession[one.ID], t)
		}
	}
	if found := bySession[id]; found != nil {
		return found, id, nil
	}
	names := slices.Sorted(maps.Keys(bySession))
	fits := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, id) })
	switch len(fits) {
	case 0:
		return nil, "", fmt.Errorf("no session %q is on the tape; there are %q", id, names)
	case 1:
		return bySession[fits[0]], fits[0], nil
	}
	return nil, "", fmt.Errorf("%q fits %d sessions, such as %s and %s", id, len(fits), fits[0], fits[1])
}

// cutConnection takes the number of a connection off a REF. A file may have a
// name with such an end.
func cutConnection(ref string) (string, int, error) {
	i := strings.LastIndexByte(ref, '#')
	if i < 0 || isFile(ref) {
		return ref, 0, nil
	}
	n, err := strconv.Atoi(ref[i+1:])
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("%q is no number of a connection", ref[i+1:])
	}
	return ref[:i], n, nil
}

// grace is how long an agent may take to end when we were told to: longer than a
// replay waits for a client that does not read.
const grace = 3 * time.Second

// replayAgent plays until the client or the tape is at its end, and ends as the
// agent did; or by a signal, if none of those had ended the agent of the tape.
func replayAgent(cmd *cobra.Command, agent player) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	type ending struct {
		report replay.Report
		err    error
	}
	done := make(chan ending, 1)
	go func() {
		out, flush := terminal.Sanitized(cmd.OutOrStdout())
		errOut, flushErr := terminal.Sanitized(cmd.ErrOrStderr())
		report, err := agent.Run(ctx, cmd.InOrStdin(), out, errOut)
		flush()
		flushErr()
		warn(cmd.ErrOrStderr(), "%s", report.String())
		done <- ending{report, err}
	}()
	var end ending
	var ended syscall.Signal // by this one; 0: by none
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
	diverged := errors.Is(end.err, replay.ErrDiverged)
	switch {
	case ended != 0 && len(end.report.Misses) == 0 && (diverged || end.report.Signal != ended.String()):
		return &proxy.ExitError{Code: 128 + int(ended)} // what never came could not
	case diverged:
		return errNo
	case end.err != nil:
		return end.err
	case end.report.Exit != nil:
		if code := replay.EndAs(*end.report.Exit); code != 0 {
			return &proxy.ExitError{Code: code}
		}
	}
	return nil
}
