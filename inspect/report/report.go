// Package report turns tapes into one human-readable page: what was asked, what was done,
// what failed and where the time went. The page is self-contained and loads nothing.
// Nothing from the wire can run in it or change how it looks: see page.html in page.go.
//
// The package knows neither stores nor files: frames come in, bytes go out. It takes its
// facts from the packages that derive them. It removes no secrets: it shows the frames as
// given.
package report

import (
	"io"
	"iter"
	"time"

	check "github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
	"github.com/acptap/acptap/replay/compare"
)

// An Input is the data for a page.
type Input struct {
	Tapes   []Tape // of one agent or server, in time order; at least one
	Servers []Tape // of the servers that the agent on these tapes started, in time order

	Session string // id of the session to show; empty for all
	First   int    // number of the first turn to show; 0 for all
	Last    int    // number of the last turn; 0 for all up to the end

	Filter   filter.Filter // for the list of frames
	NoFrames bool          // do not list frames
	NoImages bool          // omit images
	Limit    int64         // maximum bytes of the page; 0 is 16 MiB

	Title   string        // replaces the first prompt
	Raw     bool          // the frames may contain secrets
	Ref     string        // name of the tapes in commands
	Version string        // of acptap
	Reload  time.Duration // how often the page is rewritten while the tapes are recorded; 0 for never
}

// A Tape is one tape to report on.
type Tape struct {
	Info     record.Info
	Frames   iter.Seq2[dialect.Frame, error] // with all their bytes; an error takes the place of unreadable ones
	Has      func(*dialect.Frame) bool       // reports whether to show a frame; nil shows all
	Findings map[uint64][]*check.Finding     // by number of the frame; their Tape is the index of this tape
}

// Write writes the page. It returns why parts of the tapes cannot be read, which the page
// says too, and why the page could not be written. If everything is readable but no
// session has a turn from First to Last, it writes nothing.
func Write(w io.Writer, in Input) (broken []error, err error) {
	r := newReader(&in, newRows(&in))
	r.readAll()
	if err := r.noTurn(); err != nil && len(r.broken) == 0 {
		return nil, err
	}
	return r.broken, r.page(w)
}

// A reader gathers from the tapes what the page shows.
type reader struct {
	in     *Input
	limits limits
	told   int // bytes of the story so far, without images
	trace  trace.Trace
	calls  nested.Join // calls to the servers that the agent started
	tally  summary.Tally
	sum    summary.Summary // of tally, once all is read
	rows   *rows
	ends   []time.Duration // times of the tapes' last frames
	images album
	said   said         // in tool calls
	met    said         // in introductions
	used   []stats.Uses // by tape
	frames stats.Frames
	flow   flow
	failed map[stats.Place]bool // responses that report a failure
	places map[frameRef]string  // ids of the turns and steps that tell about frames
	broken []error
	alone  bool // there is one turn, of which the head says what it waited for and cost

	// Only for one of two runs:
	side    string            // A or B; empty if there is one run
	before  int               // number of A's tapes, which come first
	outline *compare.Outliner // nil if there is one run
}

// newReader returns a reader that lists frames in rows.
func newReader(in *Input, rows *rows) *reader {
	return &reader{in: in, limits: in.limits(), rows: rows, failed: map[stats.Place]bool{}, places: map[frameRef]string{}}
}

// readAll reads all tapes.
func (r *reader) readAll() {
	for i := range r.in.Tapes {
		r.read(i)
	}
	r.end()
	for i := range r.in.Servers {
		r.readServer(i)
	}
	r.tally.Stats.End(&r.trace)
	r.sum = r.tally.Summary()
}

// read reads a tape of the agent.
func (r *reader) read(i int) {
	t := &r.in.Tapes[i]
	r.trace.Next(t.Info.Connection)
	r.tally.End(&r.trace)
	r.trace.Live = t.Info.Live
	r.ends = append(r.ends, 0)
	r.used = append(r.used, stats.Uses{})
	r.calls.Next(t.Info.Tape, t.Info.Start.Time)
	r.tally.Begin(t.Info)
	r.rows.begin(t, r.listed(t, i))
	if r.outline != nil {
		r.outline.Next(i, &t.Info)
	}
	for f, err := range t.Frames {
		if err != nil {
			r.broken = append(r.broken, err)
			r.tally.Broken()
			continue
		}
		r.rows.add(&f)
		if r.outline != nil {
			r.outline.Add(&f) // fails only at level Exact
		}
		r.take(t, &f)
	}
}

// take processes the next frame of an agent's tape.
func (r *reader) take(t *Tape, f *dialect.Frame) {
	if t.Has != nil && !t.Has(f) {
		if f.Kind == wire.Mark { // how the agent ended says how its sessions ended
			r.trace.Add(f)
		}
		r.calls.Pass(f) // the setup that the agent received names no session
		return
	}
	run := len(r.ends) - 1
	if f.Failure() != dialect.NoFailure {
		r.failed[stats.Place{Run: run, Seq: f.Seq}] = true
	}
	r.keep(run, f)
	r.ends[run] = max(r.ends[run], f.At)
	r.used[run].Take(f)
	r.frames.Take(f)
	r.trace.Add(f)
	r.flow.take(run, f, &r.trace)
	r.calls.Take(f, &r.trace)
	r.tally.Take(f, &r.trace)
}

// end ends the last tape.
func (r *reader) end() {
	r.calls.End()
	r.trace.End()
	r.tally.End(&r.trace)
}

// live reports whether the last tape is still being recorded.
func (r *reader) live() bool { return r.in.Tapes[len(r.in.Tapes)-1].Info.Live }

// readServer reads the tape of a server.
func (r *reader) readServer(i int) {
	t := &r.in.Servers[i]
	server := reading.CallsOf(&t.Info)
	r.calls.Nested(server)
	r.rows.begin(t, r.listed(t, len(r.in.Tapes)+i))
	for f, err := range t.Frames {
		if err != nil {
			r.broken = append(r.broken, err)
			continue
		}
		r.rows.add(&f)
		server.Add(&f)
	}
	if !t.Info.Live {
		server.End()
	}
	r.tally.Stats.Server(server)
}
