package main

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

func newCheckCmd(dir *string) *cobra.Command {
	c := check.Flags{Version: cli.Version()}
	cmd := &cobra.Command{
		Use:   "check [flags] [REF...]",
		Short: "Say where client and agent break the specifications",
		Long: `Judges what client and agent sent by the specifications of ACP, MCP and
JSON-RPC, and reports where one of them broke a rule: who, in which frames, what
the text asks for, where it says so, and what to do. A finding is

  violation  of a MUST, of the published schema, or of JSON-RPC 2.0 itself
  warning    of a SHOULD or a definition in prose, or of a MUST where the frames
             make it very likely but do not prove it
  note       legal, unstable or left open, but known to hurt real peers

Only what the text decides and the frames prove is reported, so silence is no
approval: the last line says how many rules had an occasion on the tape, and why
some could not be judged. A session is judged over all of its tapes. With --mcp
the tapes of the servers that the agent started are judged, too, each by itself
and named as in REF+NAME.

With --severity note it also tells what has hung, as acptap watch does (rule
WATCH, which is nobody's fault).

--expect and --forbid take queries, as acptap show --filter does (acptap help
filters): each is a rule of your own, with the id EXPECT or FORBID. Budgets are
such rules too: --forbid 'method:session/new latency:>5s'.

A file of --baseline has the faults that are known, one a line. Neither their
number nor ids, times and paths in them count. --update-baseline writes it: what
the tapes show now, and what this call did not ask for (--by, --select).

A line of --config, or of .acptap-check in the working directory, is an
exception with its reason:

  ignore ACP108 agent=my-agent@1.*   # not named before 2.0
  note ACP405,RPC method=session/*   # the client takes both

It begins with ignore, or with the strength that the findings get. Conditions
are agent, client (NAME or NAME@VERSION), dialect and method.

--follow reports what is found as it is found: on the tape that REF names until
it ends; without REF on the newest tape, on all that are being recorded, and on
each that begins later, until you end it with ^C.

--format junit and sarif write files that build servers and code scanning read;
the line of a finding is that of its frame in the file, or in the file that
acptap export writes. github writes annotations for a step of GitHub Actions.
From these three, secrets are left out as acptap export does it.

A line of --json is an object with kind. That of a finding has
  rule, name      such as ACP441 and cancelled-prompt
  strength        violation, warning or note
  fault           client or agent: who did it; empty: nobody
  tape, session   ids
  seq, entry, at  number of the frame, index in a batch, seconds since the tape
                  began
  method, update  of the frame; of a response, the method of its request
  text            what the side did
  path, want, got the value in the message, what should be there, and what is
  because         numbers of the frames that prove it
  spec            title, section, url, word (MUST ...), date of the text
  key             the same for the same fault on another tape
  new             false if a baseline knows it
At its end each tape has a summary: tape, rules and tried (how many); open: a
list of rule and why, for rules that could not be judged somewhere; and lost: a
list of rule and n, how often it was broken after the first 1,000 findings on
the tape, which are all that is told. With --rules a line has rule, name,
strength (the greatest), fault, about (a capability), url, asks, finds, spares,
do, and clauses: for (which connections), strength and spec.

See acptap help checking for how to use this, also on a build server.
` + ref.Help + `

Exit status 0 if nothing is at or above --fail-on; 1 if something is; 2 if a
REF, or a part of it, cannot be read: what can is reported first; or on an
interrupt, without a report.`,
		Example: `  acptap check
  acptap check --severity note last~1
  acptap check --by agent --fail-on warning tape.jsonl
  acptap check --all --since 7d
  acptap check --select ACP44,RPC --json last
  acptap check --forbid 'method:session/new latency:>5s' last
  acptap check --baseline known.jsonl --update-baseline last
  acptap check --format junit testdata/*.jsonl > check.xml
  acptap check --explain ACP201`,
		Args: cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Validate(cmd.Flags(), args); err != nil {
				return err
			}
			failed, err := c.Run(cmd.Context(), *dir, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err == nil && failed {
				return cli.ErrNo
			}
			return err
		},
	}
	c.Register(cmd.Flags())
	return cmd
}
