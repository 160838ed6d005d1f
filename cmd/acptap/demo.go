package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

func newDemoCmd(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, with a scripted client and agent",
		Long: `Runs a scripted client, the proxy and a scripted agent as processes of their
own, and shows the conversation that the proxy has recorded. Starts proxy and
agent again, and has the client load the session, which the agent has forgotten.
Plays the agent from the tape to the client once more, and says how to look
further. Nothing is needed for it: no agent, no network, no files.

What is recorded goes to a new directory that stays, or to the one of --store.

Exit status 0; 2 if it did not go as in the script, or was interrupted.`,
		Example: `  acptap demo
  acptap demo --store /tmp/tapes`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), *dir, cmd.OutOrStdout())
		},
	}
}

func demo(ctx context.Context, dir string, out io.Writer) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "acptap-demo-"); err != nil {
			return err
		}
	}
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	var form trace.Text
	seen := func(wire.Direction, []byte) {}
	if isTerminal(out) {
		form.Width, form.Color = columns(out), takesColor(out)
		seen = newDemoProgress(out).show
	}
	proxy, err := recordDemo(ctx, store.Dir(), seen)
	if err != nil {
		return fmt.Errorf("demo: %w (store %s)", err, store.Dir())
	}
	tape, err := demoTape(store, proxy)
	if err != nil {
		return err
	}
	c, err := demoConversation(tape)
	if err != nil {
		return err
	}
	load, err := reloadDemo(ctx, store)
	if err == nil {
		err = load.same(c)
	}
	if err != nil {
		return fmt.Errorf("demo: %w (store %s)", err, store.Dir())
	}
	sent, took, err := replayDemo(ctx, tape, store.Dir())
	if err != nil {
		return fmt.Errorf("demo: replaying tape %s: %w (store %s)", tape.ID(), err, store.Dir())
	}
	if isTerminal(out) {
		fmt.Fprintln(out) // below the progress
	}
	if err := trace.WriteText(out, c, form); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, `
All of this passed through acptap proxy and was recorded in %s.
`, store.Dir()); err != nil {
		return err
	}
	if err := load.tell(out, form); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, `
At last, acptap replay agent played the agent of the first tape to the same client:
%d messages of the client, all as recorded, in %d ms and without the agent.
`, sent, took.Milliseconds()); err != nil {
		return err
	}
	return writeNext(out, store.Dir())
}

// demoTape returns what the proxy with that process id has recorded.
func demoTape(store *record.Store, pid int) (*record.Tape, error) {
	l, err := store.List()
	if err != nil {
		return nil, err
	}
	for _, info := range slices.Backward(l.Tapes) { // ids of processes come again
		if info.Start.PID == pid {
			return store.Open(info.Tape)
		}
	}
	return nil, fmt.Errorf("the store in %s has nothing of the demo", store.Dir())
}

// demoConversation reads the session of the demo.
func demoConversation(tape *record.Tape) (*trace.Conversation, error) {
	var t trace.Trace
	for f, err := range tape.Frames(1) {
		if err != nil {
			return nil, err
		}
		t.Add(&f)
	}
	for _, s := range t.Sessions {
		if s.ID == demoSession {
			return &s.Conversation, nil
		}
	}
	return nil, fmt.Errorf("tape %s does not have the session of the demo", tape.ID())
}

// writeNext says what to do with the tape.
func writeNext(w io.Writer, dir string) error {
	if _, err := fmt.Fprint(w, "\nGo on with\n\n"); err != nil {
		return err
	}
	t := &table{}
	for _, next := range [][2]string{
		{"ls", "the tapes of the store"},
		{"sessions", "the sessions on them"},
		{"show last~1", "the frames of the first tape"},
		{"show last", "those of the second: +, ~ and × mark what acptap made, changed and held back"},
		{"show --chat " + demoSession, "the conversation on both, as above"},
		{"replay agent last~1", "the agent from the first tape, on stdin and stdout"},
		{"diff last last", "two tapes compared; of one with itself nothing differs"},
		{"export last", "the tape as JSON Lines, for git, jq and bug reports"},
	} {
		t.row("  acptap "+next[0]+" --store "+shellWord(dir), next[1])
	}
	return t.write(w, 0) // commands are to be copied whole
}

// shellWord returns s as a shell takes it for one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:"+string(filepath.Separator), r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
