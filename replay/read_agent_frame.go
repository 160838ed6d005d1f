package replay

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/messages"
)

// fromAgent takes a frame of the agent.
func (p *player) fromAgent(f *dialect.Frame) {
	if f.Kind == wire.Batch && p.readBatch(f) {
		return
	}
	pf := newPendingFrame(f)
	var e wire.Envelope
	if f.Method != "session/update" {
		e = messages.Envelope(p.recording.tape, f)
	}
	p.enqueue(p.laneOf(&pf, f, e), pf, f.Raw)
}

// laneOf returns the lane that a frame of the agent belongs to.
func (p *player) laneOf(pf *pendingFrame, f *dialect.Frame, e wire.Envelope) *lane {
	switch e.MessageKind() {
	case wire.Response:
		return p.responseLane(pf, e)
	case wire.Request:
		l := p.ownLane(pf, f, e)
		pf.request = &agentRequest{seq: f.Seq, id: string(e.ID), method: f.Method, lane: l}
		replaced, forgotten := p.requests.Ask(f.Dir, e.ID, pf.request)
		for _, old := range []*agentRequest{replaced, forgotten} {
			if old != nil {
				old.lost = true
			}
		}
		if f.Method == "elicitation/create" {
			p.elicited = l
		}
		return l
	}
	return p.ownLane(pf, f, e)
}

func (p *player) responseLane(pf *pendingFrame, e wire.Envelope) *lane {
	exp := p.calls.Answer(wire.AgentToClient, e.ID)
	if exp == nil {
		return p.main
	}
	delete(p.tokens, exp.token)
	pf.reply, pf.method, exp.answered = exp, exp.method, true
	if v := gjson.GetBytes(e.Result, "protocolVersion"); v.Exists() {
		exp.version = v.Raw
	}
	if p.protocol == dialect.MCP {
		p.recent = slices.DeleteFunc(p.recent, func(o *expectedMessage) bool { return o == exp })
	}
	return exp.lane
}

// ownLane returns the lane of an agent's request or notification.
func (p *player) ownLane(pf *pendingFrame, f *dialect.Frame, e wire.Envelope) *lane {
	switch f.Method {
	case "session/update":
		l := p.session(f.Session)
		if l.eager > 0 && f.Update == "available_commands_update" {
			pf.pos = l.eager // it was on its way before what it stands behind
		}
		return l
	case "elicitation/complete":
		if p.elicited != nil {
			return p.elicited
		}
	case "notifications/progress":
		pf.token = true
	}
	if l := p.namedLane(f, e); l != nil {
		return l
	}
	switch {
	case p.protocol == dialect.MCP:
		return p.serverLane(f.Session)
	case f.Session != "":
		return p.session(f.Session)
	case dialect.Wraps(f.Method):
		return p.latestLane()
	}
	return p.main
}

// latestLane returns the lane of the client's last open request, for what is
// passed on of it.
func (p *player) latestLane() *lane {
	latest := &expectedMessage{lane: p.main}
	for exp := range p.calls.All() {
		if exp.compare(latest) > 0 {
			latest = exp
		}
	}
	return latest.lane
}

// namedLane returns the lane of what a request or notification of the agent names
// by an id: a request of either side, or the call that is to be told of its
// progress. It is nil if that is not open. What is told of tasks comes between
// the calls that ask about them, so it is not tied to the one that began the task.
func (p *player) namedLane(f *dialect.Frame, e wire.Envelope) *lane {
	if id, by := dialect.NamedID(f.Method, dialect.RequestID, f.Dir, e.Params); id != nil {
		if exp := p.calls.Find(by, id); exp != nil {
			return exp.lane
		}
		if a := p.requests.Find(by, id); a != nil {
			a.cancelled = true
			return a.lane
		}
	}
	token, _ := dialect.NamedID(f.Method, dialect.ProgressToken, f.Dir, e.Params)
	return p.tokens[string(token)]
}

// serverLane returns the lane of what a MCP server sends by itself: that of the
// call of the session that it took up last and works on, which is most likely what
// it is about.
func (p *player) serverLane(session string) *lane {
	for _, exp := range slices.Backward(p.recent) {
		if exp.session == session || session == "" {
			return exp.lane
		}
	}
	return p.main
}
