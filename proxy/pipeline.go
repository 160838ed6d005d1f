package proxy

import (
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// A pipeline is where the two directions meet an Interceptor. One lock orders
// all: what the Interceptor decides, the tape, and the queues. It is never held
// while a peer is written to, so that one that does not read stops only the
// stream that leads to it.
type pipeline struct {
	gate   *recorderGate
	closed chan struct{}
	failed chan struct{} // closed when the Interceptor has panicked

	mu          sync.Mutex     // guards the rest
	interceptor Interceptor    // nil when it has panicked
	cond        sync.Cond      // broadcast when a queue has moved on
	queues      [2]outputQueue // by direction
	out         []wire.Frame
}

func newPipeline(i Interceptor, g *recorderGate, destinations [wire.Directions]*destination) *pipeline {
	p := &pipeline{interceptor: i, gate: g, closed: make(chan struct{}), failed: make(chan struct{})}
	p.cond.L = &p.mu
	for dir := range p.queues {
		p.queues[dir] = outputQueue{dir: wire.Direction(dir), splitter: wire.Splitter{Limit: maxFrame}, destination: destinations[dir]}
	}
	return p
}

func (p *pipeline) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, _ := p.ask(func(out []wire.Frame) []wire.Frame {
		p.interceptor.Start(Handle{Do: p.do})
		return out
	})
	p.send(out, -1)
}

// close lets those go who wait in do, or for the end of a stream. The gate is
// closed.
func (p *pipeline) close() {
	close(p.closed)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cond.Broadcast()
}

func (p *pipeline) do(act func(out []wire.Frame) []wire.Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for (p.queues[0].open || p.queues[1].open) && p.interceptor != nil && p.gate.open() {
		p.cond.Wait() // else all that is sent meanwhile would have to be kept
	}
	if p.interceptor == nil || !p.gate.open() {
		return false
	}
	before := [2]int64{p.queues[0].put, p.queues[1].put}
	out, ok := p.ask(act)
	p.send(out, -1)
	p.spill()
	after := [2]int64{p.queues[0].put, p.queues[1].put} // before drain, which lets others put
	for i := range p.queues {
		if after[i] > before[i] {
			go p.write(&p.queues[i]) // a write that blocks cannot be called off
		}
	}
	for i := range p.queues {
		for ok && after[i] > before[i] && p.queues[i].written < after[i] && p.gate.open() {
			p.cond.Wait()
		}
	}
	return ok
}

func (p *pipeline) write(q *outputQueue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drain(q)
}

// send puts the frames that the Interceptor returned where they go. The one at
// the index passed is what was shown to it.
func (p *pipeline) send(out []wire.Frame, passed int) {
	for i, f := range out {
		switch {
		case i == passed:
			f.Origin = wire.Wire
		case f.Origin != wire.Rewritten:
			f.Origin = wire.Injected
		}
		p.put(f)
	}
	clear(out) // may hold large frames
	p.out = out[:0]
}
