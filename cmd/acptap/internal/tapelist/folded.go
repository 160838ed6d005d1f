package tapelist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// Folded replaces the tapes of each run of acptap probe, and those nested in them, with one
// row that counts the cases by outcome.
func Folded(rows []Row) (all []Row) {
	at := map[string]int{} // index of a run's row
	inside := false        // the last outer row belongs to a run
	counts := map[string]map[string]int{}
	for _, r := range rows {
		run, played := record.ProbeOf(r.Start)
		if r.Level == 0 {
			inside = run != ""
		}
		if !inside {
			all = append(all, r)
			continue
		}
		if run == "" {
			continue
		}
		n, ok := at[run]
		if !ok {
			n = len(all)
			at[run], counts[run] = n, map[string]int{}
			all = append(all, Row{Info: record.Info{Tape: run, Start: r.Start}, Short: run})
			all[n].Start.Name = ""
		}
		one := &all[n]
		one.Folded++
		one.Turns, one.Frames, one.Bytes, one.Sessions = one.Turns+r.Turns, one.Frames+r.Frames, one.Bytes+r.Bytes, one.Sessions+r.Sessions
		if r.Connection.Agent != "" {
			one.Connection = r.Connection
		}
		one.Last = max(one.Last, r.Start.Time.Add(r.Took()).Sub(one.Start.Time))
		for _, tag := range r.Tags {
			if outcome, ok := strings.CutPrefix(tag, record.ProbeTag); ok && played != "hello" {
				counts[run][outcome]++
			}
		}
	}
	for run, n := range at {
		all[n].Title = foldedTitle(all[n].Folded, counts[run])
	}
	return all
}

// foldedTitle counts the tapes of a run, and the outcomes of its cases, most frequent first.
func foldedTitle(tapes int, counts map[string]int) string {
	parts := []string{termtext.Counted(tapes, "tape")}
	var outcomes []string
	for outcome := range counts {
		outcomes = append(outcomes, outcome)
	}
	slices.SortFunc(outcomes, func(a, b string) int {
		if n := counts[b] - counts[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, outcome := range outcomes {
		parts = append(parts, fmt.Sprintf("%d %s", counts[outcome], strings.ReplaceAll(outcome, "-", " ")))
	}
	return strings.Join(parts, " · ")
}
