package summary

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
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

	sum       Summary
	tape      progress
	failures  failures
	slow      slowness
	rules     stats.Rules
	said      dialogs
	declined  Rejections
	stderr    *stderrLog
	written   stretches
	called    calls
	beside    beside
	idle      pauses
	steps     steps
	programs  programs
	commands  terminals
	ungranted *trace.Entity                // the tool call whose permission was left open last
	hears     bool                         // stderr is not that of Sessions
	above     map[*trace.Entity]bool       // open tool calls by which subagents work
	tools     []string                     // names or kinds of tool calls, in order
	told      map[string][]*trace.ToolCall // by name or kind, the first ones of different titles or files
	more      map[string]bool              // whether others change other files
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
	open    map[uint64]string  // by request, what got no answer
	calls   map[uint64]call    // of the client, by request; without an answer yet
	tries   map[uint64]attempt // of both sides
	down    map[string]bool    // MCP servers that did not start
	quoted  bool               // a failure quotes the last words of the agent
	exit    dialect.Frame      // when the agent ended
}

// maxTitles limits the calls of a tool that are told by their titles.
const maxTitles = 4

// maxNames limits the names that are listed. The rest are counted together.
const maxNames = 256

// Begin begins the next tape.
func (t *Tally) Begin(tape record.Info) {
	t.endTape()
	if t.hears {
		t.stderr.forget()
	}
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
		t.tape.begun, t.tape.first = true, began(f, tr.Events())
	}
	t.tape.last, t.tape.timed = max(t.tape.last, f.At), t.tape.timed || !f.Untimed
	if f.Counts() {
		t.sum.Frames++
	}
	if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
		tape := &t.sum.Tapes[len(t.sum.Tapes)-1]
		t.tape.exit = dialect.Frame{Frame: wire.Frame{At: f.At, Untimed: f.Untimed}}
		if tape.Exit, tape.Live = exit, false; f.Events.Has(dialect.ExitFailed) {
			tape.Worst = tape.Worst.Or(dialect.DiedOf(exit))
		}
	}
	t.rules.Take(f)
	t.failures.hear(f)
	run := len(tr.Runs) - 1
	t.hear(f, run, tr.Events())
	if f.Kind == wire.Stderr && t.hears {
		t.serverDown(f, run)
	}
	if of := t.written.take(f); of.first != 0 && !f.Untimed {
		t.steps.add(of.name, "", "", of.began, f.At, Frame{Run: run, Seq: of.first})
	}
	for i := range tr.Events() {
		switch e := &tr.Events()[i]; {
		case e.Kind != trace.CallEvent || e.Dir != wire.ClientToAgent || f.Kind == wire.Batch:
		case e.Phase == trace.Began:
			t.called.begin(f, e)
		case e.Phase == trace.Ended && e.End.Known():
			t.called.answered(f, e)
		}
	}
	tried := t.tape.tries[f.Request]
	t.commands.take(f)
	t.events(tr, f)
	t.tape.waiting.Observe(f)
	here := Frame{Run: run, Seq: f.Seq}
	if kind := f.Failure(); kind != dialect.NoFailure {
		gaveUp := ""
		if kind == dialect.Unanswered {
			gaveUp = t.givenUp(f, run)
		}
		t.failures.add(harmOf(kind, f), kind, func() Failure {
			e := about(kind, tr.Events())
			what, why := gaveUp, ""
			if what == "" {
				what, why = failureText(kind, f, tr.Events(), t.commands.command(e), t.commands.of(e))
				what += t.called.withInput(e)
			}
			by := t.commands.triedBy(kind, f, tr.Events(), tried)
			by.missing, by.misused = cause.Missing(why), by.misused || cause.Misused(why)
			return Failure{Kind: kind, What: what + because(why), why: why, Frame: here, Stderr: t.cause(kind, f), tried: by}
		})
	}
	if f.Failure() == dialect.FailedTool && cause.Tested(cause.Text(wire.Get(f.Raw, "params", "update"))) {
		if e := about(dialect.FailedTool, tr.Events()); e != nil {
			t.failures.compiled(t.commands.attempt(e), here)
		}
	}
	if f.Events.Has(dialect.RequestCancelled) && t.sum.Tapes[len(t.sum.Tapes)-1].Connection.Protocol == dialect.MCP { // in ACP an answer follows
		if c, known := t.tape.calls[f.Request]; known {
			t.steps.add(c.name, "", "", c.at, f.At, Frame{Run: run, Seq: f.Request})
			t.called.end(f.Request, f.At, dialect.Cancelled, "cancelled after "+seconds(f.At-c.at).String())
		}
	}
	if one, ok := rejection(f, tr.Events(), tried.says, &t.commands); ok {
		one.Frame = here
		t.declined.add(one)
	}
	t.slow.take(f, run)
}

// began returns when a tape, or a session on it, began with its first frame. That of a session
// may be the answer to the request that made it.
func began(f *dialect.Frame, events []trace.Event) time.Duration {
	at := f.At
	for i := range events {
		if e := &events[i]; e.Kind == trace.CallEvent && !e.Untimed {
			at = min(at, e.Began)
		}
	}
	return at
}

// hear reads stderr, unless Sessions does.
func (t *Tally) hear(f *dialect.Frame, run int, events []trace.Event) {
	if t.stderr == nil {
		t.stderr, t.hears = &stderrLog{}, true
	}
	if !t.hears {
		return
	}
	for i := range events {
		if e := &events[i]; e.Kind == trace.TurnEvent && e.Phase == trace.Ended {
			t.stderr.model.failed(e)
		}
	}
	t.stderr.take(f, run)
}

// serverDown notes that the agent says that an MCP server did not start.
func (t *Tally) serverDown(f *dialect.Frame, run int) {
	name, why := serverDown(f.Raw)
	if name == "" || t.tape.down[name] || len(t.tape.down) == maxNames {
		return
	}
	if t.tape.down == nil {
		t.tape.down = map[string]bool{}
	}
	t.tape.down[name] = true
	what := "server " + termtext.Cut(name, titleColumns) + " did not start" + because(why)
	t.failures.keep(askedInVain, Failure{Kind: dialect.FailedRequest, What: what, Frame: Frame{Run: run, Seq: f.Seq}, tried: attempt{method: "server", object: name}, uncounted: true})
}

// cause returns what the agent wrote to stderr before it died, or before something failed
// that has no message of its own.
func (t *Tally) cause(kind dialect.Failure, f *dialect.Frame) *Quote {
	if kind != dialect.BadExit && kind != dialect.Unanswered && !saysNothing(kind, f) {
		return nil
	}
	q := t.stderr.before(f)
	t.tape.quoted = t.tape.quoted || q != nil
	return q
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
			tape.Worst = tape.Worst.Or(r.Left(tape.Exit != nil || tape.Closed != "", dialect.Outcome{}))
		}
	}
	for _, request := range slices.Sorted(maps.Keys(t.called.open)) {
		t.steps.add(t.tape.calls[request].name, "", "", t.called.open[request].at, t.tape.last, Frame{Run: len(t.sum.Tapes) - 1, Seq: request})
	}
	t.called.endTape(t.tape.last)
	t.events(tr, nil)
	for _, r := range t.tape.waiting {
		t.failures.add(noAnswer, dialect.Unanswered, func() Failure {
			one := Failure{Kind: dialect.Unanswered, What: cmp.Or(t.tape.open[r.Seq], "no answer to a request"), Frame: Frame{Run: len(t.sum.Tapes) - 1, Seq: r.Seq}}
			if n := len(t.sum.Tapes); r.Prompt && n > 0 && t.sum.Tapes[n-1].Exit != nil && !t.tape.quoted {
				one.Stderr, t.tape.quoted = t.stderr.before(&t.tape.exit), true
			}
			return one
		})
	}
	t.tape.waiting, t.tape.open = nil, nil
}

func (t *Tally) endTape() {
	t.sum.Took, t.sum.Untimed = t.took()
	t.idle.next(t.tape.last)
	t.tape = progress{}
	t.written, t.commands = nil, terminals{}
	t.slow.next()
	t.beside.next()
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

// events processes the events of a frame, or of the end if f is nil, except those of sessions
// that are not counted.
func (t *Tally) events(tr *trace.Trace, f *dialect.Frame) {
	t.beside.take(tr, t.Stats.Only)
	events := tr.Events()
	for i := range events {
		e := &events[i]
		if t.Stats.Only != nil && e.Session != nil && e.Session != t.Stats.Only {
			continue
		}
		switch {
		case e.Kind == trace.ConnectionEvent:
			t.sum.Tapes[e.Run].Connection = tr.Runs[e.Run]
		case e.Kind == trace.CallEvent && e.End.Known() && !t.tape.started:
			t.startUp(e)
		case e.Kind == trace.TurnEvent && e.Phase == trace.Changed && e.Turn.Output != 0:
			t.failures.outlived(e)
		case e.Kind == trace.TurnEvent && e.Phase == trace.Began:
			t.tape.started = true
			t.failures.begin()
			t.idle.begin(e, max(t.tape.setUp.Ended, t.tape.first), t.said.begin(e.Session, e.Turn))
		case e.Kind == trace.ToolCallEvent && !e.Repeated:
			if e.Phase == trace.Began {
				t.failures.heard(false)
			}
			t.tell(e.ToolCall.ToolCall)
			t.delegates(e.ToolCall)
			if e.Phase == trace.Ended {
				by := t.commands.attempt(e)
				if e.End == trace.Completed {
					t.completed(e, f, by)
				}
				t.programs.add(e.ToolCall.ToolCall, &by, t.commands.command(e) != "")
			}
			t.declined.tool(e)
			t.stop(e)
		case e.Kind == trace.PermissionEvent && e.ToolCall != nil && e.Phase == trace.Ended && e.Reason != "selected":
			t.ungranted = e.ToolCall
		case e.Kind == trace.PermissionEvent && e.ToolCall != nil && e.Reason == "selected" && !e.Permission.Refused():
			t.declined.allow(e.ToolCall, t.commands.attempt(e), Frame{Run: e.Run, Seq: e.Seq})
		case e.Kind == trace.TurnEvent && e.Phase == trace.Ended && e.Turn.Outcome.How != dialect.Running:
			t.idle.end(e, t.said.end(e.Session, e.Turn))
			t.failures.heard(true)
			if e.Turn.Outcome.How == dialect.Done {
				t.failures.mend(turnAttempt(e), Frame{Run: e.Run, Seq: e.Seq})
				t.failures.done(e)
			}
			tape := &t.sum.Tapes[e.Run]
			tape.Worst = tape.Worst.Or(e.Turn.Outcome)
		case e.Kind == trace.CallEvent && (e.End == trace.StillOpen || e.End == trace.Replaced):
			t.leave(e.First, "no answer to "+callName(e))
		}
		if e.Kind == trace.CallEvent {
			t.await(e, f)
		}
		if e.Kind == trace.TurnEvent && e.End == trace.StillOpen {
			text := ": no answer"
			if how := e.Turn.Outcome; how.How == dialect.Errored {
				text = ": " + how.Text
			}
			t.leave(e.Turn.Prompt, turnName(e.Turn)+text)
			t.tape.last = max(t.tape.last, e.At) // it waited until the tape ended
		}
	}
	t.Stats.Take(tr)
}

// completed notes that a tool call has completed with a frame, perhaps only by its status.
func (t *Tally) completed(e *trace.Event, f *dialect.Frame, by attempt) {
	c, here := e.ToolCall.ToolCall, Frame{Run: e.Run, Seq: e.Seq}
	if f != nil && !trace.OnlyLooks(c.Kind) && !changes(c) {
		update := wire.Get(f.Raw, "params", "update")
		command, printed := t.commands.command(e), cause.Text(update)
		if code, known := cause.Exit(update); code != 0 || !known && c.Kind == "execute" && cause.Failed(&by.command, printed) {
			if !shell.SaysNo(c.Title) && !shell.SaysNo(command) && !isTimeout(command, code) {
				why := cmp.Or(cause.Status(&by.command, printed), cause.Of(update, t.commands.of(e)))
				by.missing = cause.Missing(why)
				t.failures.quiet++
				e.Session.Conversation.EndedBadly(e.ToolCall)
				if cause.Tested(printed) {
					t.failures.compiled(by, here)
				}
				t.failures.keep(toolInLast, Failure{Kind: dialect.FailedTool, What: failedName(e, command) + because(why), why: why, Frame: here, tried: by, uncounted: true})
			}
			return
		}
		by.command.Piped = by.command.Piped && !cause.Passed(printed)
	}
	if changes(c) {
		t.changed(by.file, t.commands.edit(e), here)
	}
	t.failures.mend(by, here)
	t.failures.goOn(&by)
}

// stop notes a tool call that ran when the user cancelled its turn.
func (t *Tally) stop(e *trace.Event) {
	c := e.ToolCall.ToolCall
	if e.Phase != trace.Ended || !e.Cancelled && !c.Cancelled || c.Rejected || e.Untimed || len(t.sum.Stopped) == maxTold {
		return
	}
	if e.ToolCall == t.ungranted { // it never ran
		return
	}
	by := t.commands.attempt(e)
	t.failures.stopped(&by)
	t.sum.Stopped = append(t.sum.Stopped, Step{callTitle(c, t.commands.command(e)), seconds(e.At - e.Began), Frame{Run: e.Run, Seq: e.First}})
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

// step notes what a step took.
func (t *Tally) step(e *trace.Event, took time.Duration) {
	if e.Kind == trace.ToolCallEvent && t.above[e.ToolCall] {
		t.sum.Time.Subagents += seconds(took)
		delete(t.above, e.ToolCall)
	}
	command, of := "", ""
	if e.Kind == trace.ToolCallEvent {
		a := t.commands.attempt(e)
		command, of = a.command.Work()
	}
	for i := range t.sum.Stopped {
		if one := &t.sum.Stopped[i]; one.Frame.Run == e.Run && one.Frame.Seq == e.First {
			one.Took = seconds(took) // without the wait for a permission
		}
	}
	what := func() string { return stepName(e, t.commands.command(e)) + t.called.withInput(e) }
	t.steps.add(what, command, of, e.At-took, e.At, Frame{Run: e.Run, Seq: e.First})
}

// delegates notes the tool call by which a subagent works that has made another one, or that names a
// subagent, as those of opencode do.
func (t *Tally) delegates(call *trace.Entity) {
	by := call.Above
	if by == nil && call.ToolCall.Title == "task" {
		by = call
	}
	if by == nil || by.ToolCall == nil || len(t.above) == maxNames {
		return
	}
	if t.above == nil {
		t.above = map[*trace.Entity]bool{}
	}
	t.above[by] = true
}
