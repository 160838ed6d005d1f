package replay

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A handOver gives a session of the tape to the live agent, for what the tape lacks of
// it. The agent resumes or loads the session if it can, and knows it. Else it makes a new
// one, and gets what was said so far with the next prompt: a shim sees to that. Sending
// it the recorded prompts instead would cost tokens, and do again what its tools have
// done.
type handOver struct {
	lane  *lane
	until uint64     // the frame of the tape from which on the session goes another way; 0: all of it was played
	held  []*arrival // the client's messages since then
	asked bool       // the agent was asked to open the session
}

// A setting is a request of the client that sets something in a session.
type setting struct {
	method, key string
	params      []byte
}

// noteSetting keeps what the client sets in a session, for a hand-over.
func (l *lane) noteSetting(m *arrival) {
	s := setting{m.method, m.e.Params.Get("configId").Text(), slices.Clone(m.e.Params)}
	l.settings = append(slices.DeleteFunc(l.settings, func(old setting) bool { return old.method == s.method && old.key == s.key }), s)
}

// mayHandOver reports whether a request of a session that the tape has can go to the live
// agent. If that is recorded, the tape must have nothing left of the session that the
// client has not sent: what is added comes after that, and is played after that.
func (p *player) mayHandOver(m *arrival) bool {
	if len(p.agent.Live) == 0 || p.live != nil && (p.live.gone || p.live.memory == nil) {
		return false
	}
	return p.isOpen(m.session) && (p.agent.Journal == nil || p.nextOf(m.session) == nil)
}

// isOpen reports whether the client has opened a session of the tape, and not left it.
func (p *player) isOpen(session string) bool {
	l := p.sessions[session]
	return p.protocol != dialect.MCP && session != "" && l != nil && !l.dead && l.setup != nil
}

// isNew reports whether the tape has nothing in the place of a request that is not on it,
// so that a live agent could have served it in ModeNew.
func (p *player) isNew(m *arrival) bool {
	return p.isApart(m) || p.isOpen(m.session) && p.nextOf(m.session) == nil
}

// nextOf returns the first message of a session on the tape that the client has not sent
// of its own accord; nil if there is none.
func (p *player) nextOf(session string) (next *expectedMessage) {
	for key, q := range p.waiting {
		if key.session != session {
			continue
		}
		for _, exp := range q.messages {
			if !exp.over() && exp.required && (next == nil || exp.compare(next) < 0) {
				next = exp
			}
		}
	}
	return next
}

// handOver begins to hand the session of m over. The live agent gets it when the turn
// that is being played has ended.
func (p *player) handOver(m *arrival) {
	h := &handOver{lane: p.sessions[m.session]}
	if next := p.nextOf(m.session); next != nil {
		h.until = next.seq
		p.cut(h.lane, next.seq)
	}
	p.handOvers = append(p.handOvers, h)
	p.hold(h, m)
}

// isCut reports whether a frame of the lane is not played.
func (l *lane) isCut(seq uint64) bool { return l.cutAt > 0 && seq >= l.cutAt }

// wasCut reports whether a message that was read from the tape belongs to a session that
// is not played that far.
func (p *player) wasCut(exp *expectedMessage) bool {
	if s := p.sessions[exp.session]; s != nil && s.isCut(exp.seq) && exp.lane.kind == ofCall {
		exp.lane.dead = true
	}
	return exp.lane.dead || exp.lane.isCut(exp.seq)
}

// cut drops what the tape has of a session from a frame on.
func (p *player) cut(l *lane, from uint64) {
	l.cutAt = from
	l.pending = slices.DeleteFunc(l.pending, func(pf pendingFrame) bool { return pf.pos >= from })
	for key, q := range p.waiting {
		for _, exp := range q.messages {
			if key.session == l.session && exp.seq >= from && !exp.came {
				exp.came = true
				exp.lane.dead = exp.lane.dead || exp.lane.kind == ofCall
			}
		}
	}
	for _, exp := range l.expected.messages {
		if exp != nil && exp.seq >= from {
			exp.came = true
		}
	}
	p.wake(p.main)
	p.wake(p.otherLines)
}

// handOverOf returns the hand-over under way that a message of the client belongs to, nil
// if it belongs to none. A cancel may be of the turn that is still played.
func (p *player) handOverOf(m *arrival) *handOver {
	for _, h := range p.handOvers {
		if m.kind != wire.Response && m.session == h.lane.session && (h.asked || !dialect.Does(m.method, dialect.CancelsTurns)) {
			return h
		}
	}
	return nil
}

// hold keeps a message of the client until the agent has the session.
func (p *player) hold(h *handOver, m *arrival) {
	if m.kind == wire.Request {
		p.report.Live++
	}
	m.raw = slices.Clone(m.raw)
	h.held = append(h.held, m)
}

// continueLive goes on with each hand-over that can.
func (p *player) continueLive() {
	for _, h := range slices.Clone(p.handOvers) {
		switch {
		case h.asked:
		case h.lane.dead:
			p.giveUp(h, Miss{Text: "the turn before was not played to its end"})
		case h.ready():
			p.openLive(h)
		}
	}
}

// ready reports whether all that is played of the session was played.
func (h *handOver) ready() bool {
	l := h.lane
	return len(l.open) == 0 && len(l.pending) == 0 && l.expected.first() == nil && !l.running()
}

// openLive makes the live agent open the session, once it is initialized.
func (p *player) openLive(h *handOver) {
	if p.live == nil {
		p.live = startLiveAgent(p)
	}
	if p.live.memory == nil {
		p.giveUp(h, Miss{Text: "the live agent cannot continue the session"})
		return
	}
	if !p.live.initialized {
		return
	}
	h.asked = true
	if err := p.live.memory.remember(p, h.lane, h.until); err != nil {
		p.giveUp(h, Miss{Text: "the session cannot be read for the live agent: " + err.Error()})
		return
	}
	params := wire.Set(wire.Delete(h.lane.setup, "replayFrom"), wire.Quote(h.lane.session), "sessionId")
	p.live.ask(dialect.ResumeSession, params, func(e wire.Envelope) { p.liveOpened(h, e) })
}

// liveOpened handles the live agent's answer to our session/resume. It sets what the
// client has set in the session, and passes on what was held.
func (p *player) liveOpened(h *handOver, e wire.Envelope) {
	if e.Error != nil {
		p.giveUp(h, Miss{Text: "the live agent cannot continue the session: " + shorten(rpc.HideSecrets(dialect.ResumeSession, "", string(e.Error)))})
		return
	}
	for _, s := range h.lane.settings {
		p.live.ask(s.method, s.params, func(wire.Envelope) {})
	}
	p.remove(h)
	p.live.sessions[h.lane.session] = true
	for _, m := range h.held {
		p.live.give(m)
	}
}

// giveUp answers with an error the requests that were held.
func (p *player) giveUp(h *handOver, miss Miss) {
	p.remove(h)
	p.report.miss(miss)
	for _, m := range h.held {
		if m.kind == wire.Request {
			p.refuse(m.id, &miss)
		}
	}
}

func (p *player) remove(h *handOver) {
	p.handOvers = slices.DeleteFunc(p.handOvers, func(o *handOver) bool { return o == h })
}

// sets reports whether a method sets something in a session.
func sets(method string) bool { return dialect.Does(method, dialect.Sets) }
