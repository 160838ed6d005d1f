package replay

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/messages"
)

// fromClient takes a frame of the client.
func (p *player) fromClient(f *dialect.Frame) {
	if f.Kind != wire.Batch {
		p.cue(f, f.Annotation, f.Raw, messages.Envelope(p.script.tape, f), -1)
		return
	}
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		if i < len(f.Entries) && p.script.concerns(f.Seq, &f.Entries[i]) {
			p.cue(f, f.Entries[i], entry, wire.Scan(entry), i)
		}
		return true
	})
}

// cue takes one message of the client.
func (p *player) cue(f *dialect.Frame, about dialect.Annotation, raw []byte, e wire.Envelope, entry int) {
	c := &cue{seq: f.Seq, entry: entry, kind: messages.Kind(e), method: about.Method, session: messages.Addressee(about.Method, e), required: true, at: f.At, long: entry < 0 && int64(len(raw)) < f.Size}
	switch c.kind {
	case wire.Response:
		p.answerCue(c, e)
	case wire.Request:
		c.id = string(e.ID)
		p.requestCue(c, e)
	case wire.Notification:
		p.notificationCue(c, e)
	}
	if about.Session != "" && messages.PassesOn(c.method) && c.kind != wire.Response {
		c.lane = p.session(about.Session)
	}
	l := c.lane
	if l == nil || l.dead || p.drained(c) {
		return
	}
	c.gap, l.seen = f.At-l.seen, f.At
	c.raw = p.keep(raw)
	if c.required {
		l.wants.add(c)
		p.newest = c
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
	case known && m.Effect == dialect.Initializes, p.protocol == dialect.MCP, !known:
		c.lane = p.newCall()
	case m.MakesSession():
		if made := p.made[c.seq]; made != "" {
			c.lane = p.session(made)
		} else {
			c.lane = p.newCall() // it fails
		}
	case m.Effect == dialect.Opens, m.Effect == dialect.Closes:
		c.lane = p.session(c.session)
	case m.Effect == dialect.Prompts:
		c.lane = p.session(c.session)
		c.lane.eager, c.lane.cancelled = c.seq, false
	default:
		c.lane = p.newCall()
		if strings.HasPrefix(c.method, "session/set_") {
			p.session(c.session).sets.add(c)
		}
	}
	c.required = c.method != "ping"
	if p.protocol == dialect.MCP {
		p.recent = append(p.recent, c)
		if token := dialect.MadeID(c.method, dialect.ProgressToken, e.Params); token != nil {
			c.token = string(token)
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
		id, _ := dialect.NamedID(c.method, dialect.RequestID, wire.ClientToAgent, e.Params)
		if call := p.calls[string(id)]; call != nil {
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
