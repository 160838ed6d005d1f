package proxy

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// exitLead is how long the end of stdout is kept from the client for the
// agent's exit to come first, as it does at once in most cases: a client may
// kill us when it sees that end, and how the agent ended should be on the tape
// by then.
const exitLead = 50 * time.Millisecond

// lulls is how many samples are taken in the time of Proxy.Linger.
const lulls = 10

// A run is one call of Proxy.Run, from the agent's start on.
type run struct {
	agent    *agent
	tape     *tape
	in       io.Reader
	out      io.Writer
	linger   time.Duration
	grace    time.Time // until when what a signal was passed on to may end in its own way
	ending   ending
	outlets  [wire.Directions]*outlet
	pumps    [wire.Directions]*pump
	sinks    [wire.Directions]sink
	junction *junction     // nil without an Interceptor
	over     chan struct{} // closed when the agent has exited and its streams have ended
}

func newRun(p *Proxy, a *agent, t *tape, i Interceptor) *run {
	r := &run{
		agent:  a,
		tape:   t,
		in:     p.In,
		out:    p.Out,
		linger: p.linger(),
		over:   make(chan struct{}),
	}
	r.ending.patience = cmp.Or(p.Patience, 5*time.Second)
	r.ending.steps = []func(){func() { a.stdin.Close() }, a.terminate, a.kill}
	err := p.Err
	if r.in == nil {
		r.in = os.Stdin
	}
	if r.out == nil {
		r.out = os.Stdout
	}
	if err == nil {
		err = os.Stderr
	}
	r.outlets = [wire.Directions]*outlet{newOutlet(a.stdin), newOutlet(r.out), newOutlet(err)}
	for dir := range wire.Directions {
		r.pumps[dir] = newPump()
		r.sinks[dir] = tap{dir: dir, tape: t, outlet: r.outlets[dir]}
	}
	if i != nil {
		r.junction = newJunction(i, t, r.outlets)
		r.sinks[wire.ClientToAgent] = newFeed(r.junction, wire.ClientToAgent)
		r.sinks[wire.AgentToClient] = newFeed(r.junction, wire.AgentToClient)
		r.junction.start()
	}
	r.pump()
	return r
}

// pump starts the pumps.
func (r *run) pump() {
	go func() {
		p := r.pumps[wire.ClientToAgent]
		defer close(p.done)
		if err := p.run(r.in, r.sinks[wire.ClientToAgent]); err == nil {
			closeIfCloser(r.in) // so the client's writes fail, as the agent's reader would have had it
		} else {
			r.tape.ended(wire.ClientToAgent, err)
		}
		r.agent.stdin.Close()
	}()
	listen := func(dir wire.Direction, src io.Reader) {
		p := r.pumps[dir]
		defer close(p.done)
		if err := p.run(src, r.sinks[dir]); err != nil {
			r.tape.ended(dir, err)
		}
	}
	go listen(wire.AgentToClient, r.agent.stdout)
	go listen(wire.AgentStderr, r.agent.stderr)
	go func() {
		<-r.agent.exited
		<-r.pumps[wire.AgentToClient].done
		<-r.pumps[wire.AgentStderr].done
		close(r.over)
	}()
}

// events waits for the end of the agent and of its streams, and does what is
// to be done until then.
func (r *run) events(ctx context.Context, signals <-chan os.Signal) {
	var (
		told   = ctx.Done()
		gone   = r.outlets[wire.AgentToClient].broken
		mute   = r.pumps[wire.AgentToClient].done
		exited = r.agent.exited
		hangUp <-chan time.Time
		sample <-chan time.Time
		lull   lull
	)
	for {
		select {
		case sig := <-signals:
			r.tape.do(func(j Journal) { j.Signal(sig) })
			r.agent.signal(sig)
			if ends(sig) {
				r.grace = time.Now().Add(r.ending.patience)
			}
		case <-told:
			told = nil
			r.ending.begin()
		case <-gone:
			gone = nil
			r.ending.begin()
		case <-r.ending.next:
			r.ending.step()
		case <-mute:
			mute = nil
			hangUp = time.After(exitLead)
		case <-hangUp:
			r.closeOut()
		case <-exited:
			exited = nil
			ticker := time.NewTicker(r.linger / lulls)
			defer ticker.Stop()
			sample = ticker.C
		case <-sample:
			if lull.long(r) {
				return
			}
		case <-r.over:
			return
		}
	}
}

// end notes how the agent ended and lets the client know.
func (r *run) end() error {
	var delivered [wire.Directions]int64
	for dir, o := range r.outlets {
		delivered[dir] = o.delivered.Load()
	}
	code, sig := r.agent.code, r.agent.sig
	r.tape.exit(code, sig, delivered)
	if r.junction != nil {
		r.junction.close()
	}
	r.closeOut()
	if code != 0 {
		return &ExitError{Code: code, Signal: sig}
	}
	return nil
}

func (r *run) closeOut() {
	if r.out != nil {
		closeIfCloser(r.out)
	}
	r.out = nil
}

func closeIfCloser(v any) {
	if c, ok := v.(io.Closer); ok {
		c.Close()
	}
}

// An ending is how an agent is made to end: step by step, with patience.
type ending struct {
	steps    []func() // those to come
	patience time.Duration
	next     <-chan time.Time // when the next step is due; nil before the first and after the last
	begun    bool
}

// begin starts the ending with its first step, if it has not begun.
func (e *ending) begin() {
	if !e.begun {
		e.begun = true
		e.step()
	}
}

func (e *ending) step() {
	e.steps[0]()
	e.steps, e.next = e.steps[1:], nil
	if len(e.steps) > 0 {
		e.next = time.After(e.patience)
	}
}

func (e *ending) done() bool { return len(e.steps) == 0 }

// A lull is found by samples, taken after the agent's end, while its pipes are
// still open: processes that it left behind hold them.
type lull struct {
	moves   [wire.Directions]uint32 // of the pumps at the last sample
	samples int
	quiet   int // samples in a row without anything from the agent's side
}

// long takes a sample and reports whether the lull is long enough to go. All
// that the agent itself wrote has passed by then: a pump that waits has emptied
// its pipe. One that cannot get rid of what it has read is waited for, unless
// all patience is at an end. Those who talk on and on are left at their first
// pause after ten times the usual.
func (l *lull) long(r *run) bool {
	idle := true
	for _, dir := range []wire.Direction{wire.AgentToClient, wire.AgentStderr} {
		select {
		case <-r.pumps[dir].done:
			continue
		default:
		}
		moves := r.pumps[dir].moves.Load()
		if reading := moves%2 == 0; moves != l.moves[dir] || !reading && !r.ending.done() {
			idle = false
		}
		l.moves[dir] = moves
	}
	l.samples++
	l.quiet++
	if !idle {
		l.quiet = 0
	}
	if (r.ending.begun && !r.ending.done() || time.Now().Before(r.grace)) && r.agent.alive() {
		return false // the launcher has ended, the real agent takes its time
	}
	return l.quiet >= lulls || l.quiet > 0 && l.samples >= 10*lulls
}
