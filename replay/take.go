package replay

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

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
	case f.Dir == wire.AgentStderr, f.Dir == wire.AgentToClient && f.Kind == wire.Junk:
		p.trailing(f)
	case f.Kind == wire.Junk:
		// Nobody answers to what is no message.
	case f.Dir == wire.ClientToAgent:
		p.lastHeld = nil
		p.fromClient(f)
	default:
		p.lastCue = nil
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
		p.report.Exit = m.Exit
		p.sudden = !p.closing
	case m.EOF && f.Dir == wire.ClientToAgent, m.Signal != "":
		p.closing = true
	}
}

// fromClient takes a frame of the client.
func (p *player) fromClient(f *dialect.Frame) {
	if f.Kind != wire.Batch {
		p.cue(f, f.About, f.Raw, p.script.source.envelope(f), -1)
		return
	}
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		if i < len(f.Entries) {
			p.cue(f, f.Entries[i], entry, wire.Scan(entry), i)
		}
		return true
	})
}

// cue takes one message of the client.
func (p *player) cue(f *dialect.Frame, about dialect.About, raw []byte, e wire.Envelope, entry int) {
	c := &cue{seq: f.Seq, entry: entry, kind: kindOf(e), method: about.Method, session: addressee(e), required: true, at: f.At, long: entry < 0 && int64(len(raw)) < f.Size}
	switch c.kind {
	case wire.Response:
		p.answerCue(c, e)
	case wire.Request:
		c.id = string(e.ID)
		p.requestCue(c, e)
	case wire.Notification:
		p.notificationCue(c, e)
	}
	l := c.lane
	if l == nil || l.dead || p.drained(c) {
		return
	}
	c.gap, l.seen = f.At-l.seen, f.At
	c.raw = p.keep(raw)
	p.lastCue = c
	if c.required {
		l.wants.add(c)
	}
	if c.kind != wire.Response {
		p.index(c)
	}
}

// drained reports whether nothing more is played: then what was never asked for
// is only counted.
func (p *player) drained(c *cue) bool {
	if p.draining && c.required {
		p.report.unused(c)
	}
	return p.draining
}

// kindOf returns what a message is, also one that is too large to be checked.
func kindOf(e wire.Envelope) wire.Kind {
	if e.Kind != wire.Unchecked {
		return e.Kind
	}
	switch {
	case e.Method != nil && e.ID != nil:
		return wire.Request
	case e.Method != nil:
		return wire.Notification
	case e.ID != nil:
		return wire.Response
	}
	return wire.Junk
}

// addressee returns the session that a message names itself.
func addressee(e wire.Envelope) string {
	for _, id := range []gjson.Result{
		gjson.GetBytes(e.Params, "sessionId"),
		gjson.ParseBytes(e.Session),
		gjson.GetBytes(e.Params, `_meta.io\.modelcontextprotocol/session.sessionId`),
	} {
		if id.Type == gjson.String {
			return id.Str
		}
	}
	return ""
}

func (p *player) answerCue(c *cue, e wire.Envelope) {
	a := p.asks[string(e.ID)]
	if a == nil {
		return
	}
	delete(p.asks, a.id)
	c.asked, c.method, c.lane, a.cue = a, a.method, a.lane, c
	// Once the work is cancelled, clients answer what is open as cancelled:
	// before the cancel, behind it, or never.
	cancelled := gjson.GetBytes(e.Result, "outcome.outcome").Str == "cancelled" || gjson.GetBytes(e.Result, "action").Str == "cancel"
	if cancelled && a.lane.cancelled || e.Error != nil && (a.cancelled || a.lane.cancelled) {
		c.required = false
	}
}

func (p *player) requestCue(c *cue, e wire.Envelope) {
	p.calls[c.id] = c
	m, known := dialect.Lookup(p.protocol, c.method)
	switch {
	case known && m.Effect == dialect.Initializes:
		c.lane = p.main
	case p.protocol == dialect.MCP, !known:
		c.lane = p.newCall()
	case m.Effect == dialect.Opens && m.Session != dialect.InParams:
		if made := p.made[c.seq]; made != "" {
			c.lane = p.session(made)
		} else {
			c.lane = p.main // it fails
		}
	case m.Effect == dialect.Opens, m.Effect == dialect.Closes:
		c.lane = p.session(c.session)
	case m.Effect == dialect.Prompts:
		c.lane = p.session(c.session)
		c.lane.eager, c.lane.cancelled = c.seq, false
		p.prompts.add(c)
	default:
		c.lane = p.newCall()
		if strings.HasPrefix(c.method, "session/set_") {
			p.session(c.session).sets.add(c)
		}
	}
	c.required = c.method != "ping"
	if p.protocol == dialect.MCP {
		if c.required {
			p.requests.add(c)
		}
		p.recent = append(p.recent, c)
		if token := gjson.GetBytes(e.Params, "_meta.progressToken"); token.Exists() {
			c.token = token.Raw
			p.tokens[c.token] = c.lane
		}
	}
}

func (p *player) notificationCue(c *cue, e wire.Envelope) {
	c.lane, c.required = p.main, !soft(c.method)
	switch c.method {
	case "session/cancel":
		if p.protocol != dialect.MCP {
			c.lane = p.session(c.session)
			c.lane.eager, c.lane.cancelled = c.seq, true
		}
	case "notifications/cancelled":
		if call := p.calls[gjson.GetBytes(e.Params, "requestId").Raw]; call != nil {
			c.lane = call.lane // and most likely the call is not answered
			p.recent = slices.DeleteFunc(p.recent, func(o *cue) bool { return o == call })
		}
	}
}

// soft reports whether a client's notification is never waited for.
func soft(method string) bool {
	switch method {
	case "notifications/initialized", "notifications/cancelled":
		return false
	case "$/cancel_request":
		return true
	}
	return strings.HasPrefix(method, "notifications/") || strings.HasPrefix(method, "document/")
}

// fromAgent takes a frame of the agent.
func (p *player) fromAgent(f *dialect.Frame) {
	if f.Kind == wire.Batch && p.array(f) {
		return
	}
	h := newHeld(f)
	var e wire.Envelope
	if f.Method != "session/update" {
		e = p.script.source.envelope(f)
	}
	p.hold(p.laneOf(&h, f, e), h, f.Raw)
}

func newHeld(f *dialect.Frame) held {
	return held{
		seq: f.Seq, pos: f.Seq, at: f.At, end: f.End, entry: -1,
		method: f.Method, ends: f.Events.Has(dialect.TurnEnded), long: int64(len(f.Raw)) < f.Size,
	}
}

// laneOf returns the lane that a frame of the agent belongs to.
func (p *player) laneOf(h *held, f *dialect.Frame, e wire.Envelope) *lane {
	switch kindOf(e) {
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
	case "$/cancel_request", "notifications/cancelled":
		if a := p.asks[gjson.GetBytes(e.Params, "requestId").Raw]; a != nil {
			a.cancelled = true
			return a.lane
		}
	case "notifications/progress":
		h.token = true
		if l := p.tokens[gjson.GetBytes(e.Params, "progressToken").Raw]; l != nil {
			return l
		}
	case "elicitation/complete":
		if p.elicited != nil {
			return p.elicited
		}
	}
	if p.protocol != dialect.MCP {
		if f.Session != "" {
			return p.session(f.Session)
		}
		return p.main
	}
	return p.serverLane(e)
}

// serverLane returns the lane of what a MCP server sends by itself: that of the
// subscription that it names, else of the call that the server took up last and
// works on, which is most likely what it is about. What it tells of tasks comes
// between the calls that ask about them, so it is not tied to the one that began
// the task.
func (p *player) serverLane(e wire.Envelope) *lane {
	if call := gjson.GetBytes(e.Params, `_meta.io\.modelcontextprotocol/subscriptionId`); call.Exists() {
		if c := p.calls[call.Raw]; c != nil {
			return c.lane
		}
	}
	if n := len(p.recent); n > 0 {
		return p.recent[n-1].lane
	}
	return p.main
}

// hold puts a frame of the agent into its lane, or sends it at once if it is its
// turn.
func (p *player) hold(l *lane, h held, raw []byte) {
	if l.dead || p.draining {
		return
	}
	l.seen = h.at
	if h.pos == h.seq {
		l.eager = 0
	}
	if !p.seeking && len(l.held) == 0 && len(p.active) == 0 && p.agent.Pace.Speed == 0 && h.array == nil && !p.blocked(l, &h) {
		p.lastHeld = nil
		p.send(l, &h, raw)
		return
	}
	h.raw = p.keep(raw)
	l.held = append(l.held, h)
	p.lastHeld = l
	p.wake(l)
}

// trailing takes a line that is no frame of the protocol. It follows the frame
// before it.
func (p *player) trailing(f *dialect.Frame) {
	var t **trail
	switch l := p.lastHeld; {
	case p.lastCue != nil && !p.lastCue.over():
		t = &p.lastCue.trail
	case l != nil && len(l.held) > 0 && !l.dead:
		t = &l.held[len(l.held)-1].trail
	default:
		p.say(f.Dir, append(bytes.Clone(f.Raw), f.End.Bytes()...))
		return
	}
	if *t == nil {
		*t = &trail{}
		p.trails = append(p.trails, *t)
	}
	(*t).lines = append((*t).lines, f.Seq)
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
