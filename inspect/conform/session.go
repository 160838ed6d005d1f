package conform

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A session holds what the rules know about a session before a step. Each subject's part
// is in its own file.
type session struct {
	id      string
	number  uint32 // unique on the connection
	history uint32 // unique, and new each time the session is set up
	setup   setup  // setup.go
	turn    turn   // turn.go
	mcp     mcpSession

	work       work        // two.go
	questions  questions   // agent_request.go
	unfinished []*toolCall // that began in the current turn; tool.go
	early      []*toolCall // that were updated in it but not announced yet
	offers     offers      // config_option.go
	spent      spending    // usage.go

	lost string // why it is not completely known since it was set up; empty: it is
}

// lose records that the session is not completely known until it is set up again.
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

// observe updates the state with one of the session's steps.
func (x *session) observe(s *Step) {
	if s.Update == "" && dialect.Wraps(s.Method) {
		x.lose("a part of the session passes along a proxy chain (frame " + number(s.Frame.Seq) + ")")
	}
	x.setup.observe(s)
	x.questions.observe(s)
	x.offers.observe(s)
	x.spent.observe(s)
	x.turn.observe(s)
	if s.Conn.Dialect == dialect.ACPv2 {
		x.work.observe(s)
	}
	if s.Call != nil && s.Method == "session/prompt" && len(x.turn.prompts) == 0 {
		x.unfinished, x.early = nil, nil
	}
}

// session returns the session with the given ID, or nil if it is unknown on this
// connection.
func (c *connection) session(id string) *session {
	if id == "" {
		return nil
	}
	x, _ := c.sessions.Get(id)
	return x
}

// enter returns the session with the given ID, adding it if it is unknown.
func (c *connection) enter(id string) *session {
	x := c.session(id)
	if x == nil {
		x = c.newSession(id)
		if _, full := c.sessions.Set(x.id, x); full && c.lost == "" {
			c.lost = "there are more sessions than are remembered"
		}
	}
	return x
}

// newSession returns a session about which nothing is known.
func (c *connection) newSession(id string) *session {
	c.histories++
	return &session{id: id, number: c.histories, history: c.histories}
}

// A past holds what earlier connections reveal about sessions.
type past struct {
	sessions bounded.Map[string, pastSession]
}

// A pastSession holds what earlier connections reveal about one session. It is empty if
// frames are missing there: the session may have been deleted, or its history cleared.
type pastSession struct {
	Turns int // number that its history must have
	Made  bool
}

func newPast() past {
	return past{sessions: bounded.Map[string, pastSession]{Limit: maxSessions}}
}

// keep adds what a connection reveals.
func (p *past) keep(c *connection) {
	if c.lost != "" {
		p.sessions.Clear()
	}
	for id, x := range c.sessions.All() {
		old, _ := p.sessions.Get(id)
		if x.turn.cleared {
			old.Turns = 0
		}
		if x.lost != "" {
			old = pastSession{}
		} else {
			old.Turns += x.turn.completed
			old.Made = old.Made || x.setup.made
		}
		p.sessions.Set(id, old)
	}
}

// setUp records how a step sets up, closes or deletes its session.
func (c *connection) setUp(s *Step) {
	role := dialect.RoleOf(c.Protocol, s.Method)
	switch {
	case s.Kind() == wire.Request:
		if row, ok := dialect.Lookup(c.Protocol, s.Method); ok && row.Role.Is(dialect.Restores) && s.About.Session != "" && len(s.About.Session) <= maxSessionID {
			c.restore(s)
		}
	case s.is(wire.Response):
		switch {
		case s.Call == nil:
			return
		case role.Is(dialect.Opens):
			c.opened(s)
		case role.Is(dialect.Closes) && s.Succeeded() && s.Session != nil:
			s.Session.setup.closed = s.Moment()
		case role.Is(dialect.Deletes) && s.Succeeded():
			c.deleted(s.Call.Session, s.Moment())
		}
	}
}

// restore handles the request to load or resume a session. What is known about it stays,
// since the agent may refuse; but if frames are missing, the session starts over.
func (c *connection) restore(s *Step) {
	x := c.enter(s.About.Session)
	c.histories++
	if x.lost != "" {
		*x = session{id: x.id, number: c.histories}
		x.turn.cleared = true
	}
	x.history = c.histories
	x.setup.opening = c.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)
	x.setup.replayed = 0
}
