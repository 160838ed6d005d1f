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
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

func newLsCmd(dir *string) *cobra.Command {
	var asJSON, wide bool
	var sel tapelist.Selection
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the tapes, the newest last",
		Long: `Lists the tapes of the store, the newest last. A tape is the recording of one
run of an agent.

TAPE is the end of its id, which names it in other commands; ● marks one that is
being recorded, └ one whose agent was started by the agent of the tape above it,
which can also be named by that: last+NAME.
AGENT is the name given with acptap proxy --name, else the name that the agent
reports, else the program, script or package that was run. TITLE is that of the
first session, else its first prompt, else the working directory, or the URL of
a server that has one. In front of it stand the tape's #tags and the number of
its notes (acptap tag, acptap note). FAILED counts failures: errors, failed tool
calls, refused permissions, requests without an answer, ends that are not in
order, lines that are not JSON-RPC, and gaps. A count has a + where a part of
the tape is not counted.

With --wide ids are whole. FRAMES and SIZE count the messages of both sides,
without the agent's stderr. STATE is how the tape came out, the worst of
  done, cancelled, out of tokens, refused, error   of its turns, with the error
  recording cut off   acptap was killed, or a request has no answer and the end
                      is not on the tape
  agent died          with a signal or a status that its client did not want
  running             it is being recorded
  not yet compressed  a part of the tape is in live/ and is not counted, so that
                      counts have a +. The next acptap proxy, or acptap doctor
                      --recover, moves it into the tape

A line of --json is an object with
  tape, shortId, name id; the end of it; the name given with --name
  title               as above
  tags, notes         the tags; the number of notes
  started, ended      RFC 3339
  command, cwd        the agent's command line, without secrets, and its working
                      directory
  protocol, dialect   acp or mcp; v1, v2-early, v2, legacy or modern
  proposal            whose sessions MCP had: dls, sep1364-a1 or sep1364-a2
  version             the protocol version that both sides agreed on
  client, agent       the names that they report; also clientVersion, agentTitle
                      and agentVersion
  frames, bytes       messages of both sides, and their bytes
  lines               the number of the last frame, with stderr and marks
  failures            how many, as in FAILED
  failed, invalid     frames with an error; lines that are not JSON-RPC
  notRecorded         bytes that were not recorded
  sessions, turns     how many
  rules               how often a rule changed something, if any did
  live                true: it is being recorded
  compressed          true: all of it is in tapes/
  partial             true: a part of it is not counted
  outcome             as STATE
  exit                code, signal, error: how the agent ended, if it did
  parent              tape, link, server: of the agent that started this one
  transport, upstream http or ws, and the server's URL; not there for stdio
  streams, closed     how many HTTP exchanges and WebSockets; why the connection
                      ended, which has no exit
  guessed             true: the server gives no ids by which requests are told
                      apart, and those of two clients may be on the tape

Exit status 0; 2 if the store, or a tape in it, cannot be read, or with --tag
the tags.`,
		Example: `  acptap ls
  acptap ls --failed --since 2h
  acptap ls --agent claude -n 5
  acptap ls --tag bug-7 --wide
  acptap ls --json | jq -r 'select(.failures > 0) | .tape'`,
		Args: cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			if err := sel.Parse(now); err != nil {
				return err
			}
			store, l, err := ref.ListStore(*dir)
			if err != nil {
				return err
			}
			tapes := slices.DeleteFunc(slices.Clone(l.Tapes), func(i record.Info) bool { return !sel.HasTape(&i) })
			tapes = tapelist.NewestTapes(tapes, sel.Limit)
			w := cmd.OutOrStdout()
			switch {
			case asJSON:
				err = cli.WriteJSONLines(w, tapelist.Rows(tapes, &l), tapeOf)
			case len(l.Tapes) == 0 && len(l.Broken) == 0:
				_, err = fmt.Fprint(w, emptyText(store.Dir()))
			case len(tapes) == 0 && !sel.IsZero():
				_, err = fmt.Fprintln(w, "No such tapes.")
			case len(tapes) > 0 && wide:
				err = tapelist.WriteWide(cli.NewCanvas(w), tapelist.Nested(tapelist.Rows(tapes, &l)))
			case len(tapes) > 0:
				err = tapelist.Write(cli.NewCanvas(w), tapelist.Nested(tapelist.Rows(tapes, &l)), now)
			}
			if err != nil {
				return err
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
	f.UintVarP(&sel.Limit, "number", "n", 0, "only the newest `n`, with those below them")
	return cmd
}

// A tapeLine is a tape as --json writes it.
type tapeLine struct {
	Tape          string     `json:"tape"`
	ShortID       string     `json:"shortId"`
	Title         string     `json:"title,omitempty"`
	Tags          []string   `json:"tags,omitempty"`
	Notes         int        `json:"notes,omitempty"`
	Started       time.Time  `json:"started"`
	Ended         *time.Time `json:"ended,omitempty"`
	Name          string     `json:"name,omitempty"`
	Command       []string   `json:"command"`
	Cwd           string     `json:"cwd"`
	Protocol      string     `json:"protocol"`
	Dialect       string     `json:"dialect"`
	Proposal      string     `json:"proposal,omitempty"`
	Version       string     `json:"version,omitempty"`
	Client        string     `json:"client,omitempty"`
	ClientVersion string     `json:"clientVersion,omitempty"`
	Agent         string     `json:"agent,omitempty"`
	AgentTitle    string     `json:"agentTitle,omitempty"`
	AgentVersion  string     `json:"agentVersion,omitempty"`
	Frames        uint64     `json:"frames"`
	Lines         uint64     `json:"lines"`
	Bytes         int64      `json:"bytes"`
	Failed        uint64     `json:"failed"`
	Invalid       uint64     `json:"invalid"`
	Lost          int64      `json:"notRecorded"`
	Failures      uint64     `json:"failures"`
	Sessions      uint64     `json:"sessions"`
	Turns         uint64     `json:"turns"`
	Live          bool       `json:"live"`
	Sealed        bool       `json:"compressed"`
	Partial       bool       `json:"partial,omitempty"`
	Outcome       string     `json:"outcome"`
	Exit          *wire.Exit `json:"exit,omitempty"`

	Rules     uint64        `json:"rules,omitempty"`
	Parent    record.Parent `json:"parent,omitzero"`
	Transport string        `json:"transport,omitempty"`
	Upstream  string        `json:"upstream,omitempty"`
	Streams   uint64        `json:"streams,omitempty"`
	Closed    string        `json:"closed,omitempty"`
	Guessed   bool          `json:"guessed,omitempty"`
}

func tapeOf(i tapelist.Row) any {
	c := i.Connection
	line := tapeLine{
		Tape: i.Tape, ShortID: i.Short, Title: i.Title, Tags: i.Tags, Notes: i.Notes, Started: i.Start.Time, Name: i.Start.Name, Command: redact.Command(i.Start.Command), Cwd: i.Start.Cwd,
		Protocol: c.Protocol.String(), Dialect: c.Dialect.String(), Proposal: c.Proposal.String(), Version: c.Version,
		Client: c.Client, ClientVersion: c.ClientVersion, Agent: c.Agent, AgentTitle: c.AgentTitle, AgentVersion: c.AgentVersion,
		Frames: i.Frames, Lines: i.Lines, Bytes: i.Bytes, Failures: i.Failures, Failed: i.Failed, Invalid: i.Invalid, Lost: i.Lost,
		Sessions: i.Sessions, Turns: i.Turns, Live: i.Live, Sealed: i.Complete, Partial: i.Partial, Outcome: tapetext.State(i.Info), Exit: i.Exit,
		Rules: i.Rules, Parent: i.Start.Parent, Transport: i.Start.Transport, Upstream: i.Start.Upstream, Streams: i.Streams, Closed: i.Closed, Guessed: i.Guessed,
	}
	if !i.Ended.IsZero() {
		line.Ended = &i.Ended
	}
	return line
}

// emptyText says how to record a first tape.
func emptyText(dir string) string {
	return fmt.Sprintf("No tapes in %s. To record one, put\n    acptap proxy --\nbefore the agent's command in the settings of your editor (acptap help editors),\nor try acptap demo.\n", dir)
}

// complain reports tapes that cannot be read.
func complain(w io.Writer, broken []record.Broken) error {
	for _, b := range broken {
		cli.Warn(w, "tape %s: %v", b.Tape, b.Err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s cannot be read; acptap doctor says more", termtext.Counted(len(broken), "tape"))
	}
	return nil
}
