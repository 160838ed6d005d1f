package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

func newLsCmd(dir *string) *cobra.Command {
	var asJSON bool
	var limit uint
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the tapes, the newest last",
		Long: `Lists the tapes of the store, the newest last. A tape is the recording of one
run of an agent. AGENT is the name given with acptap proxy --name, else the name
that the agent reports, else the program, script or package that was run. FRAMES
and SIZE count the messages of both sides, without the agent's stderr. Errors
are responses with an error, and results of MCP tools with isError.

STATE is live, ended, exit with a status, the signal that ended the agent, or
  cut off             acptap was killed before the agent ended
  not yet compressed  a part of the tape is in live/ and is not counted, so that
                      counts have a +. The next acptap proxy, or acptap doctor
                      --recover, moves it into the tape
  not started         the agent could not be run
  no exit             an imported tape that was cut off, or written by hand

A line of --json is an object with
  tape, name          id; the name given with --name
  started, ended      RFC 3339
  command, cwd        the agent's command line, without secrets, and its working
                      directory
  protocol, dialect   acp or mcp; v1, v2-early, v2, legacy or modern
  version             the protocol version that both sides agreed on
  client, agent       the names that they report; also clientVersion, agentTitle
                      and agentVersion
  frames, bytes       messages of both sides, and their bytes
  lines               the number of the last frame, with stderr and marks
  failed, invalid     frames with an error; lines that are not JSON-RPC
  notRecorded         bytes that were not recorded
  sessions, turns     how many
  rules               how often a rule changed something, if any did
  live                true: it is being recorded
  compressed          true: all of it is in tapes/
  partial             true: a part of it is not counted
  exit                code, signal, error: how the agent ended, if it did
  parent              tape, link, server: of the agent that started this one
  transport, upstream http or ws, and the server's URL; not there for stdio

Exit status 0; 2 if the store, or a tape in it, cannot be read.`,
		Example: `  acptap ls
  acptap ls -n 5
  acptap ls --json | jq -r 'select(.failed > 0) | .tape'`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, l, err := listStore(*dir)
			if err != nil {
				return err
			}
			tapes := newest(l.Tapes, limit)
			switch {
			case asJSON:
				err = writeJSON(cmd.OutOrStdout(), tapes, tapeOf)
			case len(tapes) == 0 && len(l.Broken) == 0:
				_, err = fmt.Fprint(cmd.OutOrStdout(), emptyText(store.Dir()))
			case len(tapes) > 0:
				err = listTapes(cmd.OutOrStdout(), tapes)
			}
			if err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	cmd.Flags().UintVarP(&limit, "number", "n", 0, "only the newest `n`")
	return cmd
}

// newest returns the last n of a list; all of it if n is 0.
func newest[T any](list []T, n uint) []T {
	if n == 0 || n > uint(len(list)) {
		return list
	}
	return list[len(list)-int(n):]
}

// A tapeLine is a tape as --json writes it.
type tapeLine struct {
	Tape          string     `json:"tape"`
	Started       time.Time  `json:"started"`
	Ended         *time.Time `json:"ended,omitempty"`
	Name          string     `json:"name,omitempty"`
	Command       []string   `json:"command"`
	Cwd           string     `json:"cwd"`
	Protocol      string     `json:"protocol"`
	Dialect       string     `json:"dialect"`
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
	Sessions      uint64     `json:"sessions"`
	Turns         uint64     `json:"turns"`
	Live          bool       `json:"live"`
	Sealed        bool       `json:"compressed"`
	Partial       bool       `json:"partial,omitempty"`
	Exit          *wire.Exit `json:"exit,omitempty"`

	Rules     uint64        `json:"rules,omitempty"`
	Parent    record.Parent `json:"parent,omitzero"`
	Transport string        `json:"transport,omitempty"`
	Upstream  string        `json:"upstream,omitempty"`
}

func tapeOf(i record.Info) any {
	c := i.Connection
	line := tapeLine{
		Tape: i.Tape, Started: i.Start.Time, Name: i.Start.Name, Command: redact.Command(i.Start.Command), Cwd: i.Start.Cwd,
		Protocol: c.Protocol.String(), Dialect: c.Dialect.String(), Version: c.Version,
		Client: c.Client, ClientVersion: c.ClientVersion, Agent: c.Agent, AgentTitle: c.AgentTitle, AgentVersion: c.AgentVersion,
		Frames: i.Frames, Lines: i.Lines, Bytes: i.Bytes, Failed: i.Failed, Invalid: i.Invalid, Lost: i.Lost,
		Sessions: i.Sessions, Turns: i.Turns, Live: i.Live, Sealed: i.Complete, Partial: i.Partial, Exit: i.Exit,
		Rules: i.Rules, Parent: i.Start.Parent, Transport: i.Start.Transport, Upstream: i.Start.Upstream,
	}
	if !i.Ended.IsZero() {
		line.Ended = &i.Ended
	}
	return line
}

func listTapes(w io.Writer, tapes []record.Info) error {
	t := &terminal.Table{}
	t.Row("TAPE", "STARTED", "AGENT", "STATE", "TURNS", "FRAMES", "SIZE", "SESSIONS", "CLIENT")
	for _, i := range tapes {
		t.Row(i.Tape, timeText(i.Start.Time), tapetext.AgentName(i), stateText(i),
			atLeast(i, fmt.Sprint(i.Turns)), atLeast(i, fmt.Sprint(i.Frames)), atLeast(i, termtext.ByteSize(i.Bytes)), atLeast(i, fmt.Sprint(i.Sessions)), i.Connection.Client)
	}
	return t.Write(w, terminal.Columns(w), 2, 3, 8)
}

// emptyText says how to record a first tape.
func emptyText(dir string) string {
	return fmt.Sprintf("No tapes in %s. To record one, put\n    acptap proxy --\nbefore the agent's command in the settings of your editor (acptap help editors),\nor try acptap demo.\n", dir)
}

// atLeast marks a count of a tape of which a part is not counted.
func atLeast(i record.Info, count string) string {
	if i.Partial {
		return count + "+"
	}
	return count
}

// stateText says how a tape ended, and how many errors it has.
func stateText(i record.Info) string {
	s := []string{tapetext.State(i)}
	if i.Imported && i.Exit == nil {
		s = append(s, "no exit") // it was cut off, or written by hand
	}
	if i.Failed > 0 {
		s = append(s, count(i.Failed, "error"))
	}
	if i.Invalid > 0 {
		s = append(s, count(i.Invalid, "invalid line"))
	}
	if i.Lost > 0 {
		s = append(s, termtext.ByteSize(i.Lost)+" not recorded")
	}
	return strings.Join(s, ", ")
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// complain reports tapes that cannot be read.
func complain(w io.Writer, broken []record.Broken) error {
	for _, b := range broken {
		warn(w, "tape %s: %v", b.Tape, b.Err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s cannot be read; acptap doctor says more", count(uint64(len(broken)), "tape"))
	}
	return nil
}

// timeText returns a time as it stands in lists.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
