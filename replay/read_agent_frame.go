package replay

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// fromAgent puts a frame of the agent into its lane.
func (p *player) fromAgent(f *dialect.Frame) {
	if f.Kind == wire.Batch && p.readBatch(f) {
		return
	}
	pf := newPendingFrame(f)
	var e wire.Envelope
	if !f.Does(dialect.TellsUpdate) {
		e = rpc.Envelope(p.recording.tape, f)
	}
	p.enqueue(p.laneOf(&pf, f, e), pf, f.Raw)
}

// laneOf returns the lane of a frame of the agent, and completes pf.
func (p *player) laneOf(pf *pendingFrame, f *dialect.Frame, e wire.Envelope) *lane {
	switch e.MessageKind() {
	case wire.Response:
		return p.responseLane(pf, f, e)
	case wire.Request:
		l := p.ownLane(pf, f, e)
		pf.request = &agentRequest{seq: f.Seq, id: string(e.ID), method: f.Method, lane: l}
		replaced, forgotten := p.requests.Ask(f.Dir, f.Stream, e.ID, pf.request)
		for _, old := range []*agentRequest{replaced, forgotten} {
			if old != nil {
				old.lost = true
			}
		}
		if f.Does(dialect.AsksInput) {
			p.elicited = l
		}
		return l
	}
	return p.ownLane(pf, f, e)
}

// responseLane returns the lane of an agent's response: that of the request.
func (p *player) responseLane(pf *pendingFrame, f *dialect.Frame, e wire.Envelope) *lane {
	exp := p.calls.Answer(f.Dir, f.Stream, e.ID)
	if exp == nil {
		return p.main
	}
	p.tokens.Answer(f.Dir, exp.stream, exp.token)
	pf.reply, pf.method, exp.answered = exp, exp.method, true
	if v := e.Result.Get("protocolVersion"); v.Exists() {
		exp.version = v.Raw()
	}
	if p.protocol == dialect.MCP {
		p.recent = slices.DeleteFunc(p.recent, func(o *expectedMessage) bool { return o == exp })
	}
	return exp.lane
}

// ownLane returns the lane of an agent's request or notification.
func (p *player) ownLane(pf *pendingFrame, f *dialect.Frame, e wire.Envelope) *lane {
	switch role := dialect.RoleOf(dialect.AnyProtocol, f.Method); {
	case role.Is(dialect.TellsUpdate):
		l := p.updatesLane(f.Session)
		if l.eager > 0 && f.Update == "available_commands_update" {
			pf.pos = l.eager // the agent sends it without waiting for the preceding prompt or cancel
		}
		return l
	case role.Is(dialect.InputDone):
		if p.elicited != nil {
			return p.elicited
		}
	case role.Is(dialect.TellsProgress):
		pf.token = true
	}
	if l := p.namedLane(f, e); l != nil {
		return l
	}
	switch {
	case p.protocol == dialect.MCP:
		return p.serverLane(f.Session)
	case f.Session != "":
		return p.updatesLane(f.Session)
	case dialect.Wraps(f.Method):
		return p.latestLane()
	}
	return p.main
}

// updatesLane returns the lane of what the agent sends for a session. The client need not
// have opened it: some agents also send each update under a second id, or under a
// subagent's id. Such frames belong to the client's last open request, and must not
// precede it.
func (p *player) updatesLane(session string) *lane {
	if p.unopened[session] {
		return p.latestLane()
	}
	return p.session(session)
}

// latestLane returns the lane of the client's last open request, which a frame passed on
// by a proxy component most likely concerns.
func (p *player) latestLane() *lane {
	latest := &expectedMessage{lane: p.main}
	for exp := range p.calls.All() {
		if exp.compare(latest) > 0 {
			latest = exp
		}
	}
	return latest.lane
}

// namedLane returns the lane of the open request that a message of the agent names by its
// id or progress token, or nil. It ignores task ids: messages about a task come between
// the calls that ask about it, so they do not belong to the call that began it.
func (p *player) namedLane(f *dialect.Frame, e wire.Envelope) *lane {
	if id, by := dialect.NamedID(f.Method, dialect.RequestID, f.Dir, e.Params); id != nil {
		if exp := p.calls.Find(by, f.Stream, id); exp != nil {
			return exp.lane
		}
		if a := p.requests.Find(by, f.Stream, id); a != nil {
			a.cancelled = true
			return a.lane
		}
	}
	token, by := dialect.NamedID(f.Method, dialect.ProgressToken, f.Dir, e.Params)
	return p.tokens.Find(by, f.Stream, token)
}

// serverLane returns the lane of a message that an MCP server sends without naming a
// call. It most likely concerns its session's last open call.
func (p *player) serverLane(session string) *lane {
	for _, exp := range slices.Backward(p.recent) {
		if exp.session == session || session == "" {
			return exp.lane
		}
	}
	return p.main
}
