package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

func newSessionsCmd(dir *string) *cobra.Command {
	var asJSON, wide, deleted, all bool
	var sel tapelist.Selection
	var cwd string
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions, the one used last at the end",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			if err := sel.Parse(now); err != nil {
				return err
			}
			store, l, err := ref.ListStore(*dir)
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
			if !all {
				sessions = tapelist.OuterSessions(sessions, &l)
			}
			rows := tapelist.Sessions(sessions, &l)
			rows = slices.DeleteFunc(rows, func(s tapelist.SessionRow) bool {
				return !sel.HasSession(&s) || where != "" && s.Cwd != where
			})
			rows = tapelist.Newest(rows, sel.Limit)
			w := cmd.OutOrStdout()
			switch {
			case asJSON:
				err = cli.WriteJSONLines(w, rows, sessionOf)
			case len(rows) == 0 && len(l.Broken) > 0:
				_, err = fmt.Fprintln(w, "No sessions on the tapes that can be read.")
			case len(l.Tapes) == 0:
				_, err = fmt.Fprint(w, emptyText(store.Dir()))
			case len(rows) == 0:
				_, err = fmt.Fprintln(w, "No sessions.")
			case wide:
				err = tapelist.WriteSessionsWide(cli.NewCanvas(w), rows)
			default:
				err = tapelist.WriteSessions(cli.NewCanvas(w), rows, now)
			}
			if err != nil {
				return err
			}
			if l.Held != nil {
				cli.Warn(cmd.ErrOrStderr(), "%v", l.Held)
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.AddCommand(newCheckLoadCmd(dir))
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	f.BoolVar(&wide, "wide", false, "all columns")
	sel.Register(f)
	f.UintVarP(&sel.Limit, "number", "n", 0, "only the `n` used last")
	f.BoolVar(&all, "all", false, "also those of servers that a recorded agent started")
	f.BoolVar(&deleted, "deleted", false, "list those that a client deleted, instead")
	f.StringVar(&cwd, "cwd", "", "only those with this working `directory`")
	return cmd
}

// A sessionLine is a session as --json writes it.
type sessionLine struct {
	Session string       `json:"session" help:"id"`
	Agent   string       `json:"agent" help:"whose it is: the name given with acptap proxy --name, or the first word of the command and a hash of all of it"`
	Title   string       `json:"title,omitempty" help:"the title that the agent gave it"`
	Prompt  string       `json:"prompt,omitempty" help:"first line of the first prompt"`
	Cwd     string       `json:"cwd,omitempty" help:"working directory"`
	Parent  string       `json:"parent,omitempty" help:"the session that it was forked from"`
	Expires string       `json:"expires,omitempty" help:"the time that an MCP server gave"`
	Dialect string       `json:"dialect" help:"v1, v2-early, v2, legacy or modern"`
	Began   time.Time    `json:"began" help:"RFC 3339"`
	Updated time.Time    `json:"updated" help:"RFC 3339"`
	Frames  uint64       `json:"frames" help:"messages of both sides"`
	Failed  uint64       `json:"failed" help:"those with an error"`
	Fails   uint64       `json:"failures" help:"how many, as in FAILED"`
	Turns   uint64       `json:"turns" help:"how many prompts"`
	Cost    dialect.Cost `json:"cost,omitzero" help:"amount, currency: of the session so far, as the agent reports it"`
	Outcome string       `json:"outcome" help:"of the worst turn, or running: as in acptap ls"`
	Closed  bool         `json:"closed" help:"true: the client closed it"`
	Runs    []record.Run `json:"runs" help:"for each tape: tape, first and last (numbers of frames), frames, failed, failures, turns, began, ended, cost (amount, currency: of the session so far, as the agent reports it), missing (tool calls that the agent left out when it loaded the session itself)"`
}

func sessionOf(s tapelist.SessionRow) any {
	line := sessionLine{
		Session: s.ID, Agent: s.Agent, Title: s.Title, Prompt: s.Prompt, Cwd: s.Cwd, Parent: s.Parent, Expires: s.Expires,
		Dialect: s.Dialect.String(), Began: s.Began(), Updated: s.Updated(), Closed: s.Closed, Runs: s.Runs,
	}
	line.Frames, line.Failed, line.Turns = s.Total()
	line.Cost = s.Cost()
	line.Fails, line.Outcome = s.Failures(), tapetext.OutcomeText(s.Outcome())
	return line
}

// absolute returns the absolute form of a path, or "" for "".
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}
