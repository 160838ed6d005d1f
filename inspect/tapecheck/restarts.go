package tapecheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/termtext"
)

// An agent counts as restarted if a client starts the same command this often within this
// time, each time after the previous run has ended, and gets no turn from any run.
const (
	restarts       = 3
	restartsWithin = 2 * time.Minute
	restartsNamed  = 4  // earlier runs that are named
	restartsSeen   = 64 // tapes looked at, newest first: others may lie in between
)

// restarted returns the note of rule WATCH on a tape that ends a series of restarts. It
// blames no one.
func restarted(part reading.Part, nth int) []conform.Finding {
	last, err := part.Tape.Info()
	if err != nil || part.Store == nil || last.Imported || last.Live || !isFruitless(&last) {
		return nil
	}
	ids, err := part.Store.Tapes()
	if err != nil {
		return nil // other readers of the store report it
	}
	i := slices.Index(ids, last.Tape)
	earliest := last.Start.Time.Add(-restartsWithin)
	next, runs := &last, 1 // next is the run that follows
	var named []string     // newest first
	for _, id := range slices.Backward(ids[max(0, i-restartsSeen):max(0, i)]) {
		if tapeid.Time(id).Before(earliest.Truncate(time.Millisecond)) {
			break
		}
		run, ok := runOf(part.Store, id, last.Start.Command)
		if !ok || run.Live || ended(&run).After(next.Start.Time) {
			continue // other tapes, and concurrent runs
		}
		if !isFruitless(&run) || run.Start.Time.Before(earliest) {
			break
		}
		next, runs = &run, runs+1
		if len(named) < restartsNamed {
			named = append(named, tapetext.ShortID(id))
		}
	}
	if runs < restarts {
		return nil
	}
	f := conform.Finding{Rule: report.Watch, Clause: &report.Watch.Clauses[0], Strength: conform.Note, Tape: nth}
	f.Text = fmt.Sprintf("started %d times in %s without a turn, before this on %s", runs, termtext.Duration(last.Start.Time.Sub(next.Start.Time)), strings.Join(named, ", "))
	if more := runs - 1 - len(named); more > 0 {
		f.Text += fmt.Sprintf(" and %d more", more)
	}
	f.Entry = -1
	return []conform.Finding{f}
}

// runOf returns the Info of a tape if a proxy of this store recorded on it a run of command
// that no other agent started.
func runOf(store *record.Store, id string, command []string) (record.Info, bool) {
	tape, err := store.Open(id)
	if err != nil {
		return record.Info{}, false
	}
	start, err := tape.Start()
	if err != nil || !slices.Equal(start.Command, command) || start.Parent.Tape != "" {
		return record.Info{}, false
	}
	info, err := tape.Info()
	return info, err == nil && !info.Imported
}

// isFruitless reports whether a tape is that of an ACP agent that no other agent started and
// that has had no turn.
func isFruitless(i *record.Info) bool {
	return i.Connection.Protocol == dialect.ACP && len(i.Start.Command) > 0 && i.Start.Parent.Tape == "" && i.Turns == 0
}

// ended returns when a run ended, as far as it was recorded.
func ended(i *record.Info) time.Time {
	if !i.Ended.IsZero() {
		return i.Ended
	}
	return i.Start.Time.Add(i.Last)
}
