package reading

import (
	"iter"

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
	for f := range agent.rows(nested.Concern) {
		l.take(agent, f)
	}
}

// rows yields the wanted frames of an agent's tape, without their bytes.
func (p *Part) rows(wanted func(*dialect.Frame) bool) iter.Seq[*dialect.Frame] {
	return func(yield func(*dialect.Frame) bool) {
		for f, err := range p.Tape.Clone().Rows(1) {
			if err == nil && wanted(&f) && !yield(&f) {
				return
			}
		}
	}
}

// whole returns a frame of the part with its bytes. ok is false if they cannot be read:
// reading the frame again reports the error.
func (p *Part) whole(f *dialect.Frame) (whole dialect.Frame, ok bool) {
	if f.Raw != nil || f.Size == 0 {
		return *f, true
	}
	whole, err := p.Tape.Clone().Frame(f.Seq)
	return whole, err == nil
}

// take handles a frame of the agent that sets up a session, or the answer to one. It
// reads the frame's bytes from the tape if f lacks them.
func (l *links) take(agent *Part, f *dialect.Frame) {
	if l.part != agent {
		l.part = agent
		l.said.Next()
	}
	if whole, ok := agent.whole(f); ok {
		l.said.Add(&whole)
	}
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
