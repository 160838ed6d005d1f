// Package report writes what a conform.Checker found: for people, for programs, and for
// the services that show findings beside code. It finds nothing itself, and opens no
// files.
//
// What a form for other machines has (JUnit, SARIF, GitHub) is what may leave this one:
// secrets are redacted, and values are cut.
package report

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Section is what was found on the tape that was asked for, or on all tapes of a
// session.
type Section struct {
	Session  string // id; empty: all of the tape
	Tapes    []*Tape
	Findings []Finding // that are reported
	Weaker   Tally     // of those that are too weak to be reported
	Baseline bool      // there is one
}

// A Tape is one that was judged.
type Tape struct {
	ID         string // empty: it has none
	Name       string // that people know it by
	File       string // where its frames stand, as a path with slashes
	Start      time.Time
	Frames     uint64 // that client and agent have sent
	Connection dialect.Connection
	Verdicts   []conform.Verdict
}

// A Finding is one with what only those know who read the tape.
type Finding struct {
	conform.Finding
	Line         int    // in Tape.File, from 1; 0: not known
	BecauseLines []int  // likewise of the frames in Because
	Key          string // the same for the same fault on another tape
	Known        bool   // a baseline has it
	Public       Public
}

// found returns the findings that are new.
func (s *Section) found() []*conform.Finding {
	var list []*conform.Finding
	for i := range s.Findings {
		if f := &s.Findings[i]; !f.Known {
			list = append(list, &f.Finding)
		}
	}
	return list
}

// Frame names the frame of a finding: by its number, of a session on several tapes as
// 2.17, of an entry of a batch as 17[0].
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
