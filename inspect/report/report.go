// Package report makes one page of tapes for people: what was asked, what was done, what
// failed and where the time went. The page is complete in itself and loads nothing. Nothing
// that came over the wire can run in it or change how it looks: see page.tmpl.
//
// The package knows neither stores nor files: frames come in, bytes go out. It takes its
// facts from the packages that derive them, and removes no secrets: it shows the frames as
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
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
	"github.com/acptap/acptap/replay/compare"
)

// An Input is what a page is made of.
type Input struct {
	Tapes   []Tape // of an agent or a server, by time; at least one
	Servers []Tape // of the servers that the agent on these started, by time

	Session string // id of the session that is shown; empty: all
	First   int    // number of the first turn that is shown; 0: of all
	Last    int    // number of the last one; 0: to the end

	Filter   filter.Filter // of the frames that are listed
	NoFrames bool          // none is
	NoImages bool          // images are left out
	Limit    int64         // bytes of the page; 0: 16 MiB

	Title   string        // in place of the first prompt
	Raw     bool          // the frames may have secrets in them
	Ref     string        // that commands name the tapes by
	Version string        // of acptap
	Reload  time.Duration // how often the page is written again while the tapes are recorded; 0: it is not
}

// A Tape is one that is reported.
type Tape struct {
	Info     record.Info
	Frames   iter.Seq2[dialect.Frame, error] // with all of their bytes; an error takes the place of unreadable ones
	Has      func(*dialect.Frame) bool       // reports whether a frame is shown; nil: all are
	Findings map[uint64][]*check.Finding     // by the number of the frame; their Tape is the index of this one
}

// Write writes the page. It returns why parts of the tapes cannot be read, which the page
// says too, and why the page could not be written. If no session has a turn from First to
// Last, and all can be read, nothing is written.
func Write(w io.Writer, in Input) (broken []error, err error) {
	r := newReader(&in, newRows(&in))
	r.readAll()
	if err := r.noTurn(); err != nil && len(r.broken) == 0 {
		return nil, err
	}
	return r.broken, r.page(w)
}

// A reader gathers what is on the tapes.
type reader struct {
	in     *Input
	limits limits
	told   int // bytes of the story so far, without images
	trace  trace.Trace
	calls  nested.Join // of the servers that the agent started
	tally  summary.Tally
	stats  stats.Collector
	rows   *rows
	ends   []time.Duration // of the tapes: of their last frames
	images album
	said   said         // in calls of tools
	met    said         // in introductions
	used   []stats.Uses // by tape
	frames stats.Frames
	flow   flow
	failed map[place]bool // responses that tell of a failure
	broken []error

	// Of one of two runs:
	side    string            // A or B; empty: there is one
	before  int               // tapes of A, which have the first numbers
	outline *compare.Outliner // nil: there is one run
}

// newReader returns a reader that lists frames in rows.
func newReader(in *Input, rows *rows) *reader {
	return &reader{in: in, limits: in.limits(), rows: rows, failed: map[place]bool{}}
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
	r.stats.End(&r.trace)
}

// read reads a tape of the agent.
func (r *reader) read(i int) {
	t := &r.in.Tapes[i]
	r.trace.Next(t.Info.Connection)
	r.observe()
	r.ends = append(r.ends, 0)
	r.used = append(r.used, stats.Uses{})
	r.calls.Next(t.Info.Tape, t.Info.Start.Time)
	r.tally.Begin(t.Info)
	r.stats.Begin(stats.Tape{ID: t.Info.Tape, Short: tapetext.ShortID(t.Info.Tape), Agent: tapetext.AgentName(t.Info), Connection: t.Info.Connection})
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
			r.outline.Add(&f) // only on the level exact there is an error
		}
		r.take(t, &f)
	}
}

// take takes the next frame of a tape of the agent.
func (r *reader) take(t *Tape, f *dialect.Frame) {
	if t.Has != nil && !t.Has(f) {
		r.calls.Pass(f) // the setup as the agent got it names no session
		return
	}
	run := len(r.ends) - 1
	if f.Failure() != dialect.NoFailure {
		r.failed[place{run, f.Seq}] = true
	}
	r.keep(run, f)
	r.ends[run] = max(r.ends[run], f.At)
	r.used[run].Take(f)
	r.frames.Take(f)
	r.trace.Add(f)
	r.flow.take(run, f, &r.trace)
	r.calls.Take(f, &r.trace)
	r.tally.Take(f, &r.trace)
	r.stats.Take(&r.trace)
}

// observe counts what ended with a tape.
func (r *reader) observe() {
	r.tally.End(&r.trace)
	r.stats.Take(&r.trace)
}

// end ends the last tape, unless it is being recorded.
func (r *reader) end() {
	r.calls.End()
	if r.live() {
		return
	}
	r.trace.End()
	r.observe()
}

// live reports whether the last tape is being recorded.
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
	r.stats.Server(server)
}
