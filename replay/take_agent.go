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
	if f.Kind == wire.Batch && p.array(f) {
		return
	}
	h := newHeld(f)
	var e wire.Envelope
	if f.Method != "session/update" {
		e = messages.Envelope(p.script.tape, f)
	}
	p.hold(p.laneOf(&h, f, e), h, f.Raw)
}

func newHeld(f *dialect.Frame) held {
	return held{
		seq: f.Seq, pos: f.Seq, at: f.At, dir: f.Dir, end: f.End, entry: -1,
		method: f.Method, ends: f.Events.Has(dialect.TurnEnded), long: int64(len(f.Raw)) < f.Size,
	}
}

// laneOf returns the lane that a frame of the agent belongs to.
func (p *player) laneOf(h *held, f *dialect.Frame, e wire.Envelope) *lane {
	switch messages.Kind(e) {
	case wire.Response:
		return p.responseLane(h, e)
	case wire.Request:
		l := p.ownLane(h, f, e)
		id := string(e.ID)
		if old := p.asks[id]; old != nil {
			old.lost = true
		}
		h.ask = &ask{seq: f.Seq, id: id, method: f.Method, lane: l}
		p.asks[id] = h.ask
		if f.Method == "elicitation/create" {
			p.elicited = l
		}
		return l
	}
	return p.ownLane(h, f, e)
}

func (p *player) responseLane(h *held, e wire.Envelope) *lane {
	c := p.calls[string(e.ID)]
	if c == nil {
		return p.main
	}
	delete(p.calls, c.id)
	delete(p.tokens, c.token)
	h.reply, h.method, c.answered = c, c.method, true
	if v := gjson.GetBytes(e.Result, "protocolVersion"); v.Exists() {
		c.version = v.Raw
	}
	if p.protocol == dialect.MCP {
		p.recent = slices.DeleteFunc(p.recent, func(o *cue) bool { return o == c })
	}
	return c.lane
}

// ownLane returns the lane of an agent's request or notification.
func (p *player) ownLane(h *held, f *dialect.Frame, e wire.Envelope) *lane {
	switch f.Method {
	case "session/update":
		l := p.session(f.Session)
		if l.eager > 0 && f.Update == "available_commands_update" {
			h.pos = l.eager // it was on its way before what it stands behind
		}
		return l
	case "elicitation/complete":
		if p.elicited != nil {
			return p.elicited
		}
	case "notifications/progress":
		h.token = true
	}
	if l := p.namedLane(f, e); l != nil {
		return l
	}
	switch {
	case p.protocol == dialect.MCP:
		return p.serverLane(f.Session)
	case f.Session != "":
		return p.session(f.Session)
	case messages.PassesOn(f.Method):
		return p.latestLane()
	}
	return p.main
}

// latestLane returns the lane of the client's last open request, for what is
// passed on of it.
func (p *player) latestLane() *lane {
	latest := &cue{lane: p.main}
	for _, c := range p.calls {
		if c.compare(latest) > 0 {
			latest = c
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
		if by == wire.ClientToAgent {
			if c := p.calls[string(id)]; c != nil {
				return c.lane
			}
		} else if a := p.asks[string(id)]; a != nil {
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
	for _, c := range slices.Backward(p.recent) {
		if c.session == session || session == "" {
			return c.lane
		}
	}
	return p.main
}
