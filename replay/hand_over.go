package replay

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A handOver transfers a session of the tape to the live agent, which continues it beyond
// the tape. The agent resumes or loads the session if it can and knows the session.
// Otherwise it makes a new one, and a shim adds a transcript of the conversation to the
// next prompt. Sending the recorded prompts instead would cost tokens, and repeat what
// the agent's tools have done.
type handOver struct {
	lane  *lane
	until uint64     // the frame from which the session leaves the tape; 0: all of it was played
	held  []*arrival // the client's messages for the session since then
	asked bool       // the agent was asked to open the session
}

// A setting is a request of the client that sets something in a session.
type setting struct {
	method, key string
	params      []byte
}

// noteSetting remembers what the client sets in a session, for a hand-over.
func (l *lane) noteSetting(m *arrival) {
	s := setting{m.method, m.e.Params.Get("configId").Text(), slices.Clone(m.e.Params)}
	l.settings = append(slices.DeleteFunc(l.settings, func(old setting) bool { return old.method == s.method && old.key == s.key }), s)
}

// mayHandOver reports whether a request of a recorded session can go to the live agent.
// If the live agent is recorded, the client must first have sent everything that the tape
// has of the session: a replay plays the added part last.
func (p *player) mayHandOver(m *arrival) bool {
	if len(p.agent.Live) == 0 || p.live != nil && (p.live.gone || p.live.memory == nil) {
		return false
	}
	return p.isOpen(m.session) && (p.agent.Journal == nil || p.nextOf(m.session) == nil)
}

// isOpen reports whether the client has opened a session of the tape and not left it.
func (p *player) isOpen(session string) bool {
	l := p.sessions[session]
	return p.protocol != dialect.MCP && session != "" && l != nil && !l.dead && l.setup != nil
}

// isNew reports whether a request is neither on the tape nor replaced by anything there,
// so that a live agent could have served it in ModeNew.
func (p *player) isNew(m *arrival) bool {
	return p.isApart(m) || p.isOpen(m.session) && p.nextOf(m.session) == nil
}

// nextOf returns the first of the session's recorded messages that the client has yet to
// send of its own accord, or nil.
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

// handOver begins to hand over the session of m. The live agent gets the session when the
// turn being played has ended.
func (p *player) handOver(m *arrival) {
	h := &handOver{lane: p.sessions[m.session]}
	if next := p.nextOf(m.session); next != nil {
		h.until = next.seq
		p.cut(h.lane, next.seq)
	}
	p.handOvers = append(p.handOvers, h)
	p.hold(h, m)
}

// isCut reports whether the lane leaves the tape before a frame.
func (l *lane) isCut(seq uint64) bool { return l.cutAt > 0 && seq >= l.cutAt }

// wasCut reports whether a message read from the tape belongs to a part of a session that
// is not played.
func (p *player) wasCut(exp *expectedMessage) bool {
	if s := p.sessions[exp.session]; s != nil && s.isCut(exp.seq) && exp.lane.kind == ofCall {
		exp.lane.dead = true
	}
	return exp.lane.dead || exp.lane.isCut(exp.seq)
}

// cut drops the rest of a session on the tape, starting with frame from.
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

// handOverOf returns the pending hand-over that a message of the client belongs to, or
// nil. A cancel may belong to the turn still being played.
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

// continueLive advances each hand-over that is ready.
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

// ready reports whether everything before the hand-over was played.
func (h *handOver) ready() bool {
	l := h.lane
	return len(l.open) == 0 && len(l.pending) == 0 && l.expected.first() == nil && !l.running()
}

// openLive makes the live agent open the session once the agent is initialized.
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

// liveOpened handles the live agent's answer to our session/resume. It repeats the
// client's settings in the session, and passes on the held messages.
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

// giveUp ends a hand-over and answers the held requests with an error.
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
