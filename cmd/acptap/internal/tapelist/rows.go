package tapelist

import (
	"slices"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A Row is a tape in a list.
type Row struct {
	record.Info
	Short string         // its short id
	Costs []dialect.Cost // of its sessions since they began, one Cost per currency
	Title string         // of its first session, otherwise that session's first prompt; may be empty
	Level int            // nesting depth

	Folded int // number of tapes in the run of acptap probe that the row represents; 0: the row is one tape
}

// Rows returns the rows for tapes. all is the store's listing.
func Rows(tapes []record.Info, all *record.Listing) []Row {
	short, title, costs := shortIDs(all.Tapes), Titles(all.Sessions), all.Costs()
	rows := make([]Row, len(tapes))
	for n, i := range tapes {
		rows[n] = Row{Info: i, Short: short(i.Tape), Title: title[i.Tape], Costs: costs[i.Tape]}
	}
	return rows
}

// Nested reorders rows so that each tape follows the tape it is nested in, if that is in
// rows.
func Nested(rows []Row) []Row {
	tapes, at := make([]record.Info, len(rows)), make(map[string]int, len(rows))
	for n, r := range rows {
		tapes[n], at[r.Tape] = r.Info, n
	}
	nesting := record.NestingOf(tapes)
	ordered := make([]Row, 0, len(rows))
	for _, r := range rows {
		if nesting.Parent(r.Tape) != "" {
			continue
		}
		ordered = append(ordered, r)
		for _, below := range nesting.Below(r.Tape) {
			child := rows[at[below.Tape]]
			for above := nesting.Parent(below.Tape); above != ""; above = nesting.Parent(above) {
				child.Level++
			}
			ordered = append(ordered, child)
		}
	}
	return ordered
}

// NewestTapes returns the last limit tapes, together with the tapes nested in them. Those of
// a run of acptap probe count as one.
func NewestTapes(tapes []record.Info, limit uint) []record.Info {
	nesting := record.NestingOf(tapes)
	kept := map[string]bool{}
	var outer []record.Info
	units, last := uint(0), ""
	for _, i := range slices.Backward(tapes) {
		if nesting.Parent(i.Tape) != "" {
			continue
		}
		if run, _ := record.ProbeOf(i.Start); run == "" || run != last {
			units++
			last = run
		}
		if limit > 0 && units > limit {
			break
		}
		outer = append(outer, i)
	}
	for _, i := range outer {
		kept[i.Tape] = true
		for _, below := range nesting.Below(i.Tape) {
			kept[below.Tape] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tapes), func(i record.Info) bool { return !kept[i.Tape] })
}

// Titles returns the topic of the first session on each tape, by the tape's id. Tapes
// without a known topic are missing.
func Titles(sessions []record.SessionInfo) map[string]string {
	type first struct {
		frame uint64
		title string
	}
	firsts := map[string]first{}
	for _, s := range sessions {
		for _, run := range s.Runs {
			title := s.Topic()
			if f, ok := firsts[run.Tape]; title != "" && (!ok || run.First < f.frame) {
				firsts[run.Tape] = first{run.First, title}
			}
		}
	}
	titles := make(map[string]string, len(firsts))
	for tape, f := range firsts {
		titles[tape] = f.title
	}
	return titles
}

// shortIDs returns a function that shortens a tape's id to its final letters, which do
// not change as tapes come and go. It returns the whole id if another tape's ends the
// same way.
func shortIDs(tapes []record.Info) func(tape string) string {
	count := make(map[string]int, len(tapes))
	for _, i := range tapes {
		count[tapetext.ShortID(i.Tape)]++
	}
	return func(tape string) string {
		if short := tapetext.ShortID(tape); count[short] < 2 && len(short) >= shortest {
			return short
		}
		return tape
	}
}

// shortest is the minimum length of a short id. Imported tapes may have any id.
const shortest = 4
