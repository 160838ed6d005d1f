package summary

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A Tally gathers the contents of a Summary. Its zero value is ready to use. It is not
// safe for concurrent use.
type Tally struct {
	// Label returns a frame's number as users know it. nil: the frame's own number, after
	// that of the tape if there are several.
	Label func(seq uint64) string

	Stats stats.Collector // counts turns, calls, times and usage

	sum      Summary
	tape     progress
	failures failures
	slow     slowness
	rules    stats.Rules
	said     dialog
	tools    []string            // names or kinds of tool calls, in order
	titles   map[string][]string // of tool calls, by name or kind
}

// A progress is how far the current tape has been read.
type progress struct {
	begun bool
	first time.Duration // of its first frame
	last  time.Duration // of its last frame
	timed bool          // a frame has a time

	setUp   trace.Span // from the first set-up call to the end of the last; of calls before the first turn
	started bool       // the first turn has begun

	waiting dialect.WaitingRequests
	open    map[uint64]string // by request, the names of calls that ended without a response
}

// maxTitles limits the calls of a tool that are told by their titles.
const maxTitles = 2

// maxNames limits the names that are listed. The rest are counted together.
const maxNames = 256

// Begin begins the next tape.
func (t *Tally) Begin(tape record.Info) {
	t.endTape()
	t.Stats.Step = t.step
	t.Stats.Begin(tape)
	t.sum.Tapes = append(t.sum.Tapes, tape)
}

// Broken notes that a part of the tape cannot be read.
func (t *Tally) Broken() { t.sum.Broken++ }

// Take processes a frame of the tape that was begun last, and its events in tr, to which
// it was just added. tr may be Brief.
func (t *Tally) Take(f *dialect.Frame, tr *trace.Trace) {
	if !t.tape.begun {
		t.tape.begun, t.tape.first = true, f.At
	}
	t.tape.last, t.tape.timed = max(t.tape.last, f.At), t.tape.timed || !f.Untimed
	if f.Counts() {
		t.sum.Frames++
	}
	if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
		tape := &t.sum.Tapes[len(t.sum.Tapes)-1]
		if tape.Exit, tape.Live = exit, false; f.Events.Has(dialect.ExitFailed) {
			tape.Worst = tape.Worst.Or(dialect.DiedOf(exit))
		}
	}
	t.rules.Take(f)
	t.events(tr)
	t.tape.waiting.Observe(f)
	if kind := f.Failure(); kind != dialect.NoFailure {
		t.failures.add(kind, harmOf(kind, f), t.failure(kind, f, tr.Events()), Frame{Run: len(tr.Runs) - 1, Seq: f.Seq})
	}
	t.slow.take(f, len(tr.Runs)-1)
}

// End marks the last tape as finished. What is still open then has no answer, unless the
// tape is Live. tr is the Trace that the frames were added to; its End or Next must have
// been called. After Next, Live is about the tape to come.
func (t *Tally) End(tr *trace.Trace) {
	if tr.Live && len(tr.Runs) == len(t.sum.Tapes) {
		t.Stats.Take(tr)
		return
	}
	if n := len(t.sum.Tapes); n > 0 {
		tape := &t.sum.Tapes[n-1]
		tape.Live = false
		for _, r := range t.tape.waiting {
			tape.Worst = tape.Worst.Or(dialect.LeftOpen(tape.Exit != nil || tape.Closed != "", dialect.Outcome{}, r.Lost, r.Prompt))
		}
	}
	t.events(tr)
	for _, r := range t.tape.waiting {
		t.failures.add(dialect.Unanswered, noAnswer, "no answer to "+cmp.Or(t.tape.open[r.Seq], "a request"), Frame{Run: len(t.sum.Tapes) - 1, Seq: r.Seq})
	}
	t.tape.waiting, t.tape.open = nil, nil
}

func (t *Tally) endTape() {
	t.sum.Took, t.sum.Untimed = t.took()
	t.tape = progress{}
	t.slow.next()
}

// took returns how long the tapes took so far, and whether one of them has no frame with
// a time.
func (t *Tally) took() (took seconds, untimed bool) {
	took, untimed = t.sum.Took, t.sum.Untimed
	if t.tape.begun {
		took, untimed = took+seconds(t.tape.last-t.tape.first), untimed || !t.tape.timed
	}
	return took, untimed
}

// events processes the events of the last frame, except those of sessions that are not
// counted.
func (t *Tally) events(tr *trace.Trace) {
	events := tr.Events()
	for i := range events {
		e := &events[i]
		switch {
		case t.Stats.Only != nil && e.Session != nil && e.Session != t.Stats.Only:
		case e.Kind == trace.ConnectionEvent:
			t.sum.Tapes[e.Run].Connection = tr.Runs[e.Run]
		case e.Kind == trace.CallEvent && e.End.Known() && !t.tape.started:
			t.startUp(e)
		case e.Kind == trace.TurnEvent && e.Phase == trace.Began:
			t.tape.started = true
			t.failures.begin()
			t.said.begin(e.Turn)
		case e.Kind == trace.ToolCallEvent && e.Phase == trace.Began && !e.Repeated:
			t.title(e.ToolCall.ToolCall)
		case e.Kind == trace.TurnEvent && e.Phase == trace.Ended && e.Turn.Outcome.How != dialect.Running:
			t.said.end(e.Turn)
			tape := &t.sum.Tapes[e.Run]
			tape.Worst = tape.Worst.Or(e.Turn.Outcome)
		case e.Kind == trace.CallEvent && (e.End == trace.StillOpen || e.End == trace.Replaced) && len(t.tape.open) < maxNames:
			if t.tape.open == nil {
				t.tape.open = map[uint64]string{}
			}
			t.tape.open[e.First] = callName(e)
		}
	}
	t.Stats.Take(tr)
}

// title keeps the titles of the first calls of a tool.
func (t *Tally) title(c *trace.ToolCall) {
	name, title := stats.ToolName(c), plainTitle(c.Title)
	if !slices.Contains(t.tools, name) && len(t.tools) < maxNames {
		t.tools = append(t.tools, name)
	}
	if list, known := t.titles[name]; len(list) < maxTitles && (known || len(t.titles) < maxNames) {
		if t.titles == nil {
			t.titles = map[string][]string{}
		}
		t.titles[name] = append(list, termtext.Cut(cmp.Or(title, name), titleColumns))
	}
}

// startUp counts the time from the first set-up call to the end of the last, as steps do. A
// session begins with its own set-up.
func (t *Tally) startUp(e *trace.Event) {
	if e.Dir != wire.ClientToAgent || e.Untimed || e.Began < t.tape.first || dialect.AreaOf(e.Method, "") != dialect.LifeCycle || dialect.EndsAtClose(e.Method) {
		return
	}
	s := &t.tape.setUp
	before := s.Ended - s.Began
	if s.First == 0 {
		s.First, s.Began = e.First, e.Began
	}
	s.Ended = max(s.Ended, e.At)
	t.sum.Time.StartUp += seconds(s.Ended - s.Began - before)
}

// step keeps the slowest steps.
func (t *Tally) step(e *trace.Event, took time.Duration) {
	if s := t.sum.Time.Slowest; s == nil || seconds(took) > s.Took {
		t.sum.Time.Slowest = &Step{stepName(e), seconds(took), Frame{Run: e.Run, Seq: e.First}}
	}
}
