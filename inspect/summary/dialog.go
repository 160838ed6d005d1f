package summary

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// An Exchange is a turn: what was asked, how it ended, and what was answered.
type Exchange struct {
	Turn     int             `json:"turn"` // its number in its session
	Outcome  dialect.Outcome `json:"-"`
	Ending   string          `json:"outcome"` // in words
	Asked    string          `json:"asked"`
	Answered string          `json:"answered,omitempty"` // without a line that only introduces what follows
}

// Label returns the word before what the agent said: answered only if the turn is done.
func (e *Exchange) Label() string {
	if e.Outcome.How == dialect.Done {
		return "answered"
	}
	return "said"
}

// maxBad limits the turns that are told because they did not end well.
const maxBad = 2

// A dialog keeps the first and the last turn, and those between that ended worst.
type dialog struct {
	first, last *trace.Turn
	bad         []*trace.Turn // at most maxBad, the worst first
}

// begin notes that a turn begins.
func (d *dialog) begin(t *trace.Turn) {
	if d.first == nil {
		d.first = t
	}
	d.last = t
}

// end notes that a turn has ended.
func (d *dialog) end(t *trace.Turn) {
	if t.Outcome.How <= dialect.Done || slices.Contains(d.bad, t) {
		return
	}
	d.bad = append(d.bad, t)
	slices.SortStableFunc(d.bad, func(a, b *trace.Turn) int { return cmp.Compare(b.Outcome.How, a.Outcome.How) })
	d.bad = d.bad[:min(len(d.bad), maxBad)]
}

// exchanges returns the turns that are told, in order.
func (d *dialog) exchanges() (list []Exchange) {
	turns := append([]*trace.Turn{d.first, d.last}, d.bad...)
	turns = slices.DeleteFunc(turns, func(t *trace.Turn) bool { return t == nil })
	slices.SortFunc(turns, func(a, b *trace.Turn) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.Number, b.Number))
	})
	for _, t := range slices.Compact(turns) {
		list = append(list, Exchange{t.Number, t.Outcome, t.Outcome.String(), termtext.Unmarked(t.Asked), gistOf(termtext.Unmarked(t.Answer()))})
	}
	return list
}
