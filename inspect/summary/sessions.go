package summary

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// Sessions summarizes each session on tapes separately. Its zero value is ready to use; it
// is for one goroutine. It takes some KiB for each session.
type Sessions struct {
	Label func(seq uint64) string // as in Tally

	tapes   []record.Info
	broken  int
	tallies map[*trace.Session]*Tally
	newest  map[string]*Tally // by session id, which a later tape may use again
}

// Begin begins the next tape.
func (s *Sessions) Begin(tape record.Info) {
	s.tapes = append(s.tapes, tape)
	for _, t := range s.tallies {
		t.Begin(tape)
	}
}

// Broken notes that a part of the tape, of an unknown session, cannot be read.
func (s *Sessions) Broken() { s.broken++ }

// Take takes a frame of the tape that was begun last, and its events in tr, to which it was
// just added. tr may be Brief.
func (s *Sessions) Take(f *dialect.Frame, tr *trace.Trace) {
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

// concernsAll reports whether a frame concerns all sessions on its tape: it is the end of
// the agent, or a failure outside of messages.
func concernsAll(f *dialect.Frame) bool {
	return f.Session == "" && !f.Kind.IsMessage() && (f.Failure() != dialect.NoFailure || wire.ReadMark(f.Frame).Exit != nil)
}

// End says that no further frame of the last tape will come, as Tally.End does.
func (s *Sessions) End(tr *trace.Trace) {
	for _, t := range s.tallies {
		t.End(tr)
	}
}

// tally returns the tally of a session, which it creates if there is none.
func (s *Sessions) tally(session *trace.Session) *Tally {
	t := s.tallies[session]
	if t == nil {
		t = &Tally{Label: s.Label, only: session}
		for _, tape := range s.tapes {
			t.Begin(tape)
		}
		put(&s.tallies, session, t)
		put(&s.newest, session.ID, t)
	}
	return t
}

// Summary returns the summary of the frames of a session taken so far.
func (s *Sessions) Summary(session *trace.Session) Summary {
	sum := s.tally(session).Summary()
	sum.Broken = s.broken
	return sum
}
