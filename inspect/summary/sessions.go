package summary

import (
	"slices"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// Sessions summarizes each session on tapes separately. Its zero value is ready to use.
// It is not safe for concurrent use. It needs a few KiB per session.
type Sessions struct {
	Label func(seq uint64) string // as in Tally

	tapes   []record.Info
	broken  int
	stderr  stderrLog
	tallies map[*trace.Session]*Tally
	newest  map[string]*Tally // by session id, which a later tape may reuse
}

// Begin begins the next tape.
func (s *Sessions) Begin(tape record.Info) {
	s.tapes = append(s.tapes, tape)
	s.stderr.forget()
	for _, t := range s.tallies {
		t.Begin(tape)
	}
}

// Broken notes that a part of the tape, in an unknown session, cannot be read.
func (s *Sessions) Broken() { s.broken++ }

// Take processes a frame of the tape that was begun last, and its events in tr, to which
// it was just added. tr may be Brief.
func (s *Sessions) Take(f *dialect.Frame, tr *trace.Trace) {
	if s.stderr.take(f, len(tr.Runs)-1); f.Kind == wire.Stderr {
		return
	}
	if concernsAll(f) {
		for session, t := range s.tallies {
			if session.Spans[len(session.Spans)-1].Run == len(tr.Runs)-1 {
				t.Take(f, tr)
			}
		}
		return
	}
	var of []*Tally
	add := func(t *Tally) {
		if t != nil && !slices.Contains(of, t) {
			of = append(of, t)
		}
	}
	events := tr.Events()
	for i := range events {
		if session := events[i].Session; session != nil {
			add(s.tally(session))
		}
	}
	add(s.newest[f.Session])
	for i := range f.Entries {
		add(s.newest[f.Entries[i].Session])
	}
	for _, t := range of {
		t.Take(f, tr)
	}
}

// concernsAll reports whether a frame concerns all sessions on its tape: it is a mark, such as
// the agent's exit, or a failure outside of messages.
func concernsAll(f *dialect.Frame) bool {
	return f.Session == "" && !f.Kind.IsMessage() && (f.Failure() != dialect.NoFailure || f.Kind == wire.Mark)
}

// End marks the last tape as finished, as Tally.End does.
func (s *Sessions) End(tr *trace.Trace) {
	for _, t := range s.tallies {
		t.End(tr)
	}
}

// tally returns the tally of a session, creating it if necessary.
func (s *Sessions) tally(session *trace.Session) *Tally {
	t := s.tallies[session]
	if t == nil {
		t = &Tally{Label: s.Label, Stats: stats.Collector{Only: session}, stderr: &s.stderr}
		for _, tape := range s.tapes {
			t.Begin(tape)
		}
		if s.tallies == nil {
			s.tallies, s.newest = map[*trace.Session]*Tally{}, map[string]*Tally{}
		}
		s.tallies[session], s.newest[session.ID] = t, t
	}
	return t
}

// Summary returns the summary of the frames of a session taken so far.
func (s *Sessions) Summary(session *trace.Session) Summary {
	sum := s.tally(session).Summary()
	sum.Broken = s.broken
	return sum
}
