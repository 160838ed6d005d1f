package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newRmCmd(dir *string) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "rm [flags] TAPE|SESSION...",
		Short: "Delete tapes, or sessions with their tapes",
		Long: `Deletes tapes, with their files: nothing of them stays readable in the store.
TAPE is an id, any part of it that no other tape has, last, or last~1. SESSION
is the id of a session, or its beginning; also of one that a client has deleted,
which only hides it. Where an agent has used an id again, @ and a tape behind it
say which is meant: sess_1@7k2m9p.

A session goes with all tapes on which something passed for it. A tape is
deleted as a whole: if other sessions were prompted on one of them, nothing is
deleted, unless they are named too. What other tapes tell of the session stays,
such as its title in a list. What is being recorded is refused.

Exit status 0; 2 if something could not be deleted.`,
		Example: `  acptap rm 7k2m9p
  acptap rm --dry-run last last~1
  acptap rm sess_afb3`,
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			doomed, err := findDoomed(store, args)
			if err != nil {
				return err
			}
			for _, k := range doomed.kept {
				warn(cmd.ErrOrStderr(), "tape %s stays: session %s was opened on it, but nothing was said", k.tape, termtext.Line(k.session))
			}
			return deleteTapes(cmd.OutOrStdout(), store, doomed.tapes, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	return cmd
}

func newPruneCmd(dir *string) *cobra.Command {
	var dry bool
	var age string
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete old tapes",
		Long: `Deletes the tapes that began longer ago than AGE, but for those that are being
recorded. AGE is a number with d (days), w (weeks), h, m or s. An
imported tape counts from when it was recorded. Before that it seals what killed
proxies have left.

Exit status 0; 2 if a tape could not be deleted.`,
		Example: `  acptap prune --older-than 30d --dry-run
  acptap prune --older-than 2w`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if age == "" {
				return errors.New("want --older-than AGE, such as 30d")
			}
			limit, err := parseAge(age)
			if err != nil {
				return err
			}
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			if !dry {
				if err := adopt(store, cmd.ErrOrStderr()); err != nil {
					warn(cmd.ErrOrStderr(), "%v", err)
				}
			}
			l, err := store.List()
			if err != nil {
				return err
			}
			var doomed []string
			for _, i := range l.Tapes {
				if !i.Live && time.Since(i.Start.Time) > limit {
					doomed = append(doomed, i.Tape)
				}
			}
			if err := deleteTapes(cmd.OutOrStdout(), store, doomed, dry); err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "`age`, such as 30d, 2w or 12h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	return cmd
}

// parseAge reads a duration, also in days and weeks.
func parseAge(s string) (time.Duration, error) {
	for unit, hours := range map[string]int64{"d": 24, "w": 7 * 24} {
		digits, ok := strings.CutSuffix(s, unit)
		n, err := strconv.ParseInt(digits, 10, 64)
		if longest := math.MaxInt64 / int64(time.Hour) / hours; ok && err == nil && 0 <= n && n <= longest {
			return time.Duration(n*hours) * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("--older-than %q: want an age such as 30d, 2w or 12h", s)
	}
	return d, nil
}

// deleteTapes deletes tapes and says so.
func deleteTapes(w io.Writer, store *record.Store, ids []string, dry bool) error {
	sizes, err := store.Sizes(ids...)
	if err != nil {
		return err
	}
	gone, verb := ids, "would be deleted"
	var failed error
	if !dry {
		gone, failed = store.Delete(ids...)
		verb = "deleted"
	}
	var freed int64
	for _, id := range gone {
		freed += sizes[id]
		fmt.Fprintln(w, termtext.Line(id))
	}
	fmt.Fprintf(w, "%s %s, %s\n", count(uint64(len(gone)), "tape"), verb, termtext.ByteSize(freed))
	return failed
}
