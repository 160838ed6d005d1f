package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// heading names a section's tapes.
func (t *Text) heading(w io.Writer, s *Section) {
	for _, tape := range s.Tapes {
		t.lines(w, t.tapeName(tape), "  "+tape.about(), "  ")
	}
}

// totals says how much was found, and what is missing.
func (t *Text) totals(w io.Writer, s *Section) {
	var sum sum
	sum.add(s)
	t.lines(w, "", sum.String(t.Severity), "  ")
	for _, v := range mergedVerdicts(nil, s.Tapes) {
		if v.Lost > 0 {
			t.lines(w, "", fmt.Sprintf("%s was broken %s more often than is told here", v.Rule.ID, termtext.Counted(v.Lost, "time")), "  ")
		}
	}
	for _, tape := range s.Tapes {
		for i := range tape.Uncalled {
			t.lines(w, "", tape.Uncalled[i].Line(), "  ")
		}
	}
}

func (t *Text) tapeName(tape *Tape) string {
	return t.paint(termtext.Bold, termtext.Line(tape.Name))
}

// about names a tape's two sides.
func (t *Tape) about() string {
	c := &t.Connection
	frames := termtext.Counted(t.Frames, "frame")
	return termtext.Dotted(named(c.AgentTitle, c.Agent, c.AgentVersion, "agent"), named(c.ClientTitle, c.Client, c.ClientVersion, "client"), termtext.Piece(c.Spoken()), frames)
}

// named returns a side's name for itself.
func named(title, name, version, side string) string {
	return cmp.Or(tapetext.Peer(title, name, version, maxPeer), "unnamed "+side)
}

// maxPeer limits the columns of a side's name.
const maxPeer = 40

// A sum counts the findings of sections by strength and side.
type sum struct {
	tapes    int
	baseline bool
	known    int
	all      int // number of findings, without known ones
	count    [conform.Acptap + 1]Tally
	weaker   Tally
	verdicts []conform.Verdict
	failed   *Tape // the only tape, if its run failed
}

// add adds the findings of a section.
func (u *sum) add(s *Section) {
	u.baseline = u.baseline || s.Baseline
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Known {
			u.known++
		} else {
			u.all++
			u.count[f.Fault][f.Strength]++
		}
	}
	for i, n := range s.Weaker {
		u.weaker[i] += n
	}
	for _, tape := range s.Tapes {
		if u.failed = nil; u.tapes == 0 && tape.Outcome.How.IsBad() && tape.Outcome.How != dialect.CutOff {
			u.failed = tape
		}
		u.tapes++
	}
	u.verdicts = mergedVerdicts(u.verdicts, s.Tapes)
}

// String returns the numbers of findings of at least that strength.
func (u *sum) String(least conform.Strength) string {
	blamed := u.all - u.count[conform.Sender].Total()
	var sides []string
	for _, side := range []struct {
		fault conform.Fault
		name  string
	}{{conform.Agent, "by the agent"}, {conform.Client, "by the client"}, {conform.Acptap, "by acptap"}, {conform.Sender, "by neither side"}} {
		found := &u.count[side.fault]
		switch {
		case found.Total() > 0:
			sides = append(sides, found.String()+" "+side.name)
		case blamed > 0 && (side.fault == conform.Agent || side.fault == conform.Client):
			sides = append(sides, "none "+side.name)
		}
	}
	line := strings.Join(sides, ", ")
	switch {
	case u.baseline && u.all == 0:
		line = "0 new"
	case u.baseline:
		line = fmt.Sprintf("%d new: %s", u.all, line)
	case u.all == 0 && u.failed != nil:
		line = "no rule was broken; the run itself failed: " + termtext.Brief(u.failed.Outcome.Brief(), 100)
		if u.failed.ID != "" {
			line += ", see acptap summary " + termtext.Line(u.failed.Name)
		}
	}
	if least > conform.Note && u.weaker.Total() > 0 {
		if line != "" {
			line += "; "
		}
		line += u.weaker.String() + " (--severity " + u.weaker.Weakest().String() + ")"
	}
	if line == "" {
		line = "nothing found"
	}
	if u.known > 0 {
		line += fmt.Sprintf("; %d known to the baseline", u.known)
	}
	return line
}

// rules says how many specification rules had an occasion, and why some could not be
// judged.
func (t *Text) rules(w io.Writer, verdicts []conform.Verdict) {
	var tried, partly, open int
	var why, untried []string
	all := 0
	for _, v := range verdicts {
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
		default:
			untried = append(untried, v.Rule.ID)
		}
		if v.Open != "" && !slices.Contains(why, v.Open) {
			why = append(why, v.Open)
		}
	}
	if all == 0 {
		return
	}
	line := fmt.Sprintf("%d of %s applied", tried, termtext.Counted(all, "rule"))
	if partly > 0 {
		line += fmt.Sprintf(" (%d of them in part)", partly)
	}
	if open > 0 {
		line += fmt.Sprintf(", %d could not be judged", open)
	}
	if len(why) > 0 {
		line += " (" + termtext.Piece(why[0])
		if len(why) > 1 {
			line += "; and " + termtext.Counted(len(why)-1, "more reason")
		}
		line += ")"
	}
	t.lines(w, "", line, "  ")
	if t.Untried && len(untried) > 0 {
		t.lines(w, "", "no occasion for "+strings.Join(untried, ", "), "  ")
	}
}

// mergedVerdicts adds each rule's result on more tapes.
func mergedVerdicts(all []conform.Verdict, tapes []*Tape) []conform.Verdict {
	for _, t := range tapes {
		for i, v := range t.Verdicts {
			if i == len(all) {
				all = append(all, v)
				continue
			}
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
