package replay

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// fromClient adds the messages in a frame of the client to their lanes.
func (p *player) fromClient(f *dialect.Frame) {
	if f.Kind != wire.Batch {
		p.expect(f, rpc.Envelope(p.recording.tape, f), -1)
		return
	}
	i := 0
	for m, e := range f.Messages {
		if p.recording.chosen.Has(m.Seq, &m.Annotation) {
			p.expect(m, e, i)
		}
		i++
	}
}

// expect adds one message of the client to its lane. entry is its index in a batch,
// otherwise -1.
func (p *player) expect(f *dialect.Frame, e wire.Envelope, entry int) {
	exp := &expectedMessage{
		seq: f.Seq, entry: entry, kind: e.MessageKind(), method: f.Method, session: dialect.NamedSession(f.Method, e), stream: f.Stream,
		required: true, at: f.At, long: int64(len(f.Raw)) < f.Size,
	}
	switch exp.kind {
	case wire.Response:
		p.expectAnswer(exp, e)
	case wire.Request:
		exp.id = string(e.ID)
		p.expectRequest(exp, e)
	case wire.Notification:
		p.expectNotification(exp, e)
	}
	if f.Session != "" && dialect.Wraps(exp.method) && exp.kind != wire.Response {
		exp.lane = p.session(f.Session)
	}
	l := exp.lane
	if l == nil || l.dead || p.wasCut(exp) || p.drained(exp) {
		return
	}
	exp.gap, l.lastRead = f.At-l.lastRead, f.At
	exp.raw = p.keep(f.Raw)
	if exp.required {
		l.expected.add(exp)
		p.lastExpected = exp
	}
	if exp.kind != wire.Response {
		p.index(exp)
	}
}

// drained reports whether playing has ended. If so, it reports a required message as
// never sent.
func (p *player) drained(exp *expectedMessage) bool {
	if p.draining && exp.required {
		p.report.unused(exp)
	}
	return p.draining
}

func (p *player) expectAnswer(exp *expectedMessage, e wire.Envelope) {
	a := p.requests.Answer(wire.ClientToAgent, exp.stream, e.ID)
	if a == nil {
		return
	}
	exp.request, exp.method, exp.lane, a.answer = a, a.method, a.lane, exp
	// When work is cancelled, clients answer the open requests as cancelled: before the
	// cancel, after it, or never.
	cancelled := e.Result.Get("outcome.outcome").Text() == "cancelled" || e.Result.Get("action").Text() == "cancel"
	if cancelled && a.lane.cancelled || e.Error != nil && (a.cancelled || a.lane.cancelled) {
		exp.required = false
	}
}

func (p *player) expectRequest(exp *expectedMessage, e wire.Envelope) {
	p.calls.Ask(wire.ClientToAgent, exp.stream, e.ID, exp)
	m, known := dialect.Lookup(p.protocol, exp.method)
	switch {
	case known && m.Role.Is(dialect.Initializes), p.protocol == dialect.MCP, !known:
		exp.lane = p.newCall()
	case m.Role.Is(dialect.MakesSession):
		if made := p.recording.chosen.Made[exp.seq]; made != "" {
			exp.lane = p.session(made)
		} else {
			exp.lane = p.newCall() // the request fails on the tape
		}
	case m.Role.Is(dialect.Opens), m.Role.Is(dialect.Closes):
		exp.lane = p.session(exp.session)
	case m.Role.Is(dialect.Prompts):
		exp.lane = p.session(exp.session)
		exp.lane.eager, exp.lane.cancelled = exp.seq, false
	default:
		exp.lane = p.newCall()
		if m.Role.Is(dialect.Sets) {
			p.session(exp.session).sets.add(exp)
		}
	}
	exp.required = !dialect.Does(exp.method, dialect.Pings)
	if p.protocol == dialect.MCP {
		p.recent = append(p.recent, exp)
		if token := dialect.MadeID(exp.method, dialect.ProgressToken, e.Params); token != nil {
			exp.token = slices.Clone(token)
			p.tokens.Ask(wire.ClientToAgent, exp.stream, token, exp.lane)
		}
	}
}

func (p *player) expectNotification(exp *expectedMessage, e wire.Envelope) {
	exp.lane, exp.required = p.main, !optional(exp.method)
	switch role := dialect.RoleOf(dialect.AnyProtocol, exp.method); {
	case role.Is(dialect.CancelsTurns):
		if p.protocol != dialect.MCP {
			exp.lane = p.session(exp.session)
			exp.lane.eager, exp.lane.cancelled = exp.seq, true
		}
	case cancelsMCP(exp.method):
		id, by := dialect.NamedID(exp.method, dialect.RequestID, wire.ClientToAgent, e.Params)
		if call := p.calls.Find(by, exp.stream, id); call != nil {
			exp.lane = call.lane // the call will most likely not be answered
			p.recent = slices.DeleteFunc(p.recent, func(o *expectedMessage) bool { return o == call })
		}
	}
}

// cancelsMCP reports whether a notification cancels an MCP request, which then gets no
// answer.
func cancelsMCP(method string) bool {
	return dialect.RoleOf(dialect.MCP, method).Is(dialect.CancelsRequest)
}

// optional reports whether the agent proceeds without waiting for a notification of the
// client.
func optional(method string) bool {
	switch {
	case dialect.Does(method, dialect.Confirms), cancelsMCP(method):
		return false
	case dialect.Does(method, dialect.CancelsRequest):
		return true
	}
	return strings.HasPrefix(method, "notifications/") || strings.HasPrefix(method, "document/")
}
