// Package report writes what a conform.Checker found: for people, for programs, and for
// services that show findings next to code. It makes no findings itself, and opens no
// files.
//
// The formats for other machines (JUnit, SARIF, GitHub) contain only what may leave this
// one: secrets are redacted, and values are truncated.
package report

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Section holds the findings on a tape, or on all tapes of a session.
type Section struct {
	Tapes    []*Tape
	Findings []Finding // those reported
	Weaker   Tally     // counts of findings too weak to be reported
	Baseline bool      // there is a baseline
}

// A Tape is one tape that was judged.
type Tape struct {
	ID         string // empty: it has none
	Name       string // name for people
	File       string // file that holds its frames, as a path with slashes
	Start      time.Time
	Frames     uint64 // number sent by client and agent
	Connection dialect.Connection
	Outcome    dialect.Outcome // how it ended
	Verdicts   []conform.Verdict
	Uncalled   []nested.Uncalled // on the last tape of a section: servers that the agent never called on any of them
}

// A Finding is a conform.Finding together with what the tape's reader adds.
type Finding struct {
	conform.Finding
	Line         int    // in Tape.File, from 1; 0: not known
	BecauseLines []int  // likewise for the frames in Because
	Key          string // the same for this fault on other tapes
	Known        bool   // it is in the baseline
	Public       Public
}

// found returns the new findings.
func (s *Section) found() []*conform.Finding {
	var list []*conform.Finding
	for i := range s.Findings {
		if f := &s.Findings[i]; !f.Known {
			list = append(list, &f.Finding)
		}
	}
	return list
}

// Frame names a finding's frame: by its number, on several tapes as 2.17, in a batch as
// 17[0].
func (s *Section) Frame(f *conform.Finding) string {
	if f.Seq == 0 {
		return ""
	}
	name := fmt.Sprint(f.Seq)
	if len(s.Tapes) > 1 {
		name = fmt.Sprintf("%d.%d", f.Tape+1, f.Seq)
	}
	if f.Entry >= 0 {
		name += fmt.Sprintf("[%d]", f.Entry)
	}
	return name
}

// A look says how the formats show a strength.
type look struct {
	sign  string
	style termtext.Style

	// Terms of SARIF and GitHub: for a finding, for how certain a rule is, and for how
	// bad its findings are.
	level, precision, severity string
}

// StyleOf returns how a terminal shows a strength.
func StyleOf(s conform.Strength) termtext.Style { return looks[s].style }

var looks = [...]look{
	conform.None:      {"·", termtext.Repeats, "note", "", ""},
	conform.Note:      {"·", termtext.Repeats, "note", "medium", "recommendation"},
	conform.Hurts:     {"~", termtext.Slow, "note", "high", "recommendation"},
	conform.Warning:   {"!", termtext.Permission, "warning", "high", "warning"},
	conform.Violation: {"✗", termtext.Failure, "error", "very-high", "error"},
}
