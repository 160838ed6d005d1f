package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/record"
)

func newWatchCmd(dir *string) *cobra.Command {
	var w watcher
	var command string
	cmd := &cobra.Command{
		Use:   "watch [REF]",
		Short: "Say what hangs while tapes are recorded",
		Long: `Follows all tapes that are being recorded, also those that begin later, and
writes a line when something begins to hang, one when it goes on, and one when
a tape ends:

  silent  30 s   a turn waits for the agent and its model alone, and nothing of
                 its session comes
  tool    5 min  a turn waits for a tool or a command, and nothing of its
                 session comes
  asked   2 min  you are asked: for a permission, for input, or to log in
  client  10 s   the client is to read or write a file, or to use a terminal
  setup   30 s   a connection or a session is set up, and nothing of it comes
  hung    60 s   any other request has no answer, and no progress is told
  cancel  10 s   what the client or the agent has cancelled has not ended
  gone    0 s    the agent ended in the middle of work; or it has not ended, 5 s
                 after its client closed stdin, and has no work left

--after is the time of silent, and all but gone change in proportion. A line has
the end of the tape's id, the agent, how long, the turn, and the number of the
frame since which nothing came.

With REF it follows one tape, or one session on its newest tape, and ends with
it. Of a tape that has ended it writes what has hung there, which is a way to
find where the time went. Nothing is written on tapes: what hangs follows from
the times of their frames.

--exec runs a command in the shell (sh; on Windows PowerShell) for each thing
that begins to hang, with these variables: ACPTAP_KIND, ACPTAP_TAPE,
ACPTAP_SESSION, ACPTAP_FRAME, and ACPTAP_TEXT, the words of the line. Quote
them: names in the text come from the agent. Commands run one after the other.
One that takes more than 10 s is killed. What they write to stdout is dropped.

acptap proxy --watch 30s writes such lines to its stderr, which many clients
show or keep.
` + ref.Help + `

A line of --json is an object with
` + cli.Members(watchLine{}) + `What is not known is left out.

Exit status 0, also if you end it with ^C; 2 if the tape cannot be read.`,
		Example: `  acptap watch
  acptap watch --after 10s claude
  acptap watch --exec 'notify-send "$ACPTAP_TEXT"'
  acptap watch --json | jq -r 'select(.event == "hangs") | .text'`,
		Args: cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAfter("after", w.After); err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			stderr := &cli.Warnings{Stderr: cmd.ErrOrStderr()}
			defer stderr.Wait()
			w.Out = cmd.OutOrStdout()
			w.Trouble = func(err error) { stderr.Print("%v", err) }
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			if command != "" {
				w.Exec = newStallHook(ctx, command, []string{"ACPTAP_STORE=" + store.Dir()}, w.Trouble)
				defer w.Exec.Close()
			}
			if len(args) == 0 {
				return watchStore(ctx, &w, store, cmd)
			}
			sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			w.Session = sub.Session
			return w.Tape(ctx, sub.Parts[len(sub.Parts)-1].Tape)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&w.After, "after", stall.DefaultAfter, "how long an agent may be silent, a `time` such as 30s")
	f.StringVar(&command, "exec", "", "`command` to run for what begins to hang")
	f.BoolVar(&w.AsJSON, "json", false, "one JSON object a line")
	return cmd
}

// watchStore watches all tapes of a store. On a terminal it first says so.
func watchStore(ctx context.Context, w *watcher, store *record.Store, cmd *cobra.Command) error {
	if cli.IsTerminal(cmd.ErrOrStderr()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "watching the tapes that are recorded in %s\n", store.Dir())
	}
	return w.Store(ctx, store)
}

// checkAfter returns an error if the time in a flag is too short or too long to measure.
func checkAfter(flag string, after time.Duration) error {
	if after < 100*time.Millisecond || after > 30*24*time.Hour {
		return fmt.Errorf("--%s is from 100ms to 720h, not %v", flag, after)
	}
	return nil
}

// startWatch watches the tape that this process records. It returns nil if there is no
// store.
func startWatch(dir string, journal *record.Recorder, after time.Duration, w *cli.Warnings) *ownWatch {
	store, err := ref.OpenStore(dir)
	if err != nil {
		w.Print("--watch: %v", err)
		return nil
	}
	return startOwnWatch(store, journal, after, w.Print)
}
