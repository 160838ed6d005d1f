// Package report writes what a conform.Checker found: for people, for programs, and for
// services that show findings next to code. It finds nothing itself, and opens no files.
//
// The formats for other machines (JUnit, SARIF, GitHub) contain only what may leave this
// one: secrets are redacted, and values are cut.
package report

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Section has the findings on a tape, or on all tapes of a session.
type Section struct {
	Session  string // ID; empty: the whole tape
	Tapes    []*Tape
	Findings []Finding // reported ones
	Weaker   Tally     // counts of those too weak to be reported
	Baseline bool      // there is one
}

// A Tape is one that was judged.
type Tape struct {
	ID         string // empty: it has none
	Name       string // name for people
	File       string // file of its frames, as a path with slashes
	Start      time.Time
	Frames     uint64 // sent by client and agent
	Connection dialect.Connection
	Verdicts   []conform.Verdict
}

// A Finding is one with what the reader of the tape adds.
type Finding struct {
	conform.Finding
	Line         int    // in Tape.File, from 1; 0: not known
	BecauseLines []int  // likewise of the frames in Because
	Key          string // the same for this fault on another tape
	Known        bool   // the baseline has it
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

// Frame names the frame of a finding: by its number, on several tapes as 2.17, in a batch
// as 17[0].
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
