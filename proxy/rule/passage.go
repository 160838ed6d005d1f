package rule

import (
	"bytes"
	"math/rand/v2"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A passage is one frame's way through the rules.
type passage struct {
	engine  *Engine
	subject *filter.Subject // the frame as it is now
	env     wire.Envelope   // of the frame as it arrived
	frame   wire.Frame      // as it is now
	came    wire.Frame
	end     wire.LineEnd // as it is now
	rule    *Rule        // the rule that is acting
	counter *counter     // its counter
	holder  *counter     // the counter of the rule that holds the frame; nil: not held
	random  *rand.Rand   // for the rule that is acting

	changed  bool
	withheld bool
	touched  bool // a rule hit
	told     bool // there are notes about the frame
	done     bool // no further rule sees the frame
	copies   copies
	notes    []wire.Frame // about the frame and the lines before it
	before   []wire.Frame
	after    []wire.Frame // with their notes
	calls    []func(proxy.Handle)
}

func (e *Engine) passage(f wire.Frame, s *filter.Subject, env wire.Envelope) *passage {
	e.passing = passage{engine: e, subject: s, env: env, frame: f, came: f, end: f.End}
	return &e.passing
}

// tell adds a note about what a rule did to the frame.
func (p *passage) tell(r *Rule, did string) {
	p.touched, p.told = true, true
	p.notes = append(p.notes, note(p.came.Dir, r.Name, did, 1))
}

// withhold withholds the frame.
func (p *passage) withhold() { p.withheld, p.touched = true, true }

// change changes the bytes of the frame.
func (p *passage) change(raw []byte) {
	p.changed, p.touched = true, true
	p.frame.Raw = raw
	env := wire.Scan(raw)
	f := *p.subject.Frame // the subject may belong to another frame
	f.Raw, f.Kind, f.Size = raw, env.Kind, int64(len(raw))
	p.subject.Frame = &f
}

// edit changes the frame if it is readable JSON. It returns the text to note.
func (p *passage) edit(did string, change func(frame []byte) []byte) string {
	if !p.subject.Kind.IsMessage() {
		return did + " is not possible: the frame is too large or is not JSON-RPC"
	}
	raw := change(p.frame.Raw)
	if bytes.Equal(raw, p.frame.Raw) {
		return ""
	}
	p.change(raw)
	return did
}

// add sends additional lines, before or after the frame.
func (p *passage) add(before bool, did string, lines ...wire.Frame) {
	p.touched = true
	about := note(lines[0].Dir, p.rule.Name, did, len(lines))
	if before {
		p.notes = append(p.notes, about)
		p.before = append(p.before, lines...)
		return
	}
	p.after = append(append(p.after, about), lines...)
}

// reply answers a request in place of its receiver, or replaces a response.
func (p *passage) reply(did string, with func(id []byte) []byte) string {
	kind := p.subject.Kind
	if kind == wire.Oversized {
		kind = p.env.MessageKind()
	}
	switch kind {
	case wire.Request:
		p.withhold()
		dir := p.came.Dir.Opposite()
		p.notes = append(p.notes, note(dir, p.rule.Name, did, 1))
		p.before = append(p.before, wire.Frame{Dir: dir, Raw: with(p.env.ID), End: wire.LF})
	case wire.Response:
		p.change(with(p.env.ID))
	default:
		p.done = true
		return did + " is not possible: the frame is neither a request nor a response"
	}
	return did
}

// postpone delays the frame. Lines added before or after it are not delayed.
func (p *passage) postpone(a postpone) {
	p.withhold()
	p.engine.keep(&held{waiting: p.alone(), session: p.subject.Session, rule: p.rule, left: a.frames}, a.time)
}

// wait makes the frame wait for a user if a rule holds it, or if earlier frames of its
// session wait. Lines added before or after it in the same direction wait too.
func (p *passage) wait() {
	e := p.engine
	if e.desk == nil || p.holder == nil && len(e.desk.queues) == 0 {
		return
	}
	session, dir := p.subject.Session, p.came.Dir
	if !p.withheld && (p.holder != nil || e.desk.queue(e, dir, session) != nil) {
		w := p.waiting()
		p.withhold()
		p.told = true
		p.notes = append(p.notes, e.desk.keep(e, session, w))
	}
	p.before = e.behind(session, p.before)
	p.after = e.behind(session, p.after)
}

// waiting returns the frame together with the lines added to it in its direction.
func (p *passage) waiting() *waiting {
	w := p.alone()
	own := func(f wire.Frame) bool { return f.Dir == w.frame.Dir }
	p.before, w.before = parted(p.before, own)
	p.after, w.after = parted(p.after, own)
	return w
}

// alone returns the frame and its copies.
func (p *passage) alone() *waiting {
	w := &waiting{holder: p.holder, frame: p.frame, copies: p.copies, came: p.came, call: p.engine.calls}
	w.came.Raw, w.came.Kind = bytes.Clone(p.came.Raw), wire.Invalid
	w.frame.Raw, w.frame.End, w.frame.Kind = w.came.Raw, p.end, wire.Invalid
	if p.changed {
		w.frame.Raw = bytes.Clone(p.frame.Raw)
	}
	w.held.Kind, w.held.Method, w.held.Update = p.subject.Kind, p.subject.Method, p.subject.Update
	if w.held.Kind == wire.Oversized {
		w.held.Kind = p.env.MessageKind()
	}
	if w.held.Kind == wire.Request {
		w.id = bytes.Clone(p.env.ID)
	}
	return w
}

// parted splits a list: those are the frames for which is returns true.
func parted(list []wire.Frame, is func(wire.Frame) bool) (others, those []wire.Frame) {
	for _, f := range list {
		if is(f) {
			those = append(those, f)
		} else {
			others = append(others, f)
		}
	}
	return others, those
}

// behind queues the lines that rules added if frames of their session and direction already
// wait. It returns the remaining lines.
func (e *Engine) behind(session string, list []wire.Frame) []wire.Frame {
	if len(list) == 0 {
		return list
	}
	for _, dir := range []wire.Direction{wire.ClientToAgent, wire.AgentToClient} {
		if e.desk.queue(e, dir, session) == nil {
			continue
		}
		var those []wire.Frame
		list, those = parted(list, func(f wire.Frame) bool { return f.Dir == dir })
		if n := len(those) - 1; n >= 0 {
			those[n].Origin = wire.Injected
			w := &waiting{frame: those[n], before: those[:n], call: e.calls}
			w.held.Kind = wire.Scan(w.frame.Raw).MessageKind()
			about := e.desk.keep(e, session, w)
			list = append(list, withoutFrames(about))
		}
	}
	return list
}

// withoutFrames returns a copy of a note that covers none of the frames that follow.
func withoutFrames(n wire.Frame) wire.Frame {
	m := wire.ReadMark(n)
	m.Rule.Frames = 0
	n.Raw = m.JSON()
	return n
}

// later schedules a call of the proxy's handle for when the frame has been sent.
func (p *passage) later(call func(proxy.Handle)) {
	p.touched = true
	p.calls = append(p.calls, call)
}

// append appends what is sent in place of the frame. entry says that the frame is an entry of
// a batch, of which only some are sent.
func (p *passage) append(out []wire.Frame, entry bool) []wire.Frame {
	e := p.engine
	p.before, p.after = e.unstalled(p.before), e.unstalled(p.after)
	frame := p.frame
	frame.End, frame.Kind = p.end, wire.Invalid
	if p.changed || entry {
		frame.Origin = wire.Rewritten
	}
	count := [wire.Directions]int{}
	if (p.withheld || p.changed || entry) && p.came.Origin != wire.Injected {
		count[frame.Dir]++ // the original
	}
	if !p.withheld && (p.told || p.changed) {
		count[frame.Dir] += lines(frame.Raw)
	}
	for _, f := range p.before {
		if f.Kind != wire.Mark {
			count[f.Dir] += lines(f.Raw)
		}
	}
	for _, n := range p.notes {
		m := wire.ReadMark(n)
		m.Rule.Frames = count[n.Dir]
		n.Raw = m.JSON()
		out = append(out, n)
	}
	out = append(out, p.before...)
	if !p.withheld {
		out = p.copies.append(append(out, frame), frame)
	}
	out = append(out, p.after...)
	for _, list := range [][]wire.Frame{p.before, p.after} {
		for _, f := range list {
			if f.Kind != wire.Mark && f.Dir != wire.AgentStderr {
				f.Origin = wire.Injected
				e.seen.observe(f, e.now)
			}
		}
	}
	if p.withheld && p.came.Kind == wire.Request && len(e.timed) > 0 {
		f := p.came
		f.Origin = wire.Withheld
		e.lanes.observe(f, e.now)
	}
	for _, call := range p.calls {
		call(e.handle)
	}
	return out
}
