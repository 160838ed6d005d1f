package host

import (
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// fromClient handles a line from the client.
func (r *run) fromClient(line []byte, end wire.LineEnd) {
	var to []*process // processes with new input
	r.do(func() {
		if r.aside {
			r.first.in.Put(line, []byte(end.Bytes()))
			to = append(to, r.first)
			return
		}
		for m := range messages(line) {
			to = append(to, r.take(m)...)
		}
	})
	for _, p := range to {
		p.in.AwaitRoom(maxInput)
	}
}

// messages calls yield for a message, or for each message of a batch.
func messages(line []byte) func(yield func(message) bool) {
	return func(yield func(message) bool) {
		m := read(line)
		if m.Kind != wire.Batch {
			yield(m)
			return
		}
		wire.Entries(line, func(_ int, entry []byte) bool { return yield(read(entry)) })
	}
}

// take passes a client's message on, and returns the processes that got it.
func (r *run) take(m message) []*process {
	switch m.Kind {
	case wire.Request:
		return r.request(m)
	case wire.Response:
		return r.response(m)
	case wire.Notification:
		return r.notification(m)
	}
	return r.send(r.first, m.line) // the server rejects lines that are not messages
}

// send gives a process a line.
func (r *run) send(p *process, line []byte) []*process {
	p.in.Put(line, []byte("\n"))
	return []*process{p}
}

// request handles a request.
func (r *run) request(m message) []*process {
	method := string(m.Method)
	role := dialect.RoleOf(dialect.MCP, method)
	switch {
	case role.Is(dialect.Initializes) && r.Proposal == dialect.SEP1364A2:
		return r.enter(m)
	case role.Is(dialect.Initializes):
		m.line = withCapabilities(m.line)
		r.hello = append([]byte{}, wire.Get(m.line, "params")...)
		return r.forward(r.first, m, request{})
	case r.foreign(method):
		r.refuse(m.ID, wire.MethodNotFound, method+" is not a method of this proposal for sessions")
		return nil
	case r.creates(method):
		return r.create(m)
	case r.deletes(method):
		r.delete(m)
		return nil
	}
	id := r.session(m)
	p := r.sessions[wire.Text(id)]
	switch {
	case id != nil && p == nil:
		r.unknown(m.ID, id)
		return nil
	case id != nil:
		return r.forward(p, m, request{named: true})
	case r.Required && !role.Is(dialect.Pings):
		r.refuse(m.ID, wire.InvalidRequest, "this server needs a session, and "+method+" names none")
		return nil
	case r.first.dismissed || r.alive[r.first.number] == nil:
		r.refuse(m.ID, wire.InvalidParams, "the session for requests that name none has ended")
		return nil
	}
	r.first.stopIdle()
	return r.forward(r.first, m, request{})
}

// forward passes a request on to a process, and remembers it with the flags of q.
func (r *run) forward(p *process, m message, q request) []*process {
	q.to, q.method, q.id = p, string(m.Method), append([]byte{}, m.ID...)
	r.requests.Set(dialect.IDKey(m.ID), q)
	r.use(p)
	return r.send(p, r.stripped(m))
}

// response handles the client's response to a process.
func (r *run) response(m message) []*process {
	line := r.stripped(m)
	number, own, ok := inward(m.ID)
	switch {
	case !ok || number > r.next:
		return r.send(r.first, line)
	case r.alive[number] == nil:
		return nil
	}
	r.use(r.alive[number])
	return r.send(r.alive[number], wire.Set(line, own, "id"))
}

// notification handles a notification. It goes to the session that it names, or to that
// of the message that it refers to.
func (r *run) notification(m message) []*process {
	role, line := dialect.RoleOf(dialect.MCP, string(m.Method)), r.stripped(m)
	if role.Is(dialect.Confirms) && r.Proposal == dialect.SEP1364A2 && r.Max > 0 {
		return nil // the host itself has sent it to each process
	}
	p := r.first
	if id := r.session(m); id != nil {
		if p = r.sessions[wire.Text(id)]; p == nil {
			return nil
		}
		r.use(p)
	} else if role.Is(dialect.ChangesRoots) {
		return r.toAll(line)
	}
	if role.Is(dialect.CancelsRequest) {
		key := dialect.IDKey(wire.Get(m.Params, "requestId"))
		if q, ok := r.requests.Get(key); ok {
			if q.creates {
				return nil // it counts as initialize, which must not be cancelled
			}
			q.cancelled = true
			r.requests.Set(key, q)
			p = q.to
			r.use(p)
		}
	}
	if number, own, ok := inward(wire.Get(m.Params, "progressToken")); ok && role.Is(dialect.TellsProgress) && number <= r.next {
		if p = r.alive[number]; p == nil {
			return nil
		}
		line = wire.Set(line, own, "params", "progressToken")
	}
	return r.send(p, line)
}

// toAll sends a line to all processes that have been initialised.
func (r *run) toAll(line []byte) (to []*process) {
	for _, p := range r.alive {
		if p == r.first || p.ready {
			to = append(to, r.send(p, line)...)
		}
	}
	return to
}

// refuse answers a request with an error.
func (r *run) refuse(id []byte, code int, text string) { r.say(wire.NewFailure(id, code, text, nil)) }

// cutOff handles pieces of an overlong message from the client.
func (r *run) cutOff(piece []byte, end wire.LineEnd, first, _ bool) {
	passes := false
	r.do(func() {
		passes = r.aside
		switch {
		case passes:
			r.first.in.Put(piece, []byte(end.Bytes()))
		case first:
			r.complain(fmt.Errorf("a message of the client has more than %d MiB, and is left out", maxLine>>20))
			if e := wire.ScanPrefix(piece[:wire.MaxChecked]); e.MessageKind() == wire.Request {
				r.refuse(e.ID, wire.InvalidRequest, "the message is too long")
			}
		}
	})
	if passes {
		r.first.in.AwaitRoom(maxInput)
	}
}
