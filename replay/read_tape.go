package replay

import (
	"bytes"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// readNext reads the next frame of the connection into its lane. It returns false at the
// end.
func (p *player) readNext() bool {
	if p.finished {
		return false
	}
	f, err := p.recording.next()
	switch {
	case err != nil:
		p.report.note("a part of the tape cannot be read: %v", err)
		return true
	case f == nil:
		p.tapeEnded()
		return false
	}
	switch {
	case f.Kind == wire.Mark:
		p.mark(f)
	case f.Dir == wire.AgentStderr, f.Dir == wire.AgentToClient && f.Kind == wire.Invalid:
		p.trailing(f)
	case f.Kind == wire.Invalid, f.Kind == wire.Body:
		// The agent did not react to a line that is no message.
	case f.Dir == wire.ClientToAgent:
		p.lastPending, p.signal = nil, ""
		p.fromClient(f)
	default:
		f.At = p.written.at(f.At)
		p.fromAgent(f)
	}
	for _, id := range p.recording.ended(f.Seq) {
		if l := p.sessions[id]; l != nil {
			l.done = true
		}
	}
	return true
}

// tapeEnded notes the end of the tape.
func (p *player) tapeEnded() {
	p.finished = true
	for _, l := range p.sessions {
		l.done = true
	}
	for a := range p.requests.All() {
		a.lost = true
	}
}

// mark notes an event on the tape, such as the exit of the agent.
func (p *player) mark(f *dialect.Frame) {
	switch m := wire.ReadMark(f.Frame); {
	case m.Exit != nil:
		p.report.Exit, p.report.Signal = m.Exit, p.signal
		p.endedAlone = !p.closing && p.signal == ""
	case (m.EOF || m.Error != "") && f.Dir == wire.ClientToAgent:
		p.closing = true
	case m.Signal != "":
		p.signal = m.Signal
	case m.Rule != nil && m.Rule.Delay > 0 && f.Dir == wire.AgentToClient:
		p.written.delay(time.Duration(m.Rule.Delay * float64(time.Second)))
	case m.HTTP != nil && m.HTTP.Status >= 400 && p.agent.Watcher != nil:
		p.refused(m.HTTP.Stream)
	}
}

// refused notes that an HTTP status answered the requests on a stream. The Watcher passes
// on that status. A message with it may follow.
func (p *player) refused(stream uint64) {
	for exp := range p.calls.All() {
		if exp.stream == stream {
			exp.refused = true
			exp.lane.open = slices.DeleteFunc(exp.lane.open, func(o *expectedMessage) bool { return o == exp })
		}
	}
}

// enqueue puts a frame of the agent into its lane, or sends it immediately if nothing
// holds it back.
func (p *player) enqueue(l *lane, pf pendingFrame, raw []byte) {
	if l.dead || l.isCut(pf.seq) || p.draining && l != p.otherLines {
		return
	}
	l.lastRead = pf.at
	if pf.pos == pf.seq {
		l.eager = 0
	}
	if l == p.main || l == p.otherLines {
		pf.after = p.awaitedMessage()
	}
	if !p.seeking && len(l.pending) == 0 && len(p.active) == 0 && p.pace.Speed == 0 && pf.batch == nil && !p.blocked(l, &pf) || p.draining {
		p.lastPending = nil
		p.send(l, &pf, raw)
		return
	}
	pf.raw = p.keep(raw)
	l.pending = append(l.pending, pf)
	if l != p.otherLines {
		p.lastPending = l
	}
	p.wake(l)
}

// awaitedMessage returns the last required client message read from the tape, or nil if
// it has come.
func (p *player) awaitedMessage() *expectedMessage {
	if p.lastExpected != nil && p.lastExpected.over() {
		p.lastExpected = nil
	}
	return p.lastExpected
}

// trailing adds a line that is not a frame of the protocol. It is written after the frame
// that precedes it on the tape.
func (p *player) trailing(f *dialect.Frame) {
	pf := newPendingFrame(f)
	if l := p.lastPending; l != nil && len(l.pending) > 0 && !l.dead {
		before := &l.pending[len(l.pending)-1]
		if before.slot == nil {
			before.slot = &slot{lane: l}
		}
		pf.slot = before.slot
	}
	p.enqueue(p.otherLines, pf, f.Raw)
}

// session returns the lane of a session, making it if necessary.
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

// keptBytes limits the bytes of frames kept in memory until they are played. Further
// frames are read again.
const keptBytes = 8 << 20

// keep returns a copy of raw, or nil if raw is too long or too much is kept already.
func (p *player) keep(raw []byte) []byte {
	if len(raw) > keptBytes-p.kept || len(raw) >= wire.MaxChecked {
		return nil
	}
	p.kept += len(raw)
	return bytes.Clone(raw)
}
