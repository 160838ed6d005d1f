package proxy

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// idleSamples is how many samples are taken in the time of Proxy.Linger.
const idleSamples = 10

// An idleDetector takes samples after the agent's end, while its pipes are
// still open: processes that it left behind hold them.
type idleDetector struct {
	moves   [wire.Directions]uint32 // of the pumps at the last sample
	samples int
	quiet   int // samples in a row without anything from the agent's side
}

// long takes a sample and reports whether nothing has come for long enough to go. All
// that the agent itself wrote has passed by then: a pump that waits has emptied
// its pipe. One that cannot get rid of what it has read is waited for, unless
// all patience is at an end. Those who talk on and on are left at their first
// pause after ten times the usual.
func (l *idleDetector) long(r *run) bool {
	idle := true
	for _, dir := range []wire.Direction{wire.AgentToClient, wire.AgentStderr} {
		select {
		case <-r.pumps[dir].done:
			continue
		default:
		}
		moves := r.pumps[dir].moves.Load()
		if reading := moves%2 == 0; moves != l.moves[dir] || !reading && !r.shutdown.done() {
			idle = false
		}
		l.moves[dir] = moves
	}
	l.samples++
	l.quiet++
	if !idle {
		l.quiet = 0
	}
	if (r.shutdown.begun && !r.shutdown.done() || time.Now().Before(r.grace)) && r.agent.alive() {
		return false // the launcher has ended, the real agent takes its time
	}
	return l.quiet >= idleSamples || l.quiet > 0 && l.samples >= 10*idleSamples
}
