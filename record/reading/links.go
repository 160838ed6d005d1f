package reading

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace/nested"
)

// links find the sessions of the agent for which servers were started.
type links struct {
	said nested.Links
	part *Part // the agent's part last passed to take
}

// read handles all frames of a tape of the agent. It skips unreadable ones: reading the
// frames again reports the error.
func (l *links) read(agent *Part) {
	for f, err := range agent.Tape.Clone().Rows(1) {
		if err == nil && nested.Concern(&f) {
			l.take(agent, &f)
		}
	}
}

// take handles a frame of the agent that sets up a session, or the answer to one. It
// reads the frame's bytes from the tape if f lacks them.
func (l *links) take(agent *Part, f *dialect.Frame) {
	if l.part != agent {
		l.part = agent
		l.said.Next()
	}
	whole := *f
	if whole.Raw == nil && whole.Size > 0 {
		var err error
		if whole, err = agent.Tape.Clone().Frame(f.Seq); err != nil {
			return // reading the frame again reports it
		}
	}
	l.said.Add(&whole)
}

// resolve sets the sessions of servers that are now known. A server of a server has the
// session of its parent.
func (l *links) resolve(servers, all []*Part) {
	for _, p := range servers {
		if above := all[p.Above]; p.Session == "" && above.IsServer() {
			p.Session = above.Session
		} else if p.Session == "" {
			p.Session, _ = l.said.Session(p.Info.Start.Parent.Link)
		}
	}
}
