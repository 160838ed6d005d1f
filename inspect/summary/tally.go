package summary

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A Tally counts what happens on tapes. Its zero value is ready to use; it is for one
// goroutine.
type Tally struct {
	// Label returns the number of a frame as users know it. nil: the frame's own number,
	// after the number of the tape if there are several.
	Label func(seq uint64) string

	only     *trace.Session // nil: all are counted
	sum      Summary
	tape     progress
	turns    map[key]*trace.Turn // open turns
	clock    trace.ToolClock
	sessions map[*trace.Session]*sessionUse
	folded   folded

	ends    counter
	methods map[string]*method
	output  stats.Timing // from prompts to first outputs
	latency stats.Timing // of the client's calls
	kinds   [dialect.BadExit + 1]Failed
	slow    [dialect.Hung + 1]Slow
}

// A progress is how far the current tape has been read.
type progress struct {
	begun bool
	first time.Duration // of its first frame
	last  time.Duration // of its last frame
	timed bool          // a frame has a time

	waiting dialect.WaitingRequests
	open    map[uint64]string // by request, the names of calls that ended without a response
}

// A key identifies what an event is about.
type key struct {
	run   int
	first uint64
	entry int
}

// Bounds of what is counted by name. All others are counted together.
const (
	maxNames = 256
	maxFirst = 8 // failures that are described
)

// Begin begins the next tape.
func (t *Tally) Begin(tape record.Info) {
	t.endTape()
	t.sum.Tapes = append(t.sum.Tapes, tape)
}

// Broken notes that a part of the tape cannot be read.
func (t *Tally) Broken() { t.sum.Broken++ }

// Take takes a frame of the tape that was begun last, and its events in tr, to which it was
// just added. tr may be Brief.
func (t *Tally) Take(f *dialect.Frame, tr *trace.Trace) {
	if !t.tape.begun {
		t.tape.begun, t.tape.first = true, f.At
	}
	t.tape.last, t.tape.timed = max(t.tape.last, f.At), t.tape.timed || !f.Untimed
	if f.Kind != wire.Mark && f.Dir != wire.AgentStderr && f.Origin.Sent() && !f.Redelivered {
		t.sum.Frames++
	}
	if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
		tape := &t.sum.Tapes[len(t.sum.Tapes)-1]
		if tape.Exit, tape.Live = exit, false; f.Events.Has(dialect.ExitFailed) {
			tape.Worst = tape.Worst.Or(dialect.DiedOf(exit))
		}
	}
	t.events(tr)
	t.tape.waiting.Observe(f)
	if kind := f.Failure(); kind != dialect.NoFailure {
		t.fail(kind, t.failure(kind, f, tr.Events()), len(tr.Runs)-1, f.Seq)
	}
	if slow := &t.slow[f.Slow()]; f.Slow() != dialect.NotSlow {
		if slow.Count++; slow.Count == 1 {
			slow.Kind, slow.Frame = f.Slow().String(), Frame{Run: len(tr.Runs) - 1, Seq: f.Seq}
		}
	}
}

// End says that no further frame of the last tape will come. tr is the Trace that the
// frames were added to; its End or Next must have been called.
func (t *Tally) End(tr *trace.Trace) {
	if n := len(t.sum.Tapes); n > 0 {
		tape := &t.sum.Tapes[n-1]
		if tape.Live = false; len(t.tape.waiting) > 0 && tape.Exit == nil && tape.Closed == "" {
			tape.Worst = tape.Worst.Or(dialect.Outcome{How: dialect.CutOff})
		}
	}
	t.events(tr)
	for _, r := range t.tape.waiting {
		t.fail(dialect.Unanswered, "no answer to "+cmp.Or(t.tape.open[r.Seq], "a request"), len(t.sum.Tapes)-1, r.Seq)
	}
	t.tape.waiting, t.tape.open = nil, nil
}

func (t *Tally) endTape() {
	t.sum.Took, t.sum.Untimed = t.took()
	t.tape = progress{}
}

// took returns how long the tapes took so far, and whether one of them has no frame with a
// time.
func (t *Tally) took() (took seconds, untimed bool) {
	took, untimed = t.sum.Took, t.sum.Untimed
	if t.tape.begun {
		took, untimed = took+seconds(t.tape.last-t.tape.first), untimed || !t.tape.timed
	}
	return took, untimed
}

// events takes the events of the last frame, without those of sessions that are not
// counted.
func (t *Tally) events(tr *trace.Trace) {
	events := tr.Events()
	for i := range events {
		if e := &events[i]; t.only == nil || e.Session == nil || e.Session == t.only {
			t.event(e, tr)
		}
	}
}

func (t *Tally) event(e *trace.Event, tr *trace.Trace) {
	about := key{e.Run, e.First, e.Entry}
	switch e.Kind {
	case trace.ConnectionEvent:
		t.sum.Tapes[e.Run].Connection = tr.Runs[e.Run]
	case trace.SessionEvent:
		t.session(e)
	case trace.TurnEvent:
		t.turn(about, e)
	case trace.CallEvent:
		t.call(e)
	case trace.ToolCallEvent:
		t.tool(e)
	case trace.PermissionEvent:
		if e.Phase == trace.Ended && e.End != trace.StillOpen {
			t.step(e, "permission"+quoted(permissionTitle(e)), e.At-e.Began)
		}
	}
}

func (t *Tally) turn(about key, e *trace.Event) {
	switch e.Phase {
	case trace.Began:
		t.sum.Turns.Count++
		put(&t.turns, about, e.Turn)
		t.use(e.Session).turn = e.Turn
	case trace.Changed:
		if e.Turn.Output == e.Seq && !e.Turn.Untimed { // the first
			t.output.End(false, e.At-e.Began, true, stats.Place{Run: e.Run, Seq: e.First})
		}
	case trace.Ended:
		if t.turns[about] == nil {
			return // it ends once more
		}
		delete(t.turns, about)
		if e.End != trace.StillOpen && e.End != trace.Forgotten {
			tape := &t.sum.Tapes[e.Run]
			tape.Worst = tape.Worst.Or(e.Turn.Outcome)
		}
		t.ends.add(e.Turn.Outcome.How.String(), 1)
		t.sum.Time.spend(e.Turn, e.At)
		t.use(e.Session).tokens.Add(e.Turn.Usage.Tokens)
	}
}

// spend counts the time of a turn, up to now if it is open.
func (t *Time) spend(turn *trace.Turn, now time.Duration) {
	if turn.Untimed {
		return
	}
	s, w := turn.Spend(now), &t.Waited
	w.User, w.Client, w.Tool, w.Agent = w.User+seconds(s.User), w.Client+seconds(s.Client), w.Tool+seconds(s.Tool), w.Agent+seconds(s.Agent)
	if p := turn.Pace; p.Silences > 0 {
		t.Silences += p.Silences
		t.slower("silence of the agent", p.Silence, turn.Run, p.Before)
	}
}

func (t *Tally) call(e *trace.Event) {
	switch {
	case e.Phase == trace.Began && e.Dir == wire.ClientToAgent:
		t.method(e.Method).calls++
		if e.Call.Tool != "" {
			t.method(e.Method).tools.add(e.Call.Tool, 1)
		}
	case e.Phase != trace.Ended || dialect.EndsAtClose(e.Method):
	case e.End == trace.StillOpen || e.End == trace.Replaced:
		if len(t.tape.open) < maxNames {
			put(&t.tape.open, e.First, callName(e))
		}
	case e.End == trace.Forgotten || dialect.Does(e.Method, dialect.Prompts|dialect.AsksPermission):
	default:
		t.step(e, callName(e), e.At-e.Began)
		if !e.Untimed && e.Dir == wire.ClientToAgent {
			t.latency.End(e.End == trace.Failed, e.At-e.Began, true, stats.Place{Run: e.Run, Seq: e.First})
		}
	}
}

// tool counts the time of a tool call, without the time in which the user was asked.
func (t *Tally) tool(e *trace.Event) {
	took, ok := t.clock.Observe(e, t.use(e.Session).turn)
	if ok && e.End < trace.StillOpen {
		t.step(e, toolName(e), took)
	}
}

// step records the duration of something that has ended.
func (t *Tally) step(e *trace.Event, what string, took time.Duration) {
	if !e.Untimed {
		t.sum.Time.slower(what, took, e.Run, e.First)
	}
}

func (t *Time) slower(what string, took time.Duration, run int, seq uint64) {
	if s := t.Slowest; s == nil || seconds(took) > s.Took {
		t.Slowest = &Step{what, seconds(took), Frame{Run: run, Seq: seq}}
	}
}

// A method is how often a method was called.
type method struct {
	calls int
	tools counter
}

func (t *Tally) method(name string) *method {
	if t.methods[name] == nil && len(t.methods) >= maxNames {
		name = others
	}
	if t.methods[name] == nil {
		put(&t.methods, name, &method{})
	}
	return t.methods[name]
}

// A counter counts by name.
type counter map[string]int

const others = "others"

func (c *counter) add(name string, n int) {
	if (*c)[name] == 0 && len(*c) >= maxNames {
		name = others
	}
	put((*map[string]int)(c), name, (*c)[name]+n)
}

// counts returns the names, the most frequent first.
func (c counter) counts() []Count {
	var list []Count
	for name, n := range c {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What)) })
	return list
}

// put puts a value into a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}
