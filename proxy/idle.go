package proxy

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// idleSamples is the number of samples taken within Proxy.Linger.
const idleSamples = 10

// An idleDetector takes samples after the agent's end while processes that it left
// running still hold its pipes open.
type idleDetector struct {
	moves   [wire.Directions]uint32 // of the pumps at the last sample
	samples int
	quiet   int // consecutive samples in which the agent's side sent nothing
}

// long takes a sample and reports whether the streams have been silent long enough to
// stop. By then everything that the agent itself wrote has passed, since a waiting pump
// has emptied its pipe. A pump blocked on a write is given until patience runs out.
// Processes that never stop writing are cut off at their first pause after ten times the
// usual wait.
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
		return false // the launcher has ended, and the real agent takes its time
	}
	return l.quiet >= idleSamples || l.quiet > 0 && l.samples >= 10*idleSamples
}
