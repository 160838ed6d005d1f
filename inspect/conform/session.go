package conform

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A session is what the rules know of a session before a step. Each subject has its
// part of it, in its own file.
type session struct {
	id    string
	setup setup // setup.go
	turn  turn  // turn.go
	mcp   mcpSession

	lost string // why not all of it is known since it was set up
}

// lose notes that from here on not all of the session is known, until it is set up
// again.
func (x *session) lose(why string) {
	if x.lost == "" {
		x.lost = why
	}
	if x.setup.opening != nil {
		x.setup.opening.lost = why
	}
}

// lacks returns why the session cannot be judged; empty if it can.
func (x *session) lacks() string {
	if x.lost == "" && x.setup.method == "" && x.setup.opening == nil {
		return "the set-up of the session is not on the tape"
	}
	return x.lost
}

// observe takes a step of the session into the state.
func (x *session) observe(s *Step) {
	x.turn.observe(s)
}

// session returns the session with an id, nil if it is not known on this connection.
func (c *connection) session(id string) *session {
	if id == "" {
		return nil
	}
	x, _ := c.sessions.Get(id)
	return x
}

// enter returns the session with an id, which it adds if it is not known.
func (c *connection) enter(id string) *session {
	x := c.session(id)
	if x == nil {
		x = &session{id: id}
		if _, full := c.sessions.Set(id, x); full {
			c.past.forgot = true
		}
	}
	return x
}

// A past is what is known of sessions from connections before.
type past struct {
	sessions bounded.Map[string, pastSession]
	forgot   bool // there were more sessions than are remembered
}

// A pastSession is what earlier connections tell of a session.
type pastSession struct {
	Turns int // that ended
	Made  bool
}

func newPast() past {
	return past{sessions: bounded.Map[string, pastSession]{Limit: maxSessions}}
}

// keep takes in what a connection tells.
func (p *past) keep(c *connection) {
	for id, x := range c.sessions.All() {
		old, _ := p.sessions.Get(id)
		old.Turns += x.turn.ended
		old.Made = old.Made || x.setup.method == "session/new"
		p.sessions.Set(id, old)
	}
}

// setUp takes a step into the state of how its session was set up.
func (c *connection) setUp(s *Step) {
	effect := dialect.EffectOf(c.Protocol, s.Method)
	switch {
	case s.Kind() == wire.Request:
		if row, ok := dialect.Lookup(c.Protocol, s.Method); ok && row.Restores() && s.About.Session != "" {
			x := c.enter(s.About.Session)
			x.setup.opening = c.calls.Find(s.Frame.Dir, s.Envelope.ID)
			x.lost = ""
		}
	case s.is(wire.Response):
		switch {
		case s.Call == nil:
			return
		case effect == dialect.Opens:
			c.opened(s)
		case effect == dialect.Closes && s.Succeeded() && s.Session != nil:
			s.Session.setup.closed = s.Moment()
		case effect == dialect.Deletes && s.Succeeded():
			c.sessions.Drop(s.Call.Session)
			c.deleted(s.Call.Session, s.Moment())
		}
	}
}
