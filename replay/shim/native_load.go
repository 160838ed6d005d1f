package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

const (
	// replayWait is how long a native load that was answered may take to begin
	// with the history. One agent was seen to send one update of eight before
	// the answer, others may send none.
	replayWait = 500 * time.Millisecond

	// quietTime is without a further update when a replay has ended, and
	// quietLimit how long that is waited for.
	quietTime  = 250 * time.Millisecond
	quietLimit = 2 * time.Second
)

// A nativeLoad is a load or resume that was passed on to the agent. The shim watches it.
// If the agent does not know the session, does not answer, or does not replay a history
// that the store has, the shim serves what is missing.
type nativeLoad struct {
	*Shim
	asked   wire.Frame // the client's request
	session *session
	added   bool // the session was not active before this request
	replay  bool // the client wants the history

	activity chan struct{} // something came for the session
	done     chan struct{} // closed when the outcome is settled

	// Only in acts.
	queried bool        // the store was queried
	stored  bool        // the store has the session
	past    *history    // the history in the store; nil if there is none
	history bool        // the agent has sent some of it
	held    *wire.Frame // its answer, while it is not clear whether it goes to the client
	over    bool
}

// openNative passes session/load or session/resume on to the agent.
func (s *Shim) openNative(m message, replay bool, out []wire.Frame) []wire.Frame {
	id := m.param("sessionId")
	if !id.IsString() {
		return append(out, m.Frame)
	}
	c := s.sessions[id.Text()]
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	added := c == nil
	if added {
		c = s.addSession(id.Text())
		s.bind(c, id.Text(), nil)
	}
	n := &nativeLoad{
		Shim: s, asked: m.clone(), session: c, added: added, replay: replay,
		activity: make(chan struct{}, 1), done: make(chan struct{}),
	}
	c.native = n
	s.expect(m.env.ID, &call{answered: n.answered})
	s.spawn(n.watch)
	return append(out, m.Frame)
}

// watch waits for the outcome.
func (n *nativeLoad) watch() {
	t := time.NewTimer(n.patience())
	defer t.Stop()
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
		n.queryStore()
		t.Reset(n.rest())
	case <-t.C:
		n.do(func(out []wire.Frame) []wire.Frame { return n.silent(out) })
	case <-n.Shim.over:
	}
	for {
		select {
		case <-n.activity:
			t.Reset(n.rest())
		case <-t.C:
			n.do(func(out []wire.Frame) []wire.Frame { return n.silent(out) })
		case <-n.done:
			return
		case <-n.Shim.over:
			return
		}
	}
}

// rest returns how long the agent may now be silent.
func (n *nativeLoad) rest() time.Duration {
	d := n.patience()
	n.do(func(out []wire.Frame) []wire.Frame {
		if n.held != nil {
			d = replayWait
		}
		return out
	})
	return d
}

// queryStore finds out whether the store has the session, and its history.
func (n *nativeLoad) queryStore() {
	one, listing, err := n.find(n.session.client)
	var past *history
	if err == nil && n.replay {
		if past, err = n.read(one, listing, read(n.asked)); err != nil || past.empty() {
			past = nil
		}
	}
	n.do(func(out []wire.Frame) []wire.Frame {
		n.queried, n.stored, n.past = true, one.ID != "", past
		if held := n.held; held != nil && !n.over {
			n.held = nil
			n.kept.drop(*held)
			out = n.assess(read(again(*held)), out)
		}
		return out
	})
}

// noteActivity notes that something came for the session.
func (n *nativeLoad) noteActivity() {
	select {
	case n.activity <- struct{}{}:
	default:
	}
}

// answered handles the agent's answer.
func (n *nativeLoad) answered(m message, out []wire.Frame) []wire.Frame {
	n.noteActivity()
	return n.assess(m, out)
}

// assess decides whether the agent's answer goes to the client.
func (n *nativeLoad) assess(m message, out []wire.Frame) []wire.Frame {
	code := int(get(m.env.Error, "code").Int())
	method := string(read(n.asked).env.Method)
	switch {
	case code == rpc.MethodNotFound:
		n.lacks[method] = true
		return n.serve(out)
	case m.env.Error == nil && (n.history || !n.replay), m.env.Error != nil && !refuses(code):
	case !n.queried:
		return n.keep(m, out)
	case m.env.Error != nil && n.stored:
		return n.openInstead(out, asNew)
	case m.env.Error == nil && n.past != nil:
		return n.keep(m, out)
	}
	if m.env.Error == nil {
		n.session.opened = []byte(wire.ValueOf(m.env.Result).Raw())
	}
	return n.settle(m.env.Error == nil, append(out, m.Frame))
}

// keep holds the answer back until it is clear whether it goes to the client.
func (n *nativeLoad) keep(m message, out []wire.Frame) []wire.Frame {
	f := n.kept.take(m)
	n.held = &f
	n.noteActivity()
	return out
}

// update notes an update for the session. If the answer was held until the agent sends
// some history, update passes it on.
func (n *nativeLoad) update(variant string, out []wire.Frame) []wire.Frame {
	n.noteActivity()
	if !historic(variant) {
		return out
	}
	n.history = true
	if n.held == nil || read(*n.held).env.Error != nil {
		return out
	}
	held := again(*n.held)
	n.kept.drop(held)
	n.held = nil
	return n.settle(true, append(out, held))
}

// silent is called when the agent has been silent for too long.
func (n *nativeLoad) silent(out []wire.Frame) []wire.Frame {
	switch {
	case n.over:
		return out
	case n.held != nil: // the agent has sent no history, and the store has one
		return n.sendMissing(out)
	}
	n.abandon(n.asked)
	return n.serve(out)
}

// settle ends the watch. Success says that the agent has opened the session.
func (n *nativeLoad) settle(success bool, out []wire.Frame) []wire.Frame {
	n.over = true
	close(n.done)
	n.session.native = nil
	if !success && n.added {
		delete(n.sessions, n.session.client)
		delete(n.byAgent, n.session.agent)
	}
	return out
}

// serve opens the session as it would for an agent that lacks the method.
func (n *nativeLoad) serve(out []wire.Frame) []wire.Frame {
	return n.openInstead(out, n.openMethod(string(read(n.asked).env.Method), n.session.client))
}

// openInstead opens the session by another method. What the agent still sends for the
// native load is withheld.
func (n *nativeLoad) openInstead(out []wire.Frame, w openMethod) []wire.Frame {
	out = n.settle(true, out)
	if n.added {
		n.drop(n.session)
	}
	return n.openIn(read(n.asked), n.replay, w, out)
}

// sendMissing replays the history of a session that the agent has opened without
// replaying it. If the agent replays it after all, that is withheld.
func (n *nativeLoad) sendMissing(out []wire.Frame) []wire.Frame {
	held, c := *n.held, n.session
	out = n.settle(true, out)
	c.opened = []byte(get(held.Raw, "result").Raw())
	c.history, c.opening = true, true
	v := n.Shim.serve(read(n.asked), func(v *servedRequest) error {
		err := v.send(c, n.past, false)
		v.do(func(out []wire.Frame) []wire.Frame {
			v.kept.drop(held)
			if err == nil {
				out = append(out, again(held))
			}
			return v.release(c, out)
		})
		return err
	})
	n.kept.drop(v.request.Frame) // the agent has answered it
	return out
}
