package proxy

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// exitLead is how long the end of stdout is kept from the client to let the agent's exit
// come first, which usually happens at once. A client may kill us when it sees that end,
// and by then the tape should say how the agent ended.
const exitLead = 50 * time.Millisecond

// A run is one call of Proxy.Run, from the agent's start onward.
type run struct {
	agent        *agent
	gate         *recorderGate
	in           io.Reader
	out          io.Writer
	linger       time.Duration
	grace        time.Time // deadline for a process that got a signal to end in its own way
	shutdown     shutdown
	destinations [wire.Directions]*destination
	pumps        [wire.Directions]*pump
	sinks        [wire.Directions]sink
	pipeline     *pipeline   // nil without Interceptors
	asked        chan func() // requests from Interceptors
	code         *int        // status to end with; nil: the agent's own
	sig          os.Signal   // goes with code, as in ExitError
	hungUp       sync.Once
	over         chan struct{} // closed when the agent has exited and its streams have ended
}

func newRun(p *Proxy, a *agent, g *recorderGate, chain []Interceptor) *run {
	r := &run{
		agent:  a,
		gate:   g,
		in:     p.In,
		out:    p.Out,
		linger: p.linger(),
		over:   make(chan struct{}),
		asked:  make(chan func(), 16),

		shutdown: newShutdown(a, p.Patience),
	}
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
	r.destinations = [wire.Directions]*destination{newDestination(a.stdin), newDestination(r.out), newDestination(err)}
	for dir := range wire.Directions {
		r.pumps[dir] = newPump()
		r.sinks[dir] = tap{dir: dir, gate: g, destination: r.destinations[dir]}
	}
	if len(chain) > 0 {
		r.pipeline = newPipeline(chain, g, r.destinations)
		r.pipeline.handle = r.handle()
		for dir := range wire.Directions {
			r.sinks[dir] = newFrameReader(r.pipeline, dir)
		}
		r.pipeline.start()
	}
	r.pump()
	return r
}

// handle returns the Handle for Interceptors.
func (r *run) handle() Handle {
	ask := func(what func()) {
		select {
		case r.asked <- what:
		case <-r.pipeline.closed:
		}
	}
	return Handle{
		Signal: func(sig os.Signal) { ask(func() { r.signal(sig) }) },
		HangUp: func() { r.pipeline.endStdout(r.hangUp) },
		Exit: func(code int, sig os.Signal) {
			r.pipeline.endStdout(func() { ask(func() { r.exit(code, sig) }) })
		},
		Hurry: r.pipeline.hurry,
	}
}

// signal passes a signal on.
func (r *run) signal(sig os.Signal) {
	r.gate.do(func(j Journal) { j.Signal(sig) })
	r.agent.signal(sig)
	if ends(sig) {
		r.grace = time.Now().Add(r.shutdown.patience)
		r.rush()
	}
}

// rush makes everything that waits be written at once.
func (r *run) rush() {
	if r.pipeline != nil {
		r.pipeline.rush()
	}
}

// shutDown starts making the agent end.
func (r *run) shutDown() {
	r.rush()
	r.shutdown.begin()
}

// hangUp closes stdout after everything it is to receive.
func (r *run) hangUp() {
	r.pipeline.write(&r.pipeline.queues[wire.AgentToClient])
	r.closeOut()
}

// exit ends the agent with a different status from its own.
func (r *run) exit(code int, sig os.Signal) {
	if r.code != nil {
		return
	}
	r.code, r.sig = &code, sig
	close(r.pipeline.quit)
	r.rush()
	r.shutdown.force()
}

// pump starts the pumps.
func (r *run) pump() {
	go func() {
		p := r.pumps[wire.ClientToAgent]
		defer close(p.done)
		if err := p.run(r.in, r.sinks[wire.ClientToAgent]); err == nil {
			closeIfCloser(r.in) // so that the client's writes fail, as they would without a proxy
		} else {
			r.gate.ended(wire.ClientToAgent, err)
		}
		r.agent.stdin.Close()
	}()
	listen := func(dir wire.Direction, src io.Reader) {
		p := r.pumps[dir]
		defer close(p.done)
		if err := p.run(src, r.sinks[dir]); err != nil {
			r.gate.ended(dir, err)
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

// events waits for the end of the agent and of its streams, and handles signals and
// requests until then.
func (r *run) events(ctx context.Context, signals <-chan os.Signal) {
	var (
		told   = ctx.Done()
		gone   = r.destinations[wire.AgentToClient].broken
		mute   = r.pumps[wire.AgentToClient].done
		exited = r.agent.exited
		hangUp <-chan time.Time
		sample <-chan time.Time
		idle   idleDetector
	)
	for {
		select {
		case sig := <-signals:
			r.signal(sig)
		case what := <-r.asked:
			what()
		case <-told:
			told = nil
			r.shutDown()
		case <-gone:
			gone = nil
			r.shutDown()
		case <-r.shutdown.next:
			r.shutdown.step()
		case <-mute:
			mute = nil
			hangUp = time.After(exitLead)
		case <-hangUp:
			r.closeOut()
		case <-exited:
			exited = nil
			ticker := time.NewTicker(r.linger / idleSamples)
			defer ticker.Stop()
			sample = ticker.C
		case <-sample:
			if idle.long(r) {
				return
			}
		case <-r.over:
			return
		}
	}
}

// end records how the agent ended and lets the client know.
func (r *run) end() error {
	var delivered [wire.Directions]int64
	for dir, o := range r.destinations {
		delivered[dir] = o.delivered.Load()
	}
	code, sig := r.agent.code, r.agent.sig
	if r.code != nil {
		code, sig = *r.code, r.sig
	}
	r.gate.exit(code, sig, delivered)
	if r.pipeline != nil {
		r.pipeline.close()
	}
	r.closeOut()
	if code != 0 {
		return &ExitError{Code: code, Signal: sig}
	}
	return nil
}

func (r *run) closeOut() {
	r.hungUp.Do(func() { closeIfCloser(r.out) })
}

func closeIfCloser(v any) {
	if c, ok := v.(io.Closer); ok {
		c.Close()
	}
}
