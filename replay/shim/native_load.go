package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

const (
	// replayWait limits how long the agent may take to begin with the history after it
	// has answered a native load. One agent was seen to send one update of eight before
	// the answer; others may send none.
	replayWait = 500 * time.Millisecond

	// A replay counts as finished after quietTime without an update. The shim waits at
	// most quietLimit for that.
	quietTime  = 250 * time.Millisecond
	quietLimit = 2 * time.Second
)

// A nativeLoad is a load or resume that was passed on to the agent, and that the shim
// watches. If the agent does not know the session, does not answer, or does not replay a
// history that the store has, the shim serves what is missing.
type nativeLoad struct {
	shim         *Shim
	request      wire.Frame // as the client sent it
	session      *session
	added        bool // the session was not open before this request
	wantsHistory bool // the client wants the history

	activity chan struct{} // has an element if an update for the session or the answer came
	done     chan struct{} // closed when decided

	// Only in acts.
	queried     bool        // the store was queried
	stored      bool        // the store has the session
	past        *history    // the history in the store; nil: none
	sentHistory bool        // the agent has sent some history
	answer      *wire.Frame // the agent's answer, which waits for the decision whether the client gets it
	decided     bool        // the watch is over
}

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
		shim: s, request: m.clone(), session: c, added: added, wantsHistory: wantsHistory,
		activity: make(chan struct{}, 1), done: make(chan struct{}),
	}
	c.watched = n
	s.expect(m.env.ID, &call{answered: n.onAnswer})
	s.startJob(n.watch)
	return append(out, m.Frame)
}

// watch runs until the load is decided.
func (n *nativeLoad) watch() {
	t := time.NewTimer(n.shim.patience())
	defer t.Stop()
	select {
	case n.shim.jobs.slots <- struct{}{}:
		defer func() { <-n.shim.jobs.slots }()
		n.queryStore()
		t.Reset(n.maxSilence())
	case <-t.C:
		n.shim.do(n.onSilence)
	case <-n.shim.ends.agentGone:
	}
	for {
		select {
		case <-n.activity:
			t.Reset(n.maxSilence())
		case <-t.C:
			n.shim.do(n.onSilence)
		case <-n.done:
			return
		case <-n.shim.ends.agentGone:
			return
		}
	}
}

// maxSilence returns how long the agent may now be silent.
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
		if n.answer != nil && !n.decided {
			out = n.assess(read(n.takeAnswer()), out)
		}
		return out
	})
}

// noteActivity notes that an update for the session or the answer came.
func (n *nativeLoad) noteActivity() {
	select {
	case n.activity <- struct{}{}:
	default:
	}
}

// noteUpdate notes an update for the session. If the answer waits for the first history,
// it passes the answer.
func (n *nativeLoad) noteUpdate(variant string, out []wire.Frame) []wire.Frame {
	n.noteActivity()
	if !historic(variant) {
		return out
	}
	n.sentHistory = true
	if n.answer == nil || read(*n.answer).env.Error != nil {
		return out
	}
	out = append(out, n.takeAnswer())
	n.decide()
	return out
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
	n.decide()
	if m.env.Error == nil {
		n.session.setup = []byte(m.env.Result.Value().Raw())
	} else if n.added {
		delete(n.shim.byClientID, n.session.clientID)
		delete(n.shim.byAgentID, n.session.agentID)
	}
	return append(out, m.Frame)
}

// A verdict says what an answer of the agent to a load means.
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
		return settled // the agent may know the session, and has another reason to refuse
	case success && !n.wantsHistory:
		return settled // no history is missing
	case success && n.sentHistory:
		return settled // the client gets the history from the agent
	case !n.queried:
		return tooEarly // something is missing, and the store may have it
	case success && n.past != nil:
		return tooEarly // the agent may still send the history; if not, sendMissing does
	case !success && n.stored:
		return lacksSession
	}
	return settled // the store does not have more than the agent
}

func (n *nativeLoad) method() string { return string(read(n.request).env.Method) }

// takeAnswer ends the wait of the agent's answer and returns it.
func (n *nativeLoad) takeAnswer() wire.Frame {
	f := *n.answer
	n.answer = nil
	n.shim.held.drop(f)
	return again(f)
}

// onSilence is called when the agent has been silent for too long.
func (n *nativeLoad) onSilence(out []wire.Frame) []wire.Frame {
	switch {
	case n.decided:
		return out
	case n.answer != nil: // the agent has sent no history, and the store has one
		return n.sendMissing(out)
	}
	n.shim.abandon(n.request)
	return n.replace(n.shim.openMethod(n.method(), n.session.clientID), out)
}

// decide ends the watch.
func (n *nativeLoad) decide() {
	n.decided = true
	close(n.done)
	n.session.watched = nil
}

// replace serves the request instead of the agent. What the agent still sends for it is
// withheld.
func (n *nativeLoad) replace(method openMethod, out []wire.Frame) []wire.Frame {
	n.decide()
	if n.added {
		n.shim.forget(n.session)
	}
	return n.shim.serveOpen(read(n.request), n.wantsHistory, method, out)
}

// sendMissing sends the history of a session that the agent has opened without replaying
// it, and then passes the agent's answer. If the agent replays the history after all, that
// is withheld.
func (n *nativeLoad) sendMissing(out []wire.Frame) []wire.Frame {
	s, c, held := n.shim, n.session, *n.answer
	n.decide()
	c.setup = []byte(get(held.Raw, "result").Raw())
	c.withholdHistory, c.opening.active = true, true
	r := s.serve(read(n.request), func(r *servedRequest) error {
		err := r.sendHistory(c, n.past, false)
		s.do(func(out []wire.Frame) []wire.Frame {
			s.held.drop(held)
			if err == nil {
				out = append(out, again(held))
			}
			return s.endOpening(c, out)
		})
		return err
	})
	s.held.drop(r.message.Frame) // the agent has answered it
	return out
}
