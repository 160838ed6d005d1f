package conform

import "github.com/acptap/acptap/proxy/dialect"

// A setup is how a session came to be on its connection.
type setup struct {
	method  string // of the request that succeeded; empty: it is only named, or being opened
	asked   Moment
	done    Moment // of the answer
	opening *Call  // that opens it now, nil: none
	closed  Moment // Seq 0: it is open
}

// opened takes the answer to a request that opens a session.
func (c *connection) opened(s *Step) {
	x := s.Session
	if x != nil && x.setup.opening == s.Call {
		x.setup.opening = nil
	}
	if !s.Succeeded() {
		return
	}
	id := s.About.Session
	if id == "" {
		id = text(s.Result("sessionId"))
	}
	if id == "" {
		return
	}
	x = c.enter(id)
	x.setup = setup{method: s.Method, asked: s.Call.Moment, done: s.Moment()}
	x.lost = s.Call.lost
}

// deleted notes that a session was deleted.
func (c *connection) deleted(id string, at Moment) {}

var setupRules = []Rule{
	{
		ID: "ACP201", Name: "no-session-id",
		Clauses: []Clause{{Strength: Violation, Word: "MUST", Source: acp1("Session Setup, Session ID", "session-setup#session-id")}},
		Fault:   Agent, Needs: Pair,
		On: []On{{Responses, "session/new", dialect.AgentSide}},
		Text: Text{
			Asks:  "The answer to `session/new` has to name the session by an id, with which the client addresses it from then on.",
			Finds: "A successful answer to `session/new` without a `sessionId`, or with an empty one.",
			Do:    "put a unique `sessionId` that is not empty into the result of `session/new`",
		},
		Check: noSessionID,
	},
}

func noSessionID(s *Step, r *Report) {
	if !s.Succeeded() {
		return
	}
	r.Tried()
	if id := s.Result("sessionId"); text(id) == "" {
		r.Add(Evidence{Text: "answered session/new without an id", Path: "sessionId", Want: "a string that is not empty", Got: string(id)})
	}
}
