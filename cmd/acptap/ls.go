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
		Long: `Lists the tapes of the store, the newest last. A tape is one run of one agent.
AGENT is what you call it (acptap proxy --name), what it says of itself, or else
the program, script or package that was run. FRAMES are the messages of both
sides and SIZE is that of these, without the agent's stderr. The STATE cut off
means that acptap was killed; unsealed, that much of the tape waits in live/ and
is not counted here (such as 4401+): the next acptap proxy, or acptap doctor
--seal, moves it into the tape. An imported tape with no exit was cut off, or
never had one. Errors are responses with an error, and results of MCP tools with
isError.

A line of --json is an object with
  tape, name          id; the user's name for the agent
  started, ended      RFC 3339
  command, cwd        the agent's command line, without secrets, and its working
                      directory
  protocol, dialect   acp or mcp; v1, v2-early, v2, legacy or modern
  version             as both sides agreed on it
  client, agent       names they gave, and clientVersion, agentTitle,
                      agentVersion
  frames, bytes       messages of both sides, and the bytes of these
  lines               the same with stderr and marks: the last number
  failed, invalid     frames with an error; lines that are not JSON-RPC
  lost                bytes that are missing on the tape
  sessions, turns     how many
  live, sealed        recorded now; complete in tapes/
  partial             there is more that is not counted (unsealed)
  exit                code, signal, error: how the agent ended, if it did

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
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), tapes, tapeOf)
			} else {
				err = listTapes(cmd.OutOrStdout(), tapes, store.Dir())
			}
			if err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	cmd.Flags().UintVarP(&limit, "number", "n", 0, "the newest `n` only")
	return cmd
}

// newest returns the last n of a list; all of it if n is 0.
func newest[T any](list []T, n uint) []T {
	if n == 0 || n > uint(len(list)) {
		return list
	}
	return list[len(list)-int(n):]
}

// A tapeLine is a tape as programs read it.
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
	Lost          int64      `json:"lost"`
	Sessions      uint64     `json:"sessions"`
	Turns         uint64     `json:"turns"`
	Live          bool       `json:"live"`
	Sealed        bool       `json:"sealed"`
	Partial       bool       `json:"partial,omitempty"`
	Exit          *wire.Exit `json:"exit,omitempty"`
}

func tapeOf(i record.Info) any {
	c := i.Connection
	line := tapeLine{
		Tape: i.Tape, Started: i.Start.Time, Name: i.Start.Name, Command: redact.Command(i.Start.Command), Cwd: i.Start.Cwd,
		Protocol: c.Protocol.String(), Dialect: c.Dialect.String(), Version: c.Version,
		Client: c.Client, ClientVersion: c.ClientVersion, Agent: c.Agent, AgentTitle: c.AgentTitle, AgentVersion: c.AgentVersion,
		Frames: i.Frames, Lines: i.Lines, Bytes: i.Bytes, Failed: i.Failed, Invalid: i.Invalid, Lost: i.Lost,
		Sessions: i.Sessions, Turns: i.Turns, Live: i.Live, Sealed: i.Complete, Partial: i.Partial, Exit: i.Exit,
	}
	if !i.Ended.IsZero() {
		line.Ended = &i.Ended
	}
	return line
}

func listTapes(w io.Writer, tapes []record.Info, dir string) error {
	if len(tapes) == 0 {
		_, err := fmt.Fprint(w, emptyText(dir))
		return err
	}
	t := &terminal.Table{}
	t.Row("TAPE", "STARTED", "AGENT", "STATE", "TURNS", "FRAMES", "SIZE", "SESSIONS", "CLIENT")
	for _, i := range tapes {
		t.Row(i.Tape, timeText(i.Start.Time), tapetext.AgentName(i), stateText(i),
			atLeast(i, fmt.Sprint(i.Turns)), atLeast(i, fmt.Sprint(i.Frames)), atLeast(i, termtext.ByteSize(i.Bytes)), atLeast(i, fmt.Sprint(i.Sessions)), i.Connection.Client)
	}
	return t.Write(w, terminal.Columns(w), 2, 3, 8)
}

// emptyText says what to do about a store without tapes.
func emptyText(dir string) string {
	return fmt.Sprintf("No tapes in %s. To record one, put\n    acptap proxy --\nbefore the agent's command in the settings of your editor, or try acptap demo.\n", dir)
}

// atLeast marks a count that goes on behind what was counted.
func atLeast(i record.Info, count string) string {
	if i.Partial {
		return count + "+"
	}
	return count
}

// stateText says how a tape ended, and what is wrong with it.
func stateText(i record.Info) string {
	s := []string{tapetext.State(i)}
	if i.Imported && i.Exit == nil {
		s = append(s, "no exit") // as a tape that was cut off, or written by hand
	}
	if i.Failed > 0 {
		s = append(s, count(i.Failed, "error"))
	}
	if i.Invalid > 0 {
		s = append(s, count(i.Invalid, "invalid line"))
	}
	if i.Lost > 0 {
		s = append(s, termtext.ByteSize(i.Lost)+" lost")
	}
	return strings.Join(s, ", ")
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// complain tells of tapes that cannot be read.
func complain(w io.Writer, broken []record.Broken) error {
	for _, b := range broken {
		warn(w, "tape %s: %v", b.Tape, b.Err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s cannot be read; acptap doctor says more", count(uint64(len(broken)), "tape"))
	}
	return nil
}

// timeText returns a time as people read it in a list.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
