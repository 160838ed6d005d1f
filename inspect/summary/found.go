package summary

import (
	"context"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// A Found says what acptap check finds on the tapes, except notes.
type Found struct {
	Violations int    `json:"violations,omitempty"`
	Warnings   int    `json:"warnings,omitempty"`
	Hurts      []Hurt `json:"hurts,omitempty"` // by rule and side, most findings first
	Hangs      int    `json:"hangs,omitempty"` // requests and turns that nobody ever answered
}

// A Hurt is something allowed that a peer is known to break on.
type Hurt struct {
	Rule   string `json:"rule"`
	What   string `json:"what"`
	Victim string `json:"victim"`
	Count  int    `json:"count"`
	Frame  Frame  `json:"frame"` // the first of them
}

// finder judges tapes while they are read.
type finder struct {
	judge   *tapecheck.Judge // nil: there is nothing to judge
	session string           // only what concerns it counts; empty: all does
	found   []*conform.Finding
}

func newFinder(parts []*reading.Part) *finder {
	var all []reading.Part
	for _, p := range parts {
		if p.Tape == nil { // only its frames are there
			return &finder{}
		}
		all = append(all, *p)
	}
	if all == nil {
		return &finder{}
	}
	return &finder{judge: tapecheck.NewJudge(tapecheck.Options(all...)), session: parts[0].Session}
}

// take processes an event of the reader.
func (f *finder) take(e *reading.Event) {
	switch {
	case f.judge == nil, e.Part == nil, e.Part.IsServer():
		return
	case e.Kind == reading.Begins:
		f.judge.Begin(e.Part) // an error says that a replay cannot be compared
	case e.Kind == reading.Read && e.Err == nil:
		f.judge.Add(&e.Frame)
	}
	f.keep()
}

func (f *finder) keep() {
	for _, one := range f.judge.New() {
		if one.Strength >= conform.Hurts && (f.session == "" || one.Session == "" || one.Session == f.session) {
			f.found = append(f.found, &one)
		}
	}
}

// end returns what was found.
func (f *finder) end(ctx context.Context) (sum Found) {
	if f.judge == nil || ctx.Err() != nil {
		return sum
	}
	f.judge.End()
	f.keep()
	for _, g := range report.Groups(f.found) {
		switch g.Strength {
		case conform.Violation:
			sum.Violations += len(g.Findings)
		case conform.Warning:
			sum.Warnings += len(g.Findings)
		default:
			first := g.Findings[0]
			sum.Hurts = append(sum.Hurts, Hurt{g.Rule.ID, g.Rule.Text.Brief, report.Victim(first), len(g.Findings), Frame{Run: first.Tape, Seq: first.Seq}})
		}
		sum.Hangs += len(slices.DeleteFunc(slices.Clone(g.Findings), func(f *conform.Finding) bool { return !f.Hang }))
	}
	return sum
}

// foundLine says what acptap check finds: how much is wrong, and what is allowed but known to
// hurt a peer.
func (s *Summary) foundLine() []termtext.Span {
	var tally report.Tally
	tally[conform.Violation], tally[conform.Warning] = s.Found.Violations, s.Found.Warnings
	var l line
	if tally.Total() > 0 {
		l.add(termtext.Plain, tally.String()+" of the protocol")
	}
	for i, one := range s.Found.Hurts {
		if i == maxWorst {
			l = append(l, termtext.Plain.Span(", and more"))
			break
		}
		text := "known to hurt " + one.Victim + ": " + one.What
		if i > 0 {
			text = one.Victim + ": " + one.What
		}
		l.add(termtext.Slow, text)
		l = append(l, frame(one.Frame))
	}
	if l != nil && s.Ref != "" {
		l.add(termtext.Dim, "more: acptap check "+s.Ref)
	}
	return l
}
