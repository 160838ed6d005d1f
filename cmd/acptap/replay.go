package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
)

func newReplayCmd(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Play the agent or the client of a tape, or a script",
	}
	cmd.AddCommand(newReplayAgentCmd(dir), newReplayClientCmd(dir), newReplayScriptCmd())
	return cmd
}

// writeReport writes the report of a replayed agent as one line of JSON.
func writeReport(w io.Writer, r replay.Report) error {
	r.Misses, r.Unused, r.Notes = listed(r.Misses), listed(r.Unused), listed(r.Notes)
	return cli.WriteJSON(w, r)
}

// writeReportFile replaces file with the report atomically.
func writeReportFile(file string, r replay.Report) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(writeReport(f, r), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// listed makes an empty list marshal as [] instead of null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// writeComparison writes how a replayed client's conversation differs from the tape's: as
// a unified diff or, together with the rest of the report, as one line of JSON.
func writeComparison(w io.Writer, r *drive.Report, name string, save, asJSON bool) error {
	if !asJSON {
		return writeDiff(w, r.Diff, name, "now", false)
	}
	line := *r
	line.Notes = listed(r.Notes)
	if line.Tapes = listed(r.Tapes); !save {
		line.Tapes = []string{} // already deleted
	}
	return cli.WriteJSON(w, line)
}

// advice says which flags serve or record what the tape lacks.
func (o *replayOptions) advice(r *replay.Report) string {
	flag := "--mode %v"
	if os.Getenv(replay.ModeVariable) != "" {
		flag = replay.ModeVariable + "=%v"
	}
	agent := ""
	if len(o.live) == 0 {
		agent = " -- AGENT"
	}
	add, again := fmt.Sprintf(flag, replay.ModeNew)+agent, fmt.Sprintf(flag, replay.ModeAll)+agent
	switch {
	case o.file != "" && r.Lacking():
		return fmt.Sprintf("to add what %s lacks, use %s; to record it again, use %s\n", o.file, add, again)
	case o.file != "" && len(o.live) > 0 && r.Diverged():
		return fmt.Sprintf("to record %s again, use %s\n", o.file, again)
	case o.file != "":
		return ""
	case r.Live > 0:
		return "what AGENT said was not recorded; to add it to a file, use --file FILE --mode new\n"
	case r.Lacking() && len(o.live) == 0:
		return "to pass what the tape lacks to an agent, use --on-miss live -- AGENT\n"
	}
	return ""
}
