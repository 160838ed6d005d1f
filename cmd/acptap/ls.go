package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

func newLsCmd(dir *string) *cobra.Command {
	var asJSON, wide bool
	var sel tapelist.Selection
	cmd := &cobra.Command{
		Use:   "ls [flags] [REF|AGENT]",
		Short: "List tapes, newest last",
		Args:  cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			if err := sel.Parse(now); err != nil {
				return err
			}
			store, l, err := ref.ListStore(*dir)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				sel.Word = args[0]
				if sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin()); err == nil {
					for _, t := range sub.Tapes() {
						sel.Named = append(sel.Named, t.ID())
					}
				}
			}
			tapes := slices.DeleteFunc(slices.Clone(l.Tapes), func(i record.Info) bool { return !sel.HasTape(&i) })
			tapes = tapelist.NewestTapes(tapes, sel.Limit)
			w := cmd.OutOrStdout()
			rows := tapelist.Nested(tapelist.Rows(tapes, &l))
			if !sel.NamesProbe() {
				rows = tapelist.Folded(rows)
			}
			switch {
			case asJSON:
				err = cli.WriteJSONLines(w, tapelist.Rows(tapes, &l), tapeOf)
			case len(l.Tapes) == 0 && len(l.Broken) == 0:
				_, err = fmt.Fprint(w, emptyText(store.Dir()))
			case len(tapes) == 0 && !sel.IsZero():
				_, err = fmt.Fprintln(w, "No such tapes.")
			case len(tapes) > 0 && wide:
				err = tapelist.WriteWide(cli.NewCanvas(w), rows)
			case len(tapes) > 0:
				err = tapelist.Write(cli.NewCanvas(w), rows, now)
			}
			if err != nil {
				return err
			}
			if l.Held != nil {
				cli.Warn(cmd.ErrOrStderr(), "%v", l.Held)
			}
			if l.NotesErr != nil {
				cli.Warn(cmd.ErrOrStderr(), "tags and notes: %v; acptap doctor says more", l.NotesErr)
			}
			if err := complain(cmd.ErrOrStderr(), l.Broken); err != nil {
				return err
			}
			if len(sel.Tags) > 0 && l.NotesErr != nil {
				return errors.New("the tags cannot be read, so it is not known which tapes have them")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	f.BoolVar(&wide, "wide", false, "all columns")
	sel.Register(f)
	f.BoolVar(&sel.Failed, "failed", false, "only those with failures")
	f.StringSliceVar(&sel.Tags, "tag", nil, "only those with this `tag`")
	f.UintVarP(&sel.Limit, "number", "n", 0, "only the newest `n`, with the tapes below them")
	return cmd
}

// A tapeLine is a tape as --json writes it.
type tapeLine struct {
	Tape          string           `json:"tape" help:"id"`
	ShortID       string           `json:"shortId" help:"the end of the id"`
	Title         string           `json:"title,omitempty" help:"as above"`
	Tags          []string         `json:"tags,omitempty" help:"the tags"`
	Notes         int              `json:"notes,omitempty" help:"the number of notes"`
	Started       time.Time        `json:"started" help:"RFC 3339"`
	Ended         *time.Time       `json:"ended,omitempty" help:"RFC 3339"`
	Took          termtext.Seconds `json:"seconds" help:"how long it took, from the first line to the last"`
	Name          string           `json:"name,omitempty" help:"the name given with --name"`
	Command       []string         `json:"command" help:"the agent's command line, without secrets"`
	Cwd           string           `json:"cwd" help:"its working directory"`
	Protocol      string           `json:"protocol" help:"acp or mcp"`
	Dialect       string           `json:"dialect" help:"v1, v2-early, v2, legacy or modern"`
	Proposal      string           `json:"proposal,omitempty" help:"whose sessions MCP had: dls, sep1364-a1 or sep1364-a2"`
	Version       string           `json:"version,omitempty" help:"the protocol version that both sides agreed on"`
	Client        string           `json:"client,omitempty" help:"the name that the client reports"`
	ClientVersion string           `json:"clientVersion,omitempty" help:"its version"`
	Agent         string           `json:"agent,omitempty" help:"the name that the agent reports"`
	AgentTitle    string           `json:"agentTitle,omitempty" help:"its title"`
	AgentVersion  string           `json:"agentVersion,omitempty" help:"its version"`
	Frames        uint64           `json:"frames" help:"messages of both sides"`
	Lines         uint64           `json:"lines" help:"the number of the last frame, with stderr and marks"`
	Bytes         int64            `json:"bytes" help:"of the messages"`
	Failed        uint64           `json:"failed" help:"frames with an error"`
	Invalid       uint64           `json:"invalid" help:"lines that are not JSON-RPC"`
	Lost          int64            `json:"notRecorded" help:"bytes that were not recorded"`
	Failures      uint64           `json:"failures" help:"how many, as in FAILED"`
	Sessions      uint64           `json:"sessions" help:"how many"`
	Turns         uint64           `json:"turns" help:"how many"`
	Costs         []dialect.Cost   `json:"costs,omitempty" help:"amount, currency: what its sessions have cost since they began, maybe on another tape, as the agent reports it"`
	Live          bool             `json:"live" help:"true: it is being recorded"`
	Sealed        bool             `json:"compressed" help:"true: all of it is in tapes/"`
	Partial       bool             `json:"partial,omitempty" help:"true: a part of it is not counted"`
	Outcome       string           `json:"outcome" help:"as STATE"`
	Exit          *wire.Exit       `json:"exit,omitempty" help:"code, signal, error: how the agent ended, if it did"`

	Rules     uint64        `json:"rules,omitempty" help:"how often a rule changed something, if any did"`
	Parent    record.Parent `json:"parent,omitzero" help:"tape, link, server: of the agent that started this one; claimed: only the imported file says so"`
	Transport string        `json:"transport,omitempty" help:"http or ws; not there for stdio"`
	Upstream  string        `json:"upstream,omitempty" help:"the server's URL; not there for stdio"`
	Streams   uint64        `json:"streams,omitempty" help:"how many HTTP exchanges and WebSockets"`
	Closed    string        `json:"closed,omitempty" help:"why the connection ended, which has no exit"`
	Guessed   bool          `json:"guessed,omitempty" help:"true: the server gives no ids by which requests are told apart, and those of two clients may be on the tape"`
}

func tapeOf(i tapelist.Row) any {
	c := i.Connection
	line := tapeLine{
		Tape: i.Tape, ShortID: i.Short, Title: i.Title, Tags: i.Tags, Notes: i.Notes, Started: i.Start.Time, Took: termtext.Seconds(i.Took()), Name: i.Start.Name, Command: redact.Command(i.Start.Command), Cwd: i.Start.Cwd,
		Protocol: c.Protocol.String(), Dialect: c.Dialect.String(), Proposal: c.Proposal.String(), Version: c.Version,
		Client: c.Client, ClientVersion: c.ClientVersion, Agent: c.Agent, AgentTitle: c.AgentTitle, AgentVersion: c.AgentVersion,
		Frames: i.Frames, Lines: i.Lines, Bytes: i.Bytes, Failures: i.Failures, Failed: i.Failed, Invalid: i.Invalid, Lost: i.Lost,
		Sessions: i.Sessions, Turns: i.Turns, Costs: i.Costs, Live: i.Live, Sealed: i.Complete, Partial: i.Partial, Outcome: tapetext.State(i.Info), Exit: i.Exit,
		Rules: i.Rules, Parent: i.Start.Parent, Transport: i.Start.Transport, Upstream: i.Start.Upstream, Streams: i.Streams, Closed: i.Closed, Guessed: i.Guessed,
	}
	if !i.Ended.IsZero() {
		line.Ended = &i.Ended
	}
	return line
}

// emptyText explains how to record a first tape.
func emptyText(dir string) string {
	return fmt.Sprintf("No tapes in %s. To record one, put\n    acptap proxy --\nbefore the agent's command in the settings of your editor (acptap help editors),\nor try acptap demo.\n", dir)
}

// complainOfParts warns about unreadable parts of tapes.
func complainOfParts(w io.Writer, broken []error) error {
	for _, err := range broken {
		cli.Warn(w, "%v", err)
	}
	if len(broken) > 0 {
		return unreadable(len(broken))
	}
	return nil
}

// unreadable returns the error for n unreadable parts of tapes.
func unreadable(n int) error {
	return fmt.Errorf("%s cannot be read; acptap doctor --deep says more", termtext.Counted(n, "part"))
}

// complain warns about unreadable tapes.
func complain(w io.Writer, broken []record.Broken) error {
	for _, b := range broken {
		cli.Warn(w, "tape %s: %v", b.Tape, b.Err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s cannot be read; acptap doctor says more", termtext.Counted(len(broken), "tape"))
	}
	return nil
}
