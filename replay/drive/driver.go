package drive

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A driver plays one plan to one agent. It runs in one goroutine, so its output depends
// only on the plan and the order of the agent's messages.
type driver struct {
	plan   *plan
	known  *remap.AgentMap
	agent  *agentProcess
	report *Report

	tracker  *dialect.Tracker
	trace    trace.Trace // of the live connection
	seq      uint64
	calls    dialect.OpenRequests[*plannedCall] // of the client
	sessions map[string]*liveSession            // by recorded session
	replies  []delayedReply

	agentEnded bool  // the agent ended before the plan did
	failed     error // why continuing makes no sense
}

// A liveSession is what the agent does and offers in a session.
type liveSession struct {
	progress progress
	offers   offers
}

// A delayedReply is a reply to send after a move of its thread.
type delayedReply struct {
	reply
	thread *thread
}

func newDriver(p *plan, known *remap.AgentMap, agent *agentProcess, report *Report) *driver {
	d := &driver{
		plan: p, known: known, agent: agent, report: report,
		tracker:  dialect.NewTracker(p.conn.Protocol),
		sessions: make(map[string]*liveSession),
	}
	d.trace.Next(dialect.Connection{Protocol: p.conn.Protocol})
	if p.conn.Protocol == dialect.MCP && p.cwd != "" {
		known.MoveIn(p.cwd)
	}
	return d
}

// limits bounds the time that the agent may take.
type limits struct {
	patience time.Duration // without writing anything
	whole    time.Duration // in all
	settle   time.Duration // to add something after its last answer
}

// waited returns the limit that ended a run started at began.
func (l limits) waited(began time.Time) time.Duration {
	if time.Since(began) >= l.whole {
		return l.whole
	}
	return l.patience
}

// play makes all moves. It returns once everything it waits for has come and the agent
// has settled. If it stops earlier, the report says why.
func (d *driver) play(ctx context.Context, l limits) error {
	began := time.Now()
	var settled <-chan time.Time
	timer := time.NewTimer(min(l.patience, l.whole))
	defer timer.Stop()
	for {
		d.advance()
		if d.failed != nil {
			return d.failed
		}
		if settled == nil && d.done() {
			settled = time.After(l.settle)
		}
		select {
		case line, ok := <-d.agent.lines:
			switch {
			case ok:
			case ctx.Err() != nil:
				return ctx.Err()
			default:
				d.agentGone()
				return nil
			}
			d.receive(line)
		case <-settled:
			return nil
		case <-timer.C:
			if settled != nil {
				continue
			}
			left := min(l.patience-d.agent.quiet(), l.whole-time.Since(began))
			if left <= 0 {
				d.report.Stopped = fmt.Sprintf("waited %v for %s", l.waited(began), d.missing())
				return nil
			}
			timer.Reset(left)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// agentGone notes that the agent ended too early.
func (d *driver) agentGone() {
	if d.done() {
		return
	}
	d.agentEnded = true
	d.report.Stopped = "the agent ended before " + d.missing()
}

// done reports whether all moves are made and everything that the plan waits for has come.
func (d *driver) done() bool {
	return len(d.replies) == 0 && !slices.ContainsFunc(d.plan.threads, func(t *thread) bool {
		return len(t.moves) > 0 || t.waits(math.MaxUint64)
	})
}

// missing names the first thing on the tape that has not come.
func (d *driver) missing() string {
	var first *awaited
	for _, t := range d.plan.threads {
		if t.waits(math.MaxUint64) && (first == nil || t.awaited[0].seq < first.seq) {
			first = t.awaited[0]
		}
	}
	if first != nil {
		return first.what
	}
	for _, t := range d.plan.threads {
		if len(t.moves) > 0 {
			return fmt.Sprintf("the point at which %s was sent (frame %d)", t.moves[0].method, t.moves[0].seq)
		}
	}
	return "the end"
}

// send sends a message to the agent.
func (d *driver) send(message []byte) {
	d.observe(wire.ClientToAgent, message, func(f *dialect.Frame, e wire.Envelope) {
		d.session(d.known.Recorded(f.Session)).progress.observe(f, e)
	})
	d.agent.input.PutLine(message)
}

// observe tracks a line of either side and calls do for each of its messages.
func (d *driver) observe(dir wire.Direction, line []byte, do func(f *dialect.Frame, e wire.Envelope)) {
	d.seq++
	size := int64(len(line))
	e := rpc.Scan(line)
	line = line[:min(len(line), wire.MaxChecked)]
	f := dialect.Frame{Frame: wire.Frame{Seq: d.seq, Dir: dir, Kind: e.Kind, Size: size, Raw: line}}
	f.Annotation, _ = d.tracker.Observe(&f.Frame, e)
	f.Failed = dialect.Failed(e, &f.Annotation)
	d.trace.Add(&f)
	if f.Kind == wire.Oversized {
		do(&f, e)
		return
	}
	for m, e := range f.Messages {
		do(m, e)
	}
}

// receive handles a line of the agent.
func (d *driver) receive(line []byte) {
	d.observe(wire.AgentToClient, line, func(f *dialect.Frame, e wire.Envelope) {
		session := d.known.Recorded(f.Session)
		d.session(session).progress.observe(f, e)
		switch {
		case e.Method == nil:
			d.answered(f, e)
		case e.ID != nil:
			d.requested(session, f, e)
		default:
			d.session(session).offers.updated(e)
			if f.Events.Has(dialect.TurnEnded) {
				d.turnEnded(session)
			}
		}
	})
}

// answered handles a response.
func (d *driver) answered(f *dialect.Frame, e wire.Envelope) {
	c := d.calls.Answer(f.Dir, f.Stream, e.ID)
	if c == nil {
		return
	}
	c.over(f.Failed)
	if f.Failed {
		return
	}
	d.known.LearnFromResponse(c.method, c.made, f.Raw)
	if made := e.Result.Get("sessionId"); f.Does(dialect.Creates) && c.method != f.Method && c.session != "" && made.Exists() {
		d.known.Set(dialect.SessionID, string(wire.Quote(c.session)), made.Raw()) // created afresh
	}
	d.session(c.session).offers.answered(e)
	then, now := d.plan.conn.Dialect, d.tracker.Connection().Dialect
	if f.Events.Has(dialect.Initialized) && then != dialect.Unknown && now != then {
		d.failed = fmt.Errorf("%w: %s, not %s", ErrDialect, now, then)
	}
}

// turnEnded notes the end of a turn that no response marks.
func (d *driver) turnEnded(session string) {
	for _, a := range d.plan.thread(session).awaited {
		if a.turn && !a.come {
			a.come = true
			return
		}
	}
}

// requested handles a request of the agent.
func (d *driver) requested(session string, f *dialect.Frame, e wire.Envelope) {
	q := &question{id: slices.Clone(e.ID), method: f.Method, session: session, params: e.Params, paths: &d.known.Paths}
	if f.Does(dialect.AsksPermission) {
		q.subject, q.options = permissionOf(&d.trace, f.Session, f.Seq)
	}
	r := d.plan.answers.to(q)
	if r.note != "" {
		d.report.note("%s", r.note)
	}
	if r.as != nil {
		d.known.LearnFromRequest(q.method, r.as.params, q.params)
	}
	if rpc.LacksSecret(r.message) {
		d.report.note("%s was answered as on the tape: without its secrets", q.method)
	}
	if !r.silent {
		r.message, _ = d.known.WithIDs(q.method, r.message)
		d.replies = append(d.replies, delayedReply{r, d.plan.thread(session)})
	}
}

func (d *driver) session(recorded string) *liveSession {
	if d.sessions[recorded] == nil {
		d.sessions[recorded] = new(liveSession)
	}
	return d.sessions[recorded]
}
