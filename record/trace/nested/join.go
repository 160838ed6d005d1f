// Package nested joins the tapes of MCP servers to the tape of the agent that started them: it
// finds the tool call of a session that led to a call of a server. Usually nothing on the wire
// says so. A Join therefore weighs evidence and always reports which evidence it used. A call
// with too little evidence is placed in a turn by its time.
//
// The package stores nothing and reads no clock. Equal frames give equal joins, regardless of
// the order in which frames of different tapes are added.
// order frames of different tapes are added.
package nested

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Join follows the tapes of an agent and of the servers that it started. Its zero value
// is ready to use; it is not safe for concurrent use.
type Join struct {
	Links Links
	Tapes []*Tape

	// Partial means that the agent may have started servers whose tapes are missing.
	Partial bool

	runs     []*agentTape
	hosted   hosted
	heard    time.Time // time of the agent's last frame
	ended    bool      // no more frames will come
	sessions map[string]*session
	order    []*session
	tools    map[*trace.Entity]*tool
	owners   map[*trace.Entity]*session // by anchor
}

// An agentTape is a tape of the agent.
type agentTape struct {
	id    string
	start time.Time
	met   []string // the first two sessions on the tape
}

// A Joined is a call with the evidence for its tool call; NoEvidence if only its turn is
// known.
type Joined struct {
	*Call
	By Evidence
}

// Next begins another tape of the agent. A Join compares times across tapes, so all start
// times must come from the same clock.
func (j *Join) Next(tape string, start time.Time) {
	j.hostEnded()
	j.hosted = hosted{}
	j.Links.Next()
	j.runs = append(j.runs, &agentTape{id: tape, start: start})
}

// Nested adds the tape of a server, whose frames are then added to t.
func (j *Join) Nested(t *Tape) { j.Tapes = append(j.Tapes, t) }

// End marks the agent's tapes as finished.
func (j *Join) End() {
	j.hostEnded()
	j.ended = true
}

// Pass handles the next frame of the agent's tape in place of Take if the frame does not
// belong to the session being read. Such a frame may still reveal for which session a server
// was started.
func (j *Join) Pass(f *dialect.Frame) {
	j.Links.Add(f)
	j.Links.turned(f)
	j.host(f)
}

// Take handles the next frame of the agent's tape, with its bytes, and the events of tr,
// to which it was just added. tr must take the client's point of view, and must not be
// Brief.
func (j *Join) Take(f *dialect.Frame, tr *trace.Trace) {
	run := j.runs[len(j.runs)-1]
	j.heard = run.start.Add(f.At)
	j.Pass(f)
	for _, e := range tr.Events() {
		switch e.Kind {
		case trace.SessionEvent:
			if e.Phase == trace.Began && !slices.Contains(run.met, e.SessionID) && len(run.met) < 2 {
				run.met = append(run.met, e.SessionID)
			}
		case trace.TurnEvent:
			s := j.session(e.SessionID)
			s.changed = true
			if e.Phase == trace.Began {
				j.anchor(s, e.Session.Conversation.Changed, e.Turn, run.start)
			}
		case trace.ToolCallEvent:
			j.tool(&e, run)
		}
	}
	if f.AtClient() && (f.Kind == wire.Batch || f.Update == "tool_call" || f.Update == "tool_call_update" || f.Does(dialect.AsksPermission)) {
		for m, e := range f.Messages {
			j.told(m.Session, e)
		}
	}
}

// tool handles an event of a tool call.
func (j *Join) tool(e *trace.Event, run *agentTape) {
	s := j.session(e.SessionID)
	s.changed = true
	if e.Repeated || j.tools[e.ToolCall] != nil {
		return
	}
	if j.tools == nil {
		j.tools = map[*trace.Entity]*tool{}
	}
	t := newTool(e.ToolCall, run.start, turnOf(e.Session, e.ToolCall.Turn))
	j.tools[e.ToolCall] = t
	s.tools, s.newest[t.ToolCall.ID] = append(s.tools, t), t
	j.anchor(s, e.ToolCall, t.turn, run.start)
}

// anchor adds a prompt or a tool call of a turn. Calls that belong to no tool call are listed
// after the preceding anchor.
func (j *Join) anchor(s *session, e *trace.Entity, turn *trace.Turn, start time.Time) {
	if e == nil || turn == nil {
		return
	}
	if j.owners == nil {
		j.owners = map[*trace.Entity]*session{}
	}
	j.owners[e] = s
	s.anchors = append(s.anchors, anchor{e, start.Add(e.Began), turn, start})
}

func turnOf(s *trace.Session, number int) *trace.Turn {
	for _, t := range slices.Backward(s.Conversation.Turns) {
		if t.Number <= number {
			if t.Number == number {
				return t
			}
			break
		}
	}
	return nil
}

// told applies what a message reveals about a tool call.
func (j *Join) told(session string, e wire.Envelope) {
	params := e.Params.Value()
	for _, path := range []string{"update", "toolCall", "subject.toolCall"} {
		u := params.Get(path)
		if id := u.Get("toolCallId").Text(); id != "" {
			s := j.session(session)
			if t := s.newest[id]; t != nil {
				t.take(u)
				s.changed = true
			}
		}
	}
}

// session returns the state of a session, creating it if there is none.
func (j *Join) session(id string) *session {
	s := j.sessions[id]
	if s == nil {
		s = &session{newest: map[string]*tool{}}
		if j.sessions == nil {
			j.sessions = map[string]*session{}
		}
		j.sessions[id] = s
		j.order = append(j.order, s)
	}
	return s
}

// Of returns the calls that a tool call led to, in order of time. For a prompt or a tool call
// it includes the unattributed calls that follow it in the turn, up to the next one.
func (j *Join) Of(e *trace.Entity) []Joined {
	j.update()
	var list []Joined
	if t := j.tools[e]; t != nil {
		list = append(list, t.calls...)
	}
	if s := j.owners[e]; s != nil {
		for _, c := range s.loose[e] {
			list = append(list, Joined{c, NoEvidence})
		}
	}
	slices.SortStableFunc(list, func(a, b Joined) int { return a.Began.Compare(b.Began) })
	return list
}

// update joins what has arrived since the last update.
func (j *Join) update() {
	for _, t := range j.Tapes {
		if t.changes != t.seen || t.session == "" {
			j.assign(t)
		}
	}
	for _, s := range j.order {
		if s.changed {
			s.pair()
			s.settle(j.allHeard().Add(-settleAfter))
			s.changed = false
		}
	}
}

// assign attributes a server's calls to the session that the server was started for.
func (j *Join) assign(t *Tape) {
	id, ok := t.owner, t.hosted
	if !ok {
		id, ok = j.Links.Session(t.Link)
	}
	i := slices.IndexFunc(j.runs, func(r *agentTape) bool { return r.id == t.Parent })
	if !ok && j.ended && i >= 0 && len(j.runs[i].met) == 1 { // the setup is not on the tape, but there is only one session
		id = j.runs[i].met[0]
	}
	if id == "" {
		return
	}
	s := j.session(id)
	if t.session != id && t.session != "" {
		j.session(t.session).drop(t)
		t.taken = 0
	}
	s.insert(t.Calls[t.taken:])
	t.session, t.taken, t.seen, s.changed = id, len(t.Calls), t.changes, true
}

// Servers returns the tapes of the servers that were started for a session.
func (j *Join) Servers(session string) []*Tape {
	j.update()
	var tapes []*Tape
	for _, t := range j.Tapes {
		if t.session == session {
			tapes = append(tapes, t)
		}
	}
	return tapes
}

// allHeard returns the time up to which all tapes have been read.
func (j *Join) allHeard() time.Time {
	least := j.heard
	for _, t := range j.Tapes {
		if !t.ended && !t.hosted && t.heard.Before(least) {
			least = t.heard
		}
	}
	return least
}

// settleAfter is how long after a call something that belongs to it can still arrive.
const settleAfter = 2 * time.Duration(maxLate)

// order compares calls by time, then by tape and frame.
func order(a, b *Call) int {
	return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Tape.ID, b.Tape.ID), cmp.Compare(a.Request, b.Request))
}
