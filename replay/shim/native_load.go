package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

const (
	// replayWait limits how long the agent may take to start sending the history after it
	// has answered a native load. One agent was seen to send one update of eight before
	// the answer; others may send none.
	replayWait = 500 * time.Millisecond

	// A replay counts as finished after quietTime without an update. The shim waits at
	// most quietLimit for that.
	quietTime  = 250 * time.Millisecond
	quietLimit = 2 * time.Second
)

// A nativeLoad is a load or resume that the shim passed on to the agent and watches. If
// the agent does not know the session, does not answer, or does not replay a history that
// the store has, the shim serves what is missing. The shim counts what the agent replays
// (see replayCount).
//
// watch, maxSilence and queryStore run in a job, the other methods in acts. The steps that
// sendMissing starts run in another job; they may read past, which no longer changes then.
type nativeLoad struct {
	shim         *Shim
	request      wire.Frame // as the client sent it
	session      *session
	added        bool // the session was not open before this request
	wantsHistory bool // the client wants the history
	mends        bool // the agent's history waits until it is known whether anything is missing

	activity chan struct{} // gets an element when the answer or an update for the session arrives
	done     chan struct{} // closed when the phase deciding ends

	// Only in acts.
	phase       loadPhase
	queried     bool        // the store was queried
	stored      bool        // the store has the session
	past        *history    // the history in the store; nil: none
	sentHistory bool        // the agent has sent some history
	replay      replayCount // how much of it was sent
	answer      *wire.Frame // the agent's answer, held until it is decided whether the client gets it
}

// A loadPhase is the state of a nativeLoad.
type loadPhase uint8

const (
	deciding loadPhase = iota // who gives the client the answer and the history, the agent or the shim?
	counting                  // the client got the agent's answer, and the agent may still replay history
	finished                  // the shim no longer watches the load
)

// watchNative passes session/load or session/resume on to the agent and watches it.
func (s *Shim) watchNative(m message, wantsHistory bool, out []wire.Frame) []wire.Frame {
	id := m.param("sessionId")
	if !id.IsString() {
		return append(out, m.Frame)
	}
	c := s.byClientID[id.Text()]
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	added := c == nil
	if added {
		c = s.addSession(id.Text())
		s.bind(c, id.Text(), nil)
	}
	n := &nativeLoad{
		shim: s, request: m.clone(), session: c, added: added, wantsHistory: wantsHistory, mends: s.Mend && wantsHistory,
		activity: make(chan struct{}, 1), done: make(chan struct{}),
	}
	c.watched = n
	c.opening.active = c.opening.active || n.mends
	s.expect(m.env.ID, &call{answered: n.onAnswer})
	s.startJob(n.watch)
	return append(out, m.Frame)
}

// watch runs until the load is decided. It reads the store once there is a slot for that.
// If the client wants the history, watch reads the store even after the decision, for
// replayCount.
func (n *nativeLoad) watch() {
	t := time.NewTimer(n.shim.patience())
	defer t.Stop()
	slots, done := n.shim.jobs.slots, n.done
	if n.wantsHistory {
		done = nil
	}
	for {
		select {
		case slots <- struct{}{}:
			defer func() { <-n.shim.jobs.slots }()
			slots, done = nil, n.done // it has a slot
			n.queryStore()
			t.Reset(n.maxSilence())
		case <-n.activity:
			t.Reset(n.maxSilence())
		case <-t.C:
			n.shim.do(n.onSilence)
		case <-done:
			return
		case <-n.shim.ends.agentGone:
			n.shim.do(n.onAgentGone)
			return
		}
	}
}

// maxSilence returns how long the agent may currently be silent.
func (n *nativeLoad) maxSilence() time.Duration {
	d := n.shim.patience()
	n.shim.change(func() {
		if n.answer != nil {
			d = replayWait
		}
	})
	return d
}

// queryStore finds out whether the store has the session, and reads its history.
func (n *nativeLoad) queryStore() {
	one, listing, err := n.shim.find(n.session.clientID)
	var past *history
	if err == nil && n.wantsHistory {
		if past, err = n.shim.readHistory(one, listing, read(n.request)); err != nil || past.empty() {
			past = nil
		}
	}
	n.shim.do(func(out []wire.Frame) []wire.Frame {
		n.queried, n.stored, n.past = true, one.ID != "", past
		n.replay.recorded = past.toolCalls()
		if n.answer != nil && n.phase == deciding {
			out = n.assess(read(n.takeAnswer()), out)
		}
		return n.reportMissing(out)
	})
}

// noteActivity notes that the answer or an update for the session has arrived.
func (n *nativeLoad) noteActivity() {
	select {
	case n.activity <- struct{}{}:
	default:
	}
}

// noteUpdate notes an update for the session. If the answer is waiting for the first
// history, noteUpdate passes the answer.
func (n *nativeLoad) noteUpdate(m message, out []wire.Frame) []wire.Frame {
	n.noteActivity()
	if !historic(m.param("update.sessionUpdate").Text()) {
		return out
	}
	n.sentHistory = true
	n.replay.count(m.param("update"))
	if n.mends || n.answer == nil || read(*n.answer).env.Error != nil {
		return out
	}
	return n.settle(read(n.takeAnswer()), out)
}

// historic reports whether updates of a variant belong to the conversation, so that a load
// replays them.
func historic(variant string) bool {
	u, ok := dialect.LookupUpdate(variant)
	return ok && dialect.UserMessage <= u.Entity && u.Entity <= dialect.Compaction
}

// onAnswer handles the agent's answer.
func (n *nativeLoad) onAnswer(m message, out []wire.Frame) []wire.Frame {
	n.noteActivity()
	return n.assess(m, out)
}

// assess passes the agent's answer to the client, holds it until that can be decided, or
// makes the shim serve the request.
func (n *nativeLoad) assess(m message, out []wire.Frame) []wire.Frame {
	switch n.judge(m) {
	case tooEarly:
		f := n.shim.held.take(m)
		n.answer = &f
		n.noteActivity()
		return out
	case lacksMethod:
		delete(n.shim.offers.methods, n.method())
		return n.replace(n.shim.openMethod(n.method(), n.session.clientID), out)
	case lacksSession:
		return n.replace(asNew, out)
	}
	return n.settle(m, out)
}

// settle sends the client the agent's answer, after everything held for the session.
func (n *nativeLoad) settle(m message, out []wire.Frame) []wire.Frame {
	n.decide()
	switch {
	case m.env.Error == nil:
		n.session.setup = []byte(m.env.Result.Value().Raw())
		n.keepCounting()
	case n.added:
		delete(n.shim.byClientID, n.session.clientID)
		delete(n.shim.byAgentID, n.session.agentID)
	}
	if n.mends {
		out = n.shim.endOpening(n.session, out)
	}
	return append(out, m.Frame)
}

// A verdict says what an agent's answer to a load means.
type verdict uint8

const (
	settled      verdict = iota // the client gets the answer
	tooEarly                    // the answer must wait for the store or for the agent's history
	lacksMethod                 // the agent lacks the method after all
	lacksSession                // the agent does not know the session, but the store has it
)

// judge returns the verdict on the agent's answer. It changes nothing.
func (n *nativeLoad) judge(m message) verdict {
	code, success := m.errorCode(), m.env.Error == nil
	switch {
	case code == wire.MethodNotFound:
		return lacksMethod
	case !success && !meansUnknown(code):
		return settled // the agent may know the session, and refuse for another reason
	case success && !n.wantsHistory:
		return settled // no history is missing
	case success && n.sentHistory && !n.mends:
		return settled // the client gets the history from the agent
	case !n.queried:
		return tooEarly // something is missing, and the store may have it
	case success && n.past != nil:
		return tooEarly // the agent may still send history; if some is missing, sendMissing sends it
	case !success && n.stored:
		return lacksSession
	}
	return settled // the store does not have more than the agent
}

func (n *nativeLoad) method() string { return string(read(n.request).env.Method) }

// takeAnswer releases the agent's held answer and returns it.
func (n *nativeLoad) takeAnswer() wire.Frame {
	f := *n.answer
	n.answer = nil
	n.shim.held.drop(f)
	return released(f)
}

// onSilence is called when the agent has been silent for too long.
func (n *nativeLoad) onSilence(out []wire.Frame) []wire.Frame {
	switch {
	case n.phase != deciding:
		return out
	case n.answer != nil && !n.queried:
		return out // queryStore decides
	case n.answer != nil && n.sentHistory && (n.replay.missing() == 0 || n.session.opening.overflowed):
		return n.settle(read(n.takeAnswer()), out) // the history is whole, or the client has some of it
	case n.answer != nil: // the store has more history than the agent has sent
		return n.sendMissing(out)
	}
	n.shim.abandon(n.request)
	return n.replace(n.shim.openMethod(n.method(), n.session.clientID), out)
}

// onAgentGone passes what waits when the agent has ended.
func (n *nativeLoad) onAgentGone(out []wire.Frame) []wire.Frame {
	switch {
	case n.phase != deciding:
		return out
	case n.answer != nil:
		return n.settle(read(n.takeAnswer()), out)
	}
	if n.decide(); n.mends {
		out = n.shim.endOpening(n.session, out)
	}
	return out
}

// decide ends the phase deciding. The load is finished unless keepCounting follows.
func (n *nativeLoad) decide() {
	close(n.done)
	n.finish()
}

// finish ends the watch. If the client has asked for another load of the session since, the
// shim goes on watching that one.
func (n *nativeLoad) finish() {
	n.phase = finished
	if n.session.watched == n {
		n.session.watched = nil
	}
}

// replace serves the request instead of the agent. Anything the agent still sends for it
// is withheld.
func (n *nativeLoad) replace(method openMethod, out []wire.Frame) []wire.Frame {
	n.decide()
	if n.added {
		n.shim.forget(n.session)
	}
	held := n.session.opening.end()
	return n.shim.handleHeld(held, n.shim.serveOpen(read(n.request), n.wantsHistory, method, out))
}

// sendMissing sends the history of a session that the agent has opened without replaying
// all of it, and then passes the agent's answer. The agent's own replay is withheld.
func (n *nativeLoad) sendMissing(out []wire.Frame) []wire.Frame {
	s, c, held := n.shim, n.session, *n.answer
	n.decide()
	c.setup = []byte(wire.ValueAt(held.Raw, "result").Raw())
	c.withholdHistory, c.opening.active = true, true
	r := s.serve(read(n.request), func(r *servedRequest) error {
		err := r.sendHistory(c, n.past, false)
		s.do(func(out []wire.Frame) []wire.Frame {
			s.held.drop(held)
			if err == nil {
				out = append(out, released(held))
			}
			return s.endOpening(c, out)
		})
		return err
	})
	s.held.drop(r.message.Frame) // the agent has answered it
	return out
}
