package conform

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// metaSession is the key of the session in a request or result of the data-layer draft.
const metaSession = "io.modelcontextprotocol/session"

// sessionUnknown is the draft's error code for an unknown session.
const sessionUnknown = -32043

// sessionStates holds hashes of the states that the server gave a session, newest last.
type sessionStates struct {
	known  []sessionState
	forgot bool // there were more
}

// A sessionState is an element of sessionStates.
type sessionState struct {
	hash uint64
	at   Moment
}

// maxStates limits the states remembered per session: a request may have crossed newer
// ones.
const maxStates = 16

// observeState records the state that an answer gives a session.
func observeState(s *Step) {
	if s.Call == nil || !s.Succeeded() || s.From != Agent {
		return
	}
	given := s.Result("_meta", metaSession)
	if creates(s.Method) {
		given = s.Result("session")
	}
	x := s.Conn.session(wire.Text(wire.Get(given, "sessionId")))
	if state := wire.Get(given, "state"); x != nil && wire.Present(state) {
		x.mcp.states.add(sessionState{hashOfState(state), s.Moment()})
	}
}

// hashOfState returns a state's hash, independent of its JSON formatting.
func hashOfState(state []byte) uint64 {
	if unquoted, ok := wire.Unquote(state); ok {
		state = unquoted
	}
	return maphash.Bytes(seed, state)
}

func (t *sessionStates) add(state sessionState) {
	t.known = append(t.known, state)
	if len(t.known) > maxStates {
		t.known, t.forgot = slices.Delete(t.known, 0, 1), true
	}
}

// allows reports whether a request may have a state: the latest that the client has read,
// a later one, or any state while one of the session's requests is open.
func (t *sessionStates) allows(s *Step, hash uint64) bool {
	open := s.sessionIsBusy()
	for _, state := range slices.Backward(t.known) {
		if state.hash == hash {
			return true
		}
		if !open && s.hasReadState(state.at) {
			return false
		}
	}
	return t.forgot
}

// sessionIsBusy reports whether the client is waiting for an answer in the step's
// session.
func (s *Step) sessionIsBusy() bool {
	for c := range s.Conn.calls.All() {
		if c.From == Client && c.Session == s.About.Session {
			return true
		}
	}
	return false
}

// hasReadState reports whether the client must have read a state. A client that knows the
// session has read the answer that created it.
func (s *Step) hasReadState(at Moment) bool {
	return at.Seq <= s.Session.setup.done.Seq || s.HasRead(at)
}

var mcpDataLayerRules = checks{
	{"MCP321", createMeta},
	{"MCP322", createResult},
	{"MCP323", answerID},
	{"MCP324", stateOf},
	{"MCP326", unknownID},
	{"MCP327", lostData},
}

func createMeta(s *Step, r *Report) {
	v := s.Param("_meta", metaSession)
	r.Judge(v != nil, Evidence{Text: "named a session in the request for a new one", Path: metaSessionPath, Got: string(v)})
}

// metaSessionPath is the path of the session.
const metaSessionPath = `_meta["` + metaSession + `"]`

// dataSession returns the session in a request's _meta; empty if it names none, or its
// params were not kept.
func dataSession(call *Call) string {
	return wire.Text(wire.Get(call.Params, "_meta", metaSession, "sessionId"))
}

func createResult(s *Step, r *Report) {
	id := s.Result("session", "sessionId")
	r.Judge(!isVisible(wire.Text(id)), Evidence{Text: "made a session without an id that can be used", Path: "session.sessionId", Want: "characters from 0x21 to 0x7E", Got: string(id)})
}

func answerID(s *Step, r *Report) {
	id := dataSession(s.Call)
	if id == "" || creates(s.Method) || deletes(s.Method) {
		return
	}
	r.Tried()
	answered := s.Result("_meta", metaSession, "sessionId")
	e := Evidence{Path: metaSessionPath + ".sessionId", Want: id, Got: string(answered), Because: []uint64{s.Call.Seq}}
	switch {
	case wire.Text(answered) == id:
		return
	case answered == nil:
		e.Text = "answered a request with a session (frame " + number(s.Call.Seq) + ") without one"
	default:
		e.Text = "answered a request (frame " + number(s.Call.Seq) + ") with another session"
	}
	r.Add(e)
}

func stateOf(s *Step, r *Report) {
	in := s.Param("_meta", metaSession)
	x := s.Session
	if in == nil || x == nil || !creates(x.setup.method) || deletes(s.Method) || wire.Text(wire.Get(in, "sessionId")) != x.id || len(x.mcp.states.known) == 0 {
		return
	}
	r.Tried()
	states := &x.mcp.states
	first, newest := states.known[0].at, states.known[len(states.known)-1].at
	state := wire.Get(in, "state")
	e := Evidence{Path: metaSessionPath + ".state", Got: string(state), In: x, Because: []uint64{newest.Seq}}
	switch {
	case !wire.Present(state) && s.hasReadState(first):
		e.Text = "sent no state, and the server had given one (frame " + number(newest.Seq) + ")"
	case wire.Present(state) && !states.allows(s, hashOfState(state)):
		e.Text = "sent another state than the server gave (frame " + number(newest.Seq) + ")"
	default:
		return
	}
	r.Add(e)
}

func unknownID(s *Step, r *Report) {
	if s.Call == nil || s.Kind() != wire.Response {
		return
	}
	at, over := s.ended(dataSession(s.Call))
	if !over || s.Call.Seq < at.Seq {
		return
	}
	r.Tried()
	e := Evidence{Because: []uint64{at.Seq, s.Call.Seq}, Of: s.Call, Want: fmt.Sprint("error ", sessionUnknown)}
	switch {
	case s.Succeeded():
		e.Text = "accepted " + s.Method + " in a session that was deleted (frame " + number(at.Seq) + ")"
	case code(s.Envelope.Error) != sessionUnknown:
		e.Text, e.Path, e.Strength = "refused a deleted session (frame "+number(at.Seq)+") with another error", "error.code", Warning
		e.Got = string(wire.Get(s.Envelope.Error, "code"))
	default:
		return
	}
	r.Add(e)
}

func lostData(s *Step, r *Report) {
	id := dataSession(s.Call)
	if id == "" || code(s.Envelope.Error) != sessionUnknown {
		return
	}
	named := wire.Get(s.Envelope.Error, "data", "sessionId")
	r.Judge(wire.Text(named) != id, Evidence{Text: "did not say which session is unknown", Path: "error.data.sessionId", Want: id, Got: string(named), Because: []uint64{s.Call.Seq}})
}
