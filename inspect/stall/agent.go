package stall

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An agent hangs if it ends too early or too late: too early in the middle of work, unless
// its client wanted it to end; too late if its client has closed stdin and no work is left.
type agent struct {
	left   place // when the client closed stdin; Seq 0: not yet
	heard  place // the agent's last frame since then
	wanted bool  // the client has left, or has sent a signal that ends programs
	idle   bool  // no work is open
	ended  bool
	broke  place  // when it ended too early; Seq 0: it has not
	work   string // what it was doing when it ended
}

// take takes the next frame, and the work that is open after it.
func (a *agent) take(f *dialect.Frame, here place, open *work) {
	a.idle = open.idle()
	switch m := wire.ReadMark(f.Frame); {
	case f.Events.Has(dialect.AgentEnded):
		a.ended = true
		if !a.idle && !a.wanted {
			a.broke, a.work = here, open.name()
		}
	case m.EOF && f.Dir == wire.ClientToAgent:
		a.left, a.heard, a.wanted = here, here, true
	case dialect.EndsProgram(m.Signal):
		a.wanted = true
	case f.Dir == wire.AgentToClient && f.Kind != wire.Mark:
		a.heard = here
	}
}

func (a *agent) waits() (wait, bool) {
	switch {
	case a.broke.seq != 0:
		return wait{Gone, a.broke}, true
	case a.left.seq != 0 && !a.ended && a.idle:
		return wait{Gone, a.heard}, true
	}
	return wait{}, false
}

func (a *agent) names() (session string, turn int, details []string) {
	if a.broke.seq != 0 {
		return "", 0, []string{"the agent ended in the middle of " + a.work}
	}
	return "", 0, []string{"the agent has not ended since its client left"}
}
