package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newPruneCmd(dir *string) *cobra.Command {
	var dry bool
	var age string
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete old tapes",
		Long: `Deletes the tapes that began longer ago than AGE, except those that are being
recorded. AGE is a number with d (days), w (weeks), h, m or s. The age of an
imported tape is that of its recording. Journals of killed proxies are
compressed first.

Exit status 0; 2 if a tape could not be deleted.`,
		Example: `  acptap prune --older-than 30d --dry-run
  acptap prune --older-than 2w`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if age == "" {
				return errors.New("--older-than AGE is missing, such as --older-than 30d")
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
				if err := recoverJournals(store, cmd.ErrOrStderr()); err != nil {
					warn(cmd.ErrOrStderr(), "%v", err)
				}
			}
			l, err := store.List()
			if err != nil {
				return err
			}
			var old []string
			for _, i := range l.Tapes {
				if !i.Live && time.Since(i.Start.Time) > limit {
					old = append(old, i.Tape)
				}
			}
			if err := deleteTapes(cmd.OutOrStdout(), store, old, dry); err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), l.Broken)
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "`age`, such as 30d, 2w or 12h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
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
		return 0, fmt.Errorf("--older-than %q is not an age such as 30d, 2w or 12h", s)
	}
	return d, nil
}
