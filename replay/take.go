package replay

import (
	"bytes"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// take reads the next frame of the tape and puts it into its lane. It returns
// false at the end.
func (p *player) take() bool {
	if p.finished {
		return false
	}
	f, err := p.script.next()
	switch {
	case err != nil:
		p.report.note("a part of the tape cannot be read: %v", err)
		return true
	case f == nil:
		p.finish()
		return false
	}
	switch {
	case f.Kind == wire.Mark:
		p.mark(f)
	case f.Dir == wire.AgentStderr, f.Dir == wire.AgentToClient && f.Kind == wire.Invalid:
		p.trailing(f)
	case f.Kind == wire.Invalid:
		// Nobody answers to what is no message.
	case f.Dir == wire.ClientToAgent:
		p.lastHeld, p.signal = nil, ""
		p.fromClient(f)
	default:
		p.fromAgent(f)
	}
	for len(p.endings) > 0 && p.endings[0].last <= f.Seq {
		if l := p.sessions[p.endings[0].session]; l != nil {
			l.done = true
		}
		p.endings = p.endings[1:]
	}
	return true
}

// finish notes that the tape has been read to its end.
func (p *player) finish() {
	p.finished = true
	for _, l := range p.sessions {
		l.done = true
	}
	for _, a := range p.asks {
		a.lost = true
	}
}

func (p *player) mark(f *dialect.Frame) {
	switch m := wire.ReadMark(f.Frame); {
	case m.Exit != nil:
		p.report.Exit, p.report.Signal = m.Exit, p.signal
		p.sudden = !p.closing && p.signal == ""
	case (m.EOF || m.Error != "") && f.Dir == wire.ClientToAgent:
		p.closing = true
	case m.Signal != "":
		p.signal = m.Signal
	}
}

// hold puts a frame of the agent into its lane, or sends it at once if it is its
// turn.
func (p *player) hold(l *lane, h held, raw []byte) {
	if l.dead || p.draining && l != p.aside {
		return
	}
	l.seen = h.at
	if h.pos == h.seq {
		l.eager = 0
	}
	if l == p.main || l == p.aside {
		h.behind = p.unmet()
	}
	if !p.seeking && len(l.held) == 0 && len(p.active) == 0 && p.pace.Speed == 0 && h.array == nil && !p.blocked(l, &h) || p.draining {
		p.lastHeld = nil
		p.send(l, &h, raw)
		return
	}
	h.raw = p.keep(raw)
	l.held = append(l.held, h)
	if l != p.aside {
		p.lastHeld = l
	}
	p.wake(l)
}

// unmet returns the last message of the client that was read, if it is waited
// for.
func (p *player) unmet() *cue {
	if p.newest != nil && p.newest.over() {
		p.newest = nil
	}
	return p.newest
}

// trailing takes a line that is no frame of the protocol. It follows the frame
// before it.
func (p *player) trailing(f *dialect.Frame) {
	h := newHeld(f)
	if l := p.lastHeld; l != nil && len(l.held) > 0 && !l.dead {
		before := &l.held[len(l.held)-1]
		if before.slot == nil {
			before.slot = &slot{lane: l}
		}
		h.slot = before.slot
	}
	p.hold(p.aside, h, f.Raw)
}

// session returns the lane of a session.
func (p *player) session(id string) *lane {
	l := p.sessions[id]
	if l == nil {
		l = &lane{kind: ofSession, session: id, done: p.finished}
		p.sessions[id] = l
		p.alive = append(p.alive, l)
	}
	return l
}

func (p *player) newCall() *lane { return &lane{kind: ofCall} }

// keptBytes is how many bytes of frames that were read and not played are kept.
// Of more than that only their numbers are.
const keptBytes = 8 << 20

// keep returns a copy of raw, or nil if too much is kept already.
func (p *player) keep(raw []byte) []byte {
	if len(raw) > keptBytes-p.kept || len(raw) >= wire.MaxChecked {
		return nil
	}
	p.kept += len(raw)
	return bytes.Clone(raw)
}
