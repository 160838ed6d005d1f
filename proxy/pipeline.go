package proxy

import (
	"slices"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// MaxFrame is the length of the longest line shown to Interceptors.
const MaxFrame = 16 << 20

const (
	// maxBacklog limits the bytes sent in the other direction that may wait before a
	// stream stops being read.
	maxBacklog = 1 << 20

	// maxKept is the size of the largest buffer kept for reuse.
	maxKept = 1 << 20
)

// A pipeline is where the streams meet the chain of Interceptors. One lock orders
// everything: what the Interceptors decide, the tape, and the queues. It is never held
// while a peer is written to, so a peer that does not read stops only the stream that leads
// to it.
type pipeline struct {
	gate   *recorderGate
	closed chan struct{} // closed when Run is over
	handle Handle        // without Do, which differs by stage
	quit   chan struct{} // closed by Handle.Exit
	hurry  chan struct{} // closed when waiting for a pace must end
	rushed sync.Once     // closes hurry

	mu     sync.Mutex // guards the rest
	cond   sync.Cond  // broadcast when a queue has advanced
	stages []stage    // from the client's end to the agent's
	queues [wire.Directions]outputQueue
	out    []wire.Frame // reused for the next output of the chain

	splitters [2]wire.Splitter // for what client and agent say

	cutting sync.Mutex
	cuts    []func() // guarded by cutting: what to do once stdout has ended
}

func newPipeline(chain []Interceptor, g *recorderGate, destinations [wire.Directions]*destination) *pipeline {
	p := &pipeline{gate: g, closed: make(chan struct{}), quit: make(chan struct{}), hurry: make(chan struct{}), stages: make([]stage, len(chain))}
	p.cond.L = &p.mu
	for i, in := range chain {
		p.stages[i] = stage{place: i, interceptor: in, failed: make(chan struct{}), wants: [2]bool{true, true}}
	}
	for i := range p.splitters {
		p.splitters[i].Limit = MaxFrame
	}
	for dir := range p.queues {
		p.queues[dir] = outputQueue{dir: wire.Direction(dir), destination: destinations[dir], limit: -1}
	}
	return p
}

// start starts the Interceptors.
func (p *pipeline) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.stages {
		s := &p.stages[i]
		out, _ := p.act(s, func(i Interceptor, out []wire.Frame) []wire.Frame {
			if selector, ok := i.(Selector); ok {
				s.wants = [2]bool{selector.Wants(wire.ClientToAgent), selector.Wants(wire.AgentToClient)}
			}
			s.pacer, _ = i.(Pacer)
			h := p.handle
			h.Do = func(act func(out []wire.Frame) []wire.Frame) bool { return p.do(s, act) }
			i.Start(h)
			return out
		})
		p.send(s, out)
	}
}

// close unblocks goroutines waiting in do or for the end of a stream. The gate is closed by
// then.
func (p *pipeline) close() {
	close(p.closed)
	p.rush()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cond.Broadcast()
}

// alive reports whether any Interceptor has not panicked.
func (p *pipeline) alive() bool {
	return slices.ContainsFunc(p.stages, func(s stage) bool { return s.interceptor != nil })
}

// framed reports whether a direction is cut into frames because an Interceptor wants to
// see them.
func (p *pipeline) framed(dir wire.Direction) bool {
	if dir == wire.AgentStderr {
		return false
	}
	for i := range p.stages {
		if p.stages[i].shown(dir) {
			return true
		}
	}
	return false
}

// do implements Handle.Do for a stage.
func (p *pipeline) do(s *stage, act func(out []wire.Frame) []wire.Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.inLongLine() && s.interceptor != nil && p.gate.open() {
		p.cond.Wait() // otherwise everything sent meanwhile would have to be kept
	}
	if s.interceptor == nil || !p.gate.open() {
		return false
	}
	before := p.positions()
	out, ok := p.act(s, func(_ Interceptor, out []wire.Frame) []wire.Frame { return act(out) })
	p.send(s, out)
	p.spill()
	after := p.positions() // before drain, during which others may put
	for i := range p.queues {
		if after[i].put > before[i].put {
			go p.write(&p.queues[i]) // a blocked write cannot be cancelled
		}
	}
	for i := range p.queues {
		for want := after[i]; ok && want != before[i] && !p.queues[i].reached(&want) && p.gate.open(); {
			p.cond.Wait()
		}
	}
	return ok
}

// positions returns the ends of the queues.
func (p *pipeline) positions() (ends [wire.Directions]position) {
	for i := range p.queues {
		ends[i] = position{put: p.queues[i].put, waited: p.queues[i].waited}
	}
	return ends
}

// inLongLine reports whether a line too long to be shown is currently passing.
func (p *pipeline) inLongLine() bool {
	for i := range p.queues {
		if p.queues[i].open && p.framed(wire.Direction(i)) {
			return true
		}
	}
	return false
}

func (p *pipeline) write(q *outputQueue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drain(q)
}

// endStdout ends the client's stdout after what has been sent, including by the current
// call, and then calls then.
func (p *pipeline) endStdout(then func()) {
	p.cutting.Lock()
	p.cuts = append(p.cuts, then)
	p.cutting.Unlock()
	go func() { // a call in progress holds the lock; otherwise this runs at once
		p.mu.Lock()
		defer p.mu.Unlock()
		p.cut()
	}()
}

// cut runs what endStdout registered.
func (p *pipeline) cut() {
	p.cutting.Lock()
	cuts := p.cuts
	p.cuts = nil
	p.cutting.Unlock()
	for _, then := range cuts {
		q := &p.queues[wire.AgentToClient]
		p.note(q, wire.Wire)
		if q.limit < 0 {
			q.limit = q.put
		}
		go then()
	}
}
