package record

import (
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A SessionInfo is what the store knows about a session without reading its frames.
type SessionInfo struct {
	ID      string          `json:"session"`
	Agent   string          `json:"agent"` // as Info.Agent
	Title   string          `json:"title,omitempty"`
	Prompt  string          `json:"prompt,omitempty"` // first line of its first prompt
	Cwd     string          `json:"cwd,omitempty"`
	Parent  string          `json:"parent,omitempty"`  // the session that it was forked from
	Expires string          `json:"expires,omitempty"` // of a data-layer session, as sent
	Dialect dialect.Dialect `json:"dialect"`
	Closed  bool            `json:"closed,omitempty"`
	Deleted bool            `json:"deleted,omitempty"`
	Runs    []Run           `json:"runs"` // by time, never empty

	made   bool // created on this tape, by session/new for example: an earlier session with its id is a different one
	opened bool // opened or prompted in this stretch, which undoes an earlier close
}

// A Run is the part of a session that is on one tape.
type Run struct {
	Tape     string          `json:"tape"`
	First    uint64          `json:"first"` // number of its first frame, or of the request that opened it if that is on the tape
	Last     uint64          `json:"last"`
	Frames   uint64          `json:"frames"`   // 0: it was only requested
	Failed   uint64          `json:"failed"`   // responses with an error
	Failures uint64          `json:"failures"` // as Info.Failures
	Turns    uint64          `json:"turns"`
	Worst    dialect.Outcome `json:"worst,omitzero"` // of its turns that have ended
	Began    time.Time       `json:"began"`
	Ended    time.Time       `json:"ended"`             // time of its last frame
	Cost     dialect.Cost    `json:"cost,omitzero"`     // as last reported: of the whole session, which may have begun on another tape
	Missing  uint64          `json:"missing,omitempty"` // tool calls omitted from the agent's own load
}

// Began returns when the session was first seen.
func (s SessionInfo) Began() time.Time { return s.Runs[0].Began }

// Updated returns the time of the session's last frame.
func (s SessionInfo) Updated() time.Time { return s.Runs[len(s.Runs)-1].Ended }

// Topic returns what the session is about: its title, or else its first prompt, which may
// be empty.
func (s SessionInfo) Topic() string { return cmp.Or(s.Title, termtext.Unmarked(s.Prompt)) }

// Total returns the frames, failed responses and turns of all runs.
func (s SessionInfo) Total() (frames, failed, turns uint64) {
	for _, r := range s.Runs {
		frames, failed, turns = frames+r.Frames, failed+r.Failed, turns+r.Turns
	}
	return frames, failed, turns
}

// Failures returns the failures of all runs.
func (s SessionInfo) Failures() (n uint64) {
	for _, r := range s.Runs {
		n += r.Failures
	}
	return n
}

// Worst returns the worst outcome of the turns of all runs.
func (s SessionInfo) Worst() (o dialect.Outcome) {
	for _, r := range s.Runs {
		o = o.Or(r.Worst)
	}
	return o
}

// Cost returns what the session has cost, as last reported.
func (s SessionInfo) Cost() (c dialect.Cost) {
	for _, r := range s.Runs {
		c = cmp.Or(r.Cost, c)
	}
	return c
}

// exists reports whether there is such a session, as far as the store knows. A client may
// ask for one that the agent does not have, and then gets only errors.
func (s SessionInfo) exists() bool {
	frames, failed, _ := s.Total()
	return s.Cwd != "" || frames > 2*failed
}

// existing returns the number of sessions that exist.
func existing(sessions map[string]SessionInfo) (n uint64) {
	for _, s := range sessions {
		if s.exists() {
			n++
		}
	}
	return n
}

// observe handles what a frame says about the session.
func (s *SessionInfo) observe(f *wire.Frame, note *dialect.Annotation, facts *dialect.SessionFacts, now time.Time) {
	run := &s.Runs[0]
	run.Last, run.Ended = f.Seq, now
	if f.Origin != wire.Injected || f.Kind != wire.Notification { // what acptap replays was already counted
		run.Frames++
	}
	if f.Failed {
		run.Failed++
	}
	if dialect.FailureOf(f, note) != dialect.NoFailure {
		run.Failures++
	}
	run.Cost = cmp.Or(facts.Cost, run.Cost)
	ev := note.Events
	if ev.Has(dialect.TurnEnded) {
		run.Worst = run.Worst.Or(facts.Outcome)
	}
	if ev.Has(dialect.SessionOpened) {
		if facts.Setup != 0 {
			run.First = min(run.First, facts.Setup)
		}
		s.made = s.made || note.MakesSession()
		s.Closed, s.opened = false, true
	}
	if ev.Has(dialect.TurnBegan) {
		run.Turns++
		s.Closed, s.opened = false, true
		if s.Prompt == "" {
			s.Prompt = facts.Prompt
		}
	}
	if ev.Has(dialect.SessionClosed) {
		s.Closed = true
	}
	if ev.Has(dialect.SessionGone) {
		s.Deleted = true
	}
	s.keep(facts.Title, facts.Cwd, facts.Parent, facts.Expires)
}

// keep sets non-empty values.
func (s *SessionInfo) keep(title, cwd, parent, expires string) {
	for _, f := range []struct {
		to  *string
		new string
	}{{&s.Title, title}, {&s.Cwd, cwd}, {&s.Parent, parent}, {&s.Expires, expires}} {
		if f.new != "" {
			*f.to = f.new
		}
	}
}

// describe applies what a later stretch says about the session, except for its runs.
func (s *SessionInfo) describe(later SessionInfo) {
	s.keep(later.Title, later.Cwd, later.Parent, later.Expires)
	if s.Prompt == "" {
		s.Prompt = later.Prompt
	}
	if later.Dialect != dialect.Unknown {
		s.Dialect = later.Dialect
	}
	s.Closed = later.Closed || s.Closed && !later.opened
	s.Deleted = s.Deleted || later.Deleted
	s.made, s.opened = s.made || later.made, s.opened || later.opened
}

// extend adds a later stretch of the same run.
func (s *SessionInfo) extend(later SessionInfo) {
	s.describe(later)
	run, more := &s.Runs[0], later.Runs[0]
	run.First = min(run.First, more.First)
	if more.Frames > 0 {
		run.Last, run.Ended = more.Last, more.Ended
	}
	run.Frames, run.Failed, run.Turns = run.Frames+more.Frames, run.Failed+more.Failed, run.Turns+more.Turns
	run.Failures += more.Failures
	run.Missing = cmp.Or(more.Missing, run.Missing)
	run.Worst = run.Worst.Or(more.Worst)
	run.Cost = cmp.Or(more.Cost, run.Cost)
}

// session handles what a frame says about its session since the last seal. If acptap gave
// the agent another id, the client's id counts, and frames that only the agent sent or
// received are ignored.
func (d *dissector) session(f *wire.Frame, note *dialect.Annotation, facts *dialect.SessionFacts) {
	if note.Session == "" || !f.AtClient() {
		return
	}
	s := d.sessionOf(note.Session, f.Seq)
	if !note.OnlyNames() { // otherwise the frame marks where a run begins, but is not part of it
		s.observe(f, note, facts, d.wall(f.At))
	}
}

// sessionOf returns the facts of a session in the current block. seq is the frame that
// mentions it.
func (d *dissector) sessionOf(id string, seq uint64) *SessionInfo {
	s := d.sessionChanges[id]
	if s == nil {
		now := d.wall(d.Now)
		s = &SessionInfo{
			ID: id, Agent: d.Info.Agent(), Dialect: d.tracker.Connection().Dialect,
			Runs: []Run{{Tape: d.Info.Tape, First: seq, Last: seq, Began: now, Ended: now}},
		}
		d.sessionChanges[id] = s
	}
	return s
}
