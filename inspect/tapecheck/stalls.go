package tapecheck

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// Stalls finds what has hung on tapes: rule WATCH. The zero value finds nothing.
type Stalls struct {
	watch *stall.Watch // nil: finds nothing
	tape  *record.Tape
	nth   int // of the subject, from 0
}

// Start starts a tape; the first is 0.
func (s *Stalls) Start(t *record.Tape, nth int) {
	s.watch, s.tape, s.nth = &stall.Watch{}, t, nth
}

// Frame handles the next frame, and returns the stalls that it ends.
func (s *Stalls) Frame(f *dialect.Frame) []conform.Finding {
	if s.watch == nil {
		return nil
	}
	return s.over(s.watch.Add(f))
}

// End returns the stalls that the end of the tape ends; none if it is still recorded.
func (s *Stalls) End() []conform.Finding {
	if s.watch == nil {
		return nil
	}
	if info, err := s.tape.Info(); err != nil || info.Live {
		return nil
	}
	return s.over(s.watch.End())
}

// over returns findings for the stalls that ended.
func (s *Stalls) over(changes []stall.Change) (found []conform.Finding) {
	for i := range changes {
		c := &changes[i]
		if !c.Over {
			continue
		}
		f := conform.Finding{
			Rule: report.Watch, Clause: &report.Watch.Clauses[0], Strength: conform.Note, Tape: s.nth,
			Session: c.Session, At: c.Since,
		}
		f.Text, f.Seq, f.Entry = c.Was, c.Frame, -1
		if c.By != 0 {
			f.Because = []uint64{c.By}
		}
		if since, err := s.tape.Frame(c.Frame); err == nil {
			f.Method, f.Update = since.Method, since.Update
		}
		found = append(found, f)
	}
	return found
}
