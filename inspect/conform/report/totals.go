package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// tapes writes the lines at the end of a section.
func (t *Text) tapes(w io.Writer, s *Section) {
	for _, tape := range s.Tapes {
		fmt.Fprintf(w, "%s  %s\n", t.tapeName(tape), tape.about())
		for i := range tape.Uncalled {
			fmt.Fprintln(w, tape.Uncalled[i].Line())
		}
	}
	fmt.Fprintln(w, s.totals(t.Severity))
	for _, v := range mergedVerdicts(s.Tapes) {
		if v.Lost > 0 {
			fmt.Fprintf(w, "%s was broken %s more often than is told here\n", v.Rule.ID, termtext.Counted(v.Lost, "time"))
		}
	}
	if open := s.openRules(); open != "" {
		fmt.Fprintln(w, open)
	}
}

func (t *Text) tapeName(tape *Tape) string {
	return t.paint(termtext.Bold, termtext.Line(tape.Name))
}

// about names a tape's two sides.
func (t *Tape) about() string {
	c := &t.Connection
	frames := termtext.Counted(t.Frames, "frame")
	return termtext.Dotted(named(c.Agent, c.AgentVersion, "agent"), named(c.Client, c.ClientVersion, "client"), termtext.Piece(c.Spoken()), frames)
}

// named returns a side's name for itself.
func named(name, version, side string) string {
	if name == "" {
		return "unnamed " + side
	}
	return termtext.Piece(termtext.Spaced(name, version))
}

// totals counts the findings by strength and side.
func (s *Section) totals(least conform.Strength) string {
	var count [conform.Acptap + 1]Tally
	known, all, blamed := 0, 0, 0
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Known {
			known++
			continue
		}
		all++
		if f.Fault != conform.Sender {
			blamed++
		}
		count[f.Fault][f.Strength]++
	}
	var sides []string
	for _, side := range []struct {
		fault conform.Fault
		name  string
	}{{conform.Agent, "by the agent"}, {conform.Client, "by the client"}, {conform.Acptap, "by acptap"}, {conform.Sender, "by neither side"}} {
		found := &count[side.fault]
		switch {
		case found.Total() > 0:
			sides = append(sides, found.String()+" "+side.name)
		case blamed > 0 && (side.fault == conform.Agent || side.fault == conform.Client):
			sides = append(sides, "none "+side.name)
		}
	}
	line := strings.Join(sides, ", ")
	switch {
	case s.Baseline && all == 0:
		line = "0 new"
	case s.Baseline:
		line = fmt.Sprintf("%d new: %s", all, line)
	}
	if least > conform.Note && s.Weaker.Total() > 0 {
		if line != "" {
			line += "; "
		}
		line += s.Weaker.String() + " (--severity " + s.Weaker.Weakest().String() + ")"
	}
	if line == "" {
		line = "nothing found"
	}
	if known > 0 {
		line += fmt.Sprintf("; %d known to the baseline", known)
	}
	return line
}

// openRules says how many specification rules had an occasion on any of the tapes, and
// why some could not be judged.
func (s *Section) openRules() string {
	var tried, partly, open int
	var why []string
	all := 0
	for _, v := range mergedVerdicts(s.Tapes) {
		if isOwn(v.Rule) {
			continue
		}
		all++
		switch {
		case v.Tried && v.Open != "":
			partly++
			fallthrough
		case v.Tried:
			tried++
		case v.Open != "":
			open++
		}
		if v.Open != "" && !slices.Contains(why, v.Open) {
			why = append(why, v.Open)
		}
	}
	if all == 0 {
		return ""
	}
	line := fmt.Sprintf("%s: %d tried", termtext.Counted(all, "rule"), tried)
	if partly > 0 {
		line += fmt.Sprintf(" (%d of them in part)", partly)
	}
	line += fmt.Sprintf(", %d without occasion, %d not judged", all-tried-open, open)
	if len(why) > 0 {
		line += " (" + termtext.Piece(why[0])
		if len(why) > 1 {
			line += "; and " + termtext.Counted(len(why)-1, "more reason")
		}
		line += ")"
	}
	return line
}

// mergedVerdicts returns each rule's result over all tapes.
func mergedVerdicts(tapes []*Tape) []conform.Verdict {
	var all []conform.Verdict
	for _, t := range tapes {
		if all == nil {
			all = append(all, t.Verdicts...)
			continue
		}
		for i, v := range t.Verdicts {
			m := &all[i]
			m.Tried = m.Tried || v.Tried
			m.Found += v.Found
			m.Lost += v.Lost
			if m.Open == "" {
				m.Open = v.Open
			}
		}
	}
	return all
}
