package tapecheck

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// Limits from which starts of an agent count as restarts.
const (
	restarts      = 3 // starts, each without a turn
	restartsAfter = 2 * time.Minute
	restartsSeen  = 32 // tapes looked at
)

// restarted returns what rule WATCH says of a tape that is one start too many: the client
// starts the agent again and again, and gets no turn done. It blames nobody.
func restarted(part reading.Part, nth int) (found []conform.Finding) {
	info := &part.Info
	if part.Store == nil || !idle(info) {
		return nil
	}
	ids, err := part.Store.Tapes()
	if err != nil {
		return nil // whoever reads the store says so
	}
	slices.Sort(ids) // they begin with the time
	at, ok := slices.BinarySearch(ids, info.Tape)
	if !ok {
		return nil
	}
	var before []string
	first := info.Start.Time
	for i := at - 1; i >= max(0, at-restartsSeen); i-- {
		tape, err := part.Store.Open(ids[i])
		if err != nil {
			continue
		}
		one, err := tape.Info()
		if err != nil || one.Start.Parent.Tape != "" || tapetext.AgentName(one) != tapetext.AgentName(*info) {
			continue
		}
		if !idle(&one) || info.Start.Time.Sub(one.Start.Time) > restartsAfter {
			break
		}
		before, first = append(before, tapetext.ShortID(one.Tape)), one.Start.Time
	}
	if len(before) < restarts-1 {
		return nil
	}
	f := conform.Finding{Rule: report.Watch, Clause: &report.Watch.Clauses[0], Strength: conform.Note, Tape: nth}
	f.Text = fmt.Sprintf("started again and again: %d times in %s without a turn, before on %s", len(before)+1, termtext.Duration(info.Start.Time.Sub(first)), termtext.Brief(fmt.Sprint(before), 100))
	f.Entry = -1
	return []conform.Finding{f}
}

// idle reports whether a tape is that of an agent that ended without a turn.
func idle(i *record.Info) bool {
	return !i.Live && !i.Imported && i.Turns == 0 && i.Start.Parent.Tape == ""
}
