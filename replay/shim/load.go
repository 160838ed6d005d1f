package shim

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A load is a client's session/load, session/resume or session/fork that the shim serves.
// Its steps run in a job: open, fork and whatever they call. Only the job uses its fields.
// The steps use the Shim and the session in acts, except for the session's ids: while the
// load runs, only its own steps change those.
type load struct {
	shim         *Shim
	request      *servedRequest
	session      *session
	reload       bool // the session was already open on this connection
	wantsHistory bool // the client wants the history
	method       openMethod
	past         *history
}

// onOpen handles session/load and session/resume.
func (s *Shim) onOpen(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID == nil {
		return s.toAgent(m, out)
	}
	method, id := string(m.env.Method), m.param("sessionId").Text()
	wantsHistory, wrong := asksForHistory(s.dialect, m)
	if s.passesOn(method) && s.agentMayKnow(id) {
		return s.watchNative(m, wantsHistory, out)
	}
	if wrong != nil {
		return append(out, m.fail(*wrong))
	}
	return s.serveOpen(m, wantsHistory, s.openMethod(method, id), out)
}

// serveOpen opens a session for the client by a method.
func (s *Shim) serveOpen(m message, wantsHistory bool, method openMethod, out []wire.Frame) []wire.Frame {
	if wrong := checkSetup(m); wrong != nil {
		return append(out, m.fail(*wrong))
	}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	id := m.param("sessionId").Text()
	c := s.byClientID[id]
	if c != nil && (c.opening.active || c.turn.busy()) {
		return append(out, m.fail(fault{wire.InvalidRequest, "session busy", nil}))
	}
	l := &load{session: c, reload: c != nil, wantsHistory: wantsHistory, method: method}
	if c == nil {
		l.session = s.addSession(id)
	}
	s.startLoad(m, l, l.open)
	return out
}

// startLoad starts a job that runs the steps of a load.
func (s *Shim) startLoad(m message, l *load, steps func() error) {
	l.shim = s
	l.session.opening.active = true
	s.serve(m, func(r *servedRequest) error {
		l.request = r
		free, err := r.slot()
		if err == nil {
			err = steps()
			free()
		}
		if err != nil {
			l.giveUp()
		}
		return err
	})
}

// asksForHistory reports whether session/load or session/resume asks for the history.
func asksForHistory(d dialect.Dialect, m message) (bool, *fault) {
	if m.does(dialect.Loads) {
		return true, nil
	}
	from := m.param("replayFrom")
	if d == dialect.ACPv1 || from.IsNull() {
		return false, nil
	}
	if from.Get("type").Text() != "start" {
		return false, &fault{wire.InvalidParams, "replayFrom is not of the type start", nil}
	}
	return true, nil
}

// checkSetup checks the parameters that load, resume and fork share.
func checkSetup(m message) *fault {
	cwd := m.param("cwd")
	servers := m.param("mcpServers")
	switch {
	case !m.param("sessionId").IsString():
		return &noSession
	case !cwd.IsString() || !dialect.IsAbsolute(cwd.Text()):
		return &fault{wire.InvalidParams, "cwd is missing or not an absolute path", nil}
	case !servers.IsNull() && !servers.IsArray():
		return &fault{wire.InvalidParams, "mcpServers is not an array", nil}
	}
	return nil
}

// open opens the session. It does so at the agent before replaying anything: a load that
// fails must not leave half a conversation with the client.
func (l *load) open() error {
	if err := l.claimAndRead(); err != nil {
		return err
	}
	if !l.reload {
		if err := l.openAtAgent(); err != nil {
			return err
		}
	}
	var err error
	if l.wantsHistory {
		err = l.request.sendHistory(l.session, l.past, l.method == asNew)
	} else {
		err = l.request.noteShown(l.session, l.past)
	}
	if err != nil {
		return err
	}
	return l.request.do(func(out []wire.Frame) []wire.Frame {
		return l.shim.endOpening(l.session, append(out, l.request.reply(withoutID(l.session.setup))))
	})
}

// inUseWait limits the wait for another proxy that has the session and is about to end:
// an editor starts a proxy while the previous one still waits for its agent.
const inUseWait = 3 * time.Second

// claimAndRead takes the lease of the session and reads its history.
func (l *load) claimAndRead() error {
	one, listing, err := l.findUnused()
	if err != nil {
		return err
	}
	if got := l.request.message.param("cwd").Text(); one.Cwd != "" && !sameDir(one.Cwd, got) && !l.shim.Adopt {
		return fault{wire.InvalidParams, fmt.Sprintf("the session belongs to the directory %s, not to %s: open it there, or run acptap proxy with --sessions-cwd any", one.Cwd, got), members(nil).text("expected", one.Cwd).text("got", got).object()}
	}
	if l.past, err = l.shim.readHistory(one, listing, l.request.message); err != nil {
		return unreadable("session", err)
	}
	own := l.past.own()
	if n := len(own.epochs); l.reload && n > 0 && own.epochs[n-1].run.Tape == l.shim.Tape {
		own.live = n - 1
	}
	return nil
}

// findUnused is find, but waits up to inUseWait for another proxy to release the session.
// If it succeeds, no other proxy can load the session.
func (l *load) findUnused() (record.SessionInfo, record.Listing, error) {
	const step = inUseWait / 20
	for wait := time.Duration(0); ; wait += step {
		one, listing, err := l.shim.find(l.session.clientID)
		if err != nil {
			return one, listing, err
		}
		if l.shim.acquireLease(l.session, one.Agent) {
			one, listing, err = l.shim.find(l.session.clientID) // the proxy that had it until now may have added to it
			if err != nil || !l.shim.busyElsewhere(one, listing) {
				return one, listing, err
			}
		}
		if wait >= inUseWait {
			return one, listing, fault{wire.InvalidRequest, "session in use: another client is at work in it", nil}
		}
		if err := l.request.wait(nil, step); err != nil {
			return one, listing, err
		}
	}
}

// giveUp ends a load that failed. It handles what the client has sent for the session
// meanwhile, and fails the agent's requests in it.
func (l *load) giveUp() {
	s, c := l.shim, l.session
	s.do(func(out []wire.Frame) []wire.Frame {
		if !l.reload {
			delete(s.byClientID, c.clientID)
			if s.byAgentID[c.agentID] == c {
				c.closed = true // the agent keeps the session that it has just opened
			}
			for _, f := range c.opening.fromAgent {
				s.held.drop(f)
				if m := read(f); m.env.ID != nil {
					out = append(out, m.fail(notFound(m.param("sessionId").Text())))
				}
			}
			c.opening.fromAgent = nil
			c.releaseLease()
		}
		return s.endOpening(c, out)
	})
}

// onFork handles session/fork. The new session begins with the history of the other one up
// to its last finished turn. The other session is not affected, even if a turn is under way
// in it.
func (s *Shim) onFork(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID == nil {
		return s.toAgent(m, out)
	}
	if s.passesOn(dialect.ForkSession) {
		s.lookUpIDs()
		return s.forward(m, s.onSessionMade, s.onFork, out)
	}
	if wrong := checkSetup(m); wrong != nil {
		return append(out, m.fail(*wrong))
	}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	l := &load{session: s.addSession(newID()), method: asNew}
	s.startLoad(m, l, l.fork)
	return out
}

// fork opens the new session.
func (l *load) fork() error {
	one, listing, err := l.shim.find(l.request.message.param("sessionId").Text())
	if err != nil {
		return err
	}
	if l.past, err = l.shim.readHistory(one, listing, l.request.message); err != nil {
		return unreadable("session", err)
	}
	own := l.past.own()
	own.turns = lastFinished(own.Conversation, nil, time.Time{})
	if err := l.openAtAgent(); err != nil {
		return err
	}
	return l.request.do(func(out []wire.Frame) []wire.Frame {
		result := set(l.session.setup, "sessionId", wire.Quote(l.session.clientID))
		return l.shim.endOpening(l.session, append(out, l.request.reply(result)))
	})
}
