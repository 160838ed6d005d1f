package reading

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace/nested"
)

// links say for which sessions of the agent the servers were started.
type links struct {
	said nested.Links
	part *Part // of the agent, whose tape said something last
}

// read takes all that there is on a tape of the agent. What cannot be read is left out: reading
// the frames again reports it.
func (l *links) read(agent *Part) {
	for f, err := range agent.Tape.Clone().Rows(1) {
		if err == nil && nested.Concern(&f) {
			l.take(agent, &f)
		}
	}
}

// take takes a frame of the agent that sets up a session, or the answer to that. If its bytes are not
// at hand they are read from the tape.
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

// resolve notes what has become known of servers. A server of a server is of its session.
func (l *links) resolve(servers, all []*Part) {
	for _, p := range servers {
		if above := all[p.Above]; p.Session == "" && above.IsServer() {
			p.Session = above.Session
		} else if p.Session == "" {
			p.Session, _ = l.said.Session(p.Info.Start.Parent.Link)
		}
	}
}
