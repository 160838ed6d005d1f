package host

import (
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// fromServer returns the handler of a process's lines.
func (r *run) fromServer(p *process) func(line []byte, end wire.LineEnd) {
	return func(line []byte, end wire.LineEnd) {
		r.do(func() {
			if r.aside && p == r.first {
				r.said = append(append(r.said, line...), end.Bytes()...)
				return
			}
			if p.dismissed || p != r.first && !p.session {
				return // discarded
			}
			for m := range messages(line) {
				r.pass(p, m)
			}
		})
	}
}

// pass passes on a message from a process.
func (r *run) pass(p *process, m message) {
	switch m.Kind {
	case wire.Response:
		r.answer(p, m)
	case wire.Request:
		if r.lacks(p, string(m.Method)) {
			p.in.Put(wire.NewFailure(m.ID, wire.MethodNotFound, "the client does not offer "+string(m.Method)+" in this session", nil), []byte("\n"))
			return
		}
		line := wire.Set(m.line, outward(p, m.ID), "id")
		if token := wire.Get(m.Params, "_meta", "progressToken"); wire.Present(token) {
			line = wire.Set(line, outward(p, token), "params", "_meta", "progressToken")
		}
		r.say(r.marked(p, line))
	case wire.Notification:
		line := m.line
		if id := wire.Get(m.Params, "requestId"); dialect.RoleOf(dialect.MCP, string(m.Method)).Is(dialect.CancelsRequest) && wire.Present(id) {
			line = wire.Set(line, outward(p, id), "params", "requestId")
		}
		r.say(r.marked(p, line))
	default:
		r.say(m.line) // the client rejects lines that are not messages
	}
}

// lacks reports whether the client has said that it does not offer a method in p's
// session.
func (r *run) lacks(p *process, method string) bool {
	return r.Proposal == dialect.SEP1364A1 && p.session && p.offer != nil &&
		!dialect.Allowed(dialect.MCPLegacy, dialect.ClientSide, method, p.offer)
}

// answer handles a process's response to a client's request.
func (r *run) answer(p *process, m message) {
	key := dialect.IDKey(m.ID)
	q, ok := r.requests.Get(key)
	switch {
	case ok && q.to != p:
		return // another process was asked
	case !ok:
		r.say(m.line)
		return
	}
	r.requests.Drop(key)
	r.use(p)
	switch {
	case m.Result == nil && q.creates:
		r.say(m.line)
		r.rejected(p)
	case m.Result == nil:
		r.say(m.line)
	case (q.begins() || q.creates) && p == r.first && hasOwn(m):
		r.aside = true // and the line is passed on unchanged
		r.say(m.line)
		r.warm = nil
		for _, other := range r.alive {
			if other != p {
				other.dismissed = true
				r.end(other)
			}
		}
	case q.creates:
		p.hello = append([]byte{}, m.Result...)
		r.open(p, q, false)
		p.in.Put([]byte(`{"jsonrpc":"2.0","method":"` + dialect.NowInitialized + `"}` + "\n"))
	case q.named:
		r.say(r.confirmed(p, m.line))
	case q.begins() && p == r.first:
		r.greeted = r.greeted || dialect.Does(q.method, dialect.Initializes)
		r.say(r.unlessNone(m.line))
	default:
		r.say(m.line)
	}
}

// unlessNone is offered, except if there can be no sessions.
func (r *run) unlessNone(line []byte) []byte {
	if r.Max == 0 {
		return line
	}
	return r.offered(line)
}

// rejected undoes the creation of a session whose process has refused initialize. The first
// process may be asked again.
func (r *run) rejected(p *process) {
	if p == r.first {
		p.session = false
		return
	}
	p.dismissed = true
	r.end(p)
}

// cutOffBy returns the handler for pieces of an overlong message from a process.
func (r *run) cutOffBy(p *process) func(piece []byte, end wire.LineEnd, first, last bool) {
	return func(piece []byte, end wire.LineEnd, first, _ bool) {
		r.do(func() {
			switch {
			case r.aside && p == r.first:
				r.said = append(append(r.said, piece...), end.Bytes()...)
			case first && !p.dismissed:
				r.complain(fmt.Errorf("a message of the server has more than %d MiB, and is left out", maxLine>>20))
				e := wire.ScanPrefix(piece[:wire.MaxChecked])
				key := dialect.IDKey(e.ID)
				if q, ok := r.requests.Get(key); ok && q.to == p && e.MessageKind() == wire.Response {
					r.requests.Drop(key)
					r.refuse(q.id, wire.InternalError, "the answer of the server is too long")
				}
			}
		})
	}
}
