package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
)

func newSummaryCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "summary [REF]",
		Short: "Say in a few lines what happened on a tape",
		Long: `Says in a few lines what happened on a tape, by default the newest one, or in a
session on all of its tapes:

  what it is     the agent and the client as they call themselves, the protocol,
                 when it began, how long it took, and how it ended unless that
                 is in order
  turns          how many, and how each ended; without turns, what was called
  time           to the first output of a turn (the middle one and the worst);
                 what the turns waited for; the slowest step
  servers        how often the MCP servers were called that the agent started,
                 as their own tapes tell, or that the client hosts (type acp)
  tokens         and cost, where the agent reports them; nothing is estimated
  what failed    with the numbers of the frames; of more than three, how many of
                 each kind and the first

A turn waits for you while a permission or another question is open, else for
the client while it reads or writes files or starts commands, else for tools
while a tool call runs, and else for the agent and its model. These parts add up
to the turns. The slowest step is a tool call without the time in which you were
asked, a permission, another request, or a silence of the agent of 30 s or more.
What was slow stands behind it, by the limits of acptap watch; it is no failure.

Tokens are those that the agent reports for each turn. A ~ stands before them if
they never fall from turn to turn, which looks like those of the whole session.
The cost is that of the sessions since they began, perhaps on an earlier tape.
` + ref.Help + `

--json gives one object with
  tapes              ids
  agent, client      the names that they report; also agentVersion and
                     clientVersion
  protocol, dialect  acp or mcp; v1, v2-early, v2, legacy or modern
  version            the protocol version that both sides agreed on
  started, seconds   RFC 3339; how long the tapes took
  outcome            how the tapes came out, as STATE in acptap ls
  session, title     id and title of the session, if there is one only
  sessions           how many
  frames             messages of both sides
  untimed            true: the times of frames are not known
  unreadable         how many parts of the tapes cannot be read
  turns              count, running, ends: a list of what and count
  calls              without turns: method, count, tools (what, count)
  time               firstOutput and latency (count, median, worst, worstFrame);
                     waited (user, client, tool, agent); silences;
                     slowest (what, seconds, frame)
  servers            calls of MCP servers: server, call (SERVER/TOOL, or SERVER
                     METHOD), count, failed, open, median, worst
  usage              turns that report tokens; tokens: input, output, thought,
                     cachedRead, cachedWrite, total; running: true for ~;
                     context: used, size, peak; costs: amount, currency,
                     sessions
  failures           count; kinds: kind, count, first (what), firstFrame;
                     first, at most eight: kind, what, frame
  slow               kind (as in acptap watch), count, firstFrame
Times are seconds. What nobody has reported is left out.

Exit status 0; 2 if a part of it cannot be read.`,
		Example: `  acptap summary
  acptap summary last~1
  acptap summary --json | jq .failures`,
		Args: cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "last"
			if len(args) > 0 {
				name = args[0]
			}
			sub, err := ref.Resolve(*dir, name, cmd.InOrStdin())
			if err != nil {
				return err
			}
			s, broken, err := summaryOf(cmd.Context(), sub)
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), s)
			} else {
				err = writeSummary(cmd.OutOrStdout(), s)
			}
			return cmp.Or(err, complainOfParts(cmd.ErrOrStderr(), broken))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

// summaryOf returns the summary of a subject. broken are the errors for parts that cannot
// be read.
func summaryOf(ctx context.Context, sub ref.Subject) (s summary.Summary, broken []error, err error) {
	r, err := sub.Reader(false, sub.Parts...)
	if err == nil {
		s, broken = summary.Of(ctx, r)
	}
	return s, broken, err
}

// writeSummary writes a summary for people, in colours on a terminal.
func writeSummary(w io.Writer, s summary.Summary) error {
	color := cli.TakesColor(w)
	var b strings.Builder
	for _, line := range s.Lines(cli.Columns(w)) {
		b.WriteString(termtext.SpansText(line, color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
