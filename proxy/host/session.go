package host

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// enter handles initialize in the second alternative of SEP-1364: it creates a session, or
// confirms one.
func (r *run) enter(m message) []*process {
	id := r.session(m)
	m.line = withCapabilities(m.line)
	switch p := r.sessions[wire.Text(id)]; {
	case id != nil && p == nil:
		r.unknown(m.ID, id)
		return nil
	case id != nil:
		r.use(p)
		r.say(r.confirmed(p, wire.NewResult(m.ID, p.hello)))
		return nil
	case r.Max == 0:
		return r.forward(r.first, m, request{})
	}
	p := r.first
	if p.session || r.alive[p.number] == nil {
		if p = r.claim(m.ID); p == nil {
			return nil
		}
	}
	p.session = true
	return r.forward(p, m, request{creates: true})
}

// create handles the request for a session.
func (r *run) create(m message) []*process {
	id, offer := r.session(m), r.hello
	if r.Proposal == dialect.SEP1364A1 {
		if own := wire.Get(m.Params, "sessionId"); wire.Present(own) {
			id = own
		}
		capabilities := wire.Get(m.Params, "capabilities")
		if id != nil {
			r.update(m, id, capabilities)
			return nil
		}
		if wire.Present(capabilities) && offer != nil {
			offer = wire.Set(offer, capabilities, "capabilities")
		}
	}
	modern := r.hello == nil && wire.Present(wire.Get(m.Params, "_meta", metaVersion)) && r.Proposal == dialect.DataLayer
	switch {
	case id != nil:
		r.refuse(m.ID, wire.InvalidParams, "a request for a new session names none")
		return nil
	case !modern && !r.greeted:
		r.refuse(m.ID, wire.InvalidRequest, "initialize has to be answered first")
		return nil
	}
	p := r.claim(m.ID)
	if p == nil {
		return nil
	}
	p.session = true
	if modern {
		r.open(p, request{id: m.ID}, true)
		return nil
	}
	p.offer = offer
	line := wire.NewRequest(m.ID, dialect.Initialize, wire.Delete(offer, "_meta", "progressToken"))
	return r.forward(p, message{wire.Envelope{ID: m.ID, Method: m.Method}, line}, request{creates: true})
}

// update records the client's new offer to a session, if the request has one.
func (r *run) update(m message, id, capabilities []byte) {
	p := r.sessions[wire.Text(id)]
	if p == nil {
		r.unknown(m.ID, id)
		return
	}
	if wire.Present(capabilities) {
		p.offer = wire.Set(p.offer, capabilities, "capabilities")
	}
	r.use(p)
	r.say(wire.NewResult(m.ID, wire.Encode(lease{SessionID: p.id})))
}

// claim returns a process for a new session. If there are too many, it refuses the
// request with that id and returns nil.
func (r *run) claim(id []byte) *process {
	if r.closing || r.inSession() >= r.Max {
		r.refuse(id, noRoom, fmt.Sprintf("there are %d sessions already; end one of them first", r.Max))
		return nil
	}
	if len(r.warm) == 0 {
		return r.start()
	}
	p := r.warm[0]
	r.warm = r.warm[1:]
	return p
}

// inSession returns the number of processes that have a session.
func (r *run) inSession() (n int) {
	for _, p := range r.alive {
		if p.session && !p.dismissed {
			n++
		}
	}
	return n
}

// open answers the request that created a session.
func (r *run) open(p *process, q request, modern bool) {
	p.ready = true
	r.sessions[p.id] = p
	switch {
	case r.Proposal == dialect.SEP1364A1:
		r.say(wire.NewResult(q.id, wire.Encode(lease{SessionID: p.id})))
	case r.Proposal == dialect.SEP1364A2:
		r.say(r.confirmed(p, wire.NewResult(q.id, p.hello)))
	default:
		value := wire.Encode(struct {
			Session lease `json:"session"`
		}{r.lease(p)})
		if modern {
			value = wire.Set(value, []byte(`"complete"`), "resultType") // required in each result of that revision
		}
		r.say(wire.NewResult(q.id, value))
	}
	if r.Idle > 0 {
		p.idle = time.AfterFunc(r.Idle, func() { r.do(func() { r.expire(p) }) })
	}
	r.warmUp()
}

// delete handles the request that ends a session.
func (r *run) delete(m message) {
	id := r.session(m)
	if own := wire.Get(m.Params, "sessionId"); id == nil && r.beside() && wire.Present(own) {
		id = own
	}
	p := r.sessions[wire.Text(id)]
	switch {
	case id == nil:
		r.refuse(m.ID, wire.InvalidParams, string(m.Method)+" names no session")
		return
	case p == nil:
		r.unknown(m.ID, id)
		return
	}
	r.dismiss(p)
	value := []byte("{}")
	if r.hello == nil && wire.Present(wire.Get(m.Params, "_meta", metaVersion)) {
		value = []byte(`{"resultType":"complete"}`)
	}
	r.say(wire.NewResult(m.ID, value))
}

// dismiss ends a session and its process.
func (r *run) dismiss(p *process) {
	p.dismissed = true
	r.drop(p)
	r.fail(p, "the session was ended")
	r.end(p)
}

// drop removes a process from the sessions and from those started ahead.
func (r *run) drop(p *process) {
	p.stopIdle()
	if r.sessions[p.id] == p {
		delete(r.sessions, p.id)
	}
	for i, w := range r.warm {
		if w == p {
			r.warm = append(r.warm[:i:i], r.warm[i+1:]...)
			break
		}
	}
}

// unknown refuses a request in a session that does not exist or has ended.
func (r *run) unknown(id, session []byte) {
	if r.beside() || session[0] != '"' {
		r.refuse(id, wire.InvalidParams, "unknown session")
		return
	}
	r.say(wire.NewFailure(id, unknownSession, "unknown session", wire.Set([]byte("{}"), session, "sessionId")))
}

// use records that a session is in use.
func (r *run) use(p *process) {
	if p.idle != nil {
		p.idle.Reset(r.Idle)
	}
}

func (p *process) stopIdle() {
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
}

// expire ends a session that has been unused for too long.
func (r *run) expire(p *process) {
	if p.idle == nil || p.dismissed {
		return
	}
	for _, q := range r.requests.All() {
		if q.to == p && !q.cancelled {
			r.use(p) // it is working
			return
		}
	}
	r.dismiss(p)
}

// withCapabilities returns initialize with the member capabilities, which servers require
// and the first alternative of SEP-1364 omits.
func withCapabilities(line []byte) []byte {
	if wire.Present(wire.Get(line, "params", "capabilities")) {
		return line
	}
	return wire.Set(line, []byte("{}"), "params", "capabilities")
}
