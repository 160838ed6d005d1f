package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

func newSessionsCmd(dir *string) *cobra.Command {
	var asJSON, deleted bool
	var limit uint
	var agent, cwd string
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions, the one used last at the end",
		Long: `Lists the sessions of the store, the one used last at the end. A session is one
of the protocol; it may span several tapes. If the agent uses an id again for a
new session, these are two sessions. A session that a client deleted is hidden;
--deleted lists it, and acptap rm deletes its tapes.

With acptap proxy --sessions, clients can load these sessions even from an agent
that forgot them: see acptap help resume.

A line of --json is an object with
  session, title      id; the title that the agent gave it
  prompt              first line of the first prompt
  agent               whose it is: the name given with acptap proxy --name, or
                      the first word of the command and a hash of all of it
  cwd, parent         working directory; the session that it was forked from
  dialect             v1, v2-early, v2, legacy or modern
  began, updated      RFC 3339
  expires             the time that an MCP server gave
  frames, failed      messages of both sides; those with an error
  turns               how many prompts
  closed              true: the client closed it
  runs                for each tape: tape, first and last (numbers of frames),
                      frames, failed, turns, began, ended

Exit status 0; 2 if the store, or a tape in it, cannot be read.`,
		Example: `  acptap sessions
  acptap sessions --cwd . --agent claude
  acptap sessions --json | jq -r .session`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, l, err := listStore(*dir)
			if err != nil {
				return err
			}
			where, err := absolute(cwd)
			if err != nil {
				return err
			}
			sessions := l.Sessions
			if deleted {
				sessions = l.Deleted
			}
			agents, names := newAgentsOn(l.Tapes), sessionNames(l)
			sessions = slices.DeleteFunc(sessions, func(s record.SessionInfo) bool {
				return !agents.begins(s, agent) || where != "" && s.Cwd != where
			})
			sessions = newest(sessions, limit)
			switch {
			case asJSON:
				err = writeJSON(cmd.OutOrStdout(), sessions, sessionOf)
			case len(sessions) == 0 && len(l.Broken) > 0:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "No sessions on the tapes that can be read.")
			case len(l.Tapes) == 0:
				_, err = fmt.Fprint(cmd.OutOrStdout(), emptyText(store.Dir()))
			default:
				err = listSessions(cmd.OutOrStdout(), sessions, agents, names)
			}
			if err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.AddCommand(newCheckLoadCmd(dir))
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	f.UintVarP(&limit, "number", "n", 0, "only the `n` used last")
	f.StringVar(&agent, "agent", "", "only those of the agent whose name begins with `name`")
	f.BoolVar(&deleted, "deleted", false, "list those that a client deleted, instead")
	f.StringVar(&cwd, "cwd", "", "only those with this working `directory`")
	return cmd
}

// A sessionLine is a session as --json writes it.
type sessionLine struct {
	Session string       `json:"session"`
	Agent   string       `json:"agent"`
	Title   string       `json:"title,omitempty"`
	Prompt  string       `json:"prompt,omitempty"`
	Cwd     string       `json:"cwd,omitempty"`
	Parent  string       `json:"parent,omitempty"`
	Expires string       `json:"expires,omitempty"`
	Dialect string       `json:"dialect"`
	Began   time.Time    `json:"began"`
	Updated time.Time    `json:"updated"`
	Frames  uint64       `json:"frames"`
	Failed  uint64       `json:"failed"`
	Turns   uint64       `json:"turns"`
	Closed  bool         `json:"closed"`
	Runs    []record.Run `json:"runs"`
}

func sessionOf(s record.SessionInfo) any {
	line := sessionLine{
		Session: s.ID, Agent: s.Agent, Title: s.Title, Prompt: s.Prompt, Cwd: s.Cwd, Parent: s.Parent, Expires: s.Expires,
		Dialect: s.Dialect.String(), Began: s.Began(), Updated: s.Updated(), Closed: s.Closed, Runs: s.Runs,
	}
	line.Frames, line.Failed, line.Turns = s.Total()
	return line
}

// agentsOn maps ids of tapes to tapes, and knows the names of their agents.
type agentsOn map[string]record.Info

func newAgentsOn(tapes []record.Info) agentsOn {
	a := agentsOn{}
	for _, i := range tapes {
		a[i.Tape] = i
	}
	return a
}

// of returns the name of a session's agent, as on its latest tape.
func (a agentsOn) of(s record.SessionInfo) string {
	return cmp.Or(tapetext.AgentName(a.latest(s)), s.Agent)
}

func (a agentsOn) latest(s record.SessionInfo) record.Info { return a[s.Runs[len(s.Runs)-1].Tape] }

// begins reports whether a name of a session's agent begins with text.
func (a agentsOn) begins(s record.SessionInfo, text string) bool {
	names := []string{s.Agent, a.of(s), a.latest(s).Connection.Agent}
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) })
}

// sessionNames returns a function that returns a REF of a session: its id, with the
// tape if other sessions have that id too.
func sessionNames(l record.Listing) func(s record.SessionInfo) string {
	count := map[string]int{}
	for _, s := range slices.Concat(l.Sessions, l.Deleted) {
		count[s.ID]++
	}
	return func(s record.SessionInfo) string {
		if count[s.ID] > 1 {
			return fullName(s)
		}
		return s.ID
	}
}

func listSessions(w io.Writer, sessions []record.SessionInfo, agents agentsOn, name func(record.SessionInfo) string) error {
	if len(sessions) == 0 {
		_, err := fmt.Fprintln(w, "No sessions.")
		return err
	}
	t := &terminal.Table{}
	t.Row("SESSION", "UPDATED", "AGENT", "TITLE", "DIRECTORY", "TURNS", "FRAMES", "TAPES")
	for _, s := range sessions {
		frames, _, turns := s.Total()
		t.Row(name(s), timeText(s.Updated()), agents.of(s), cmp.Or(s.Title, s.Prompt), s.Cwd,
			fmt.Sprint(turns), fmt.Sprint(frames), fmt.Sprint(len(s.Runs)))
	}
	return t.Write(w, terminal.Columns(w), 2, 3, 4)
}
