package shim

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A load is a session/load, session/resume or session/fork of the client that the shim
// serves.
type load struct {
	*servedRequest
	session    *session
	active     bool // the session was active on this connection before
	replay     bool // the client wants the history
	openMethod openMethod
	past       *history
}

// open handles session/load and session/resume.
func (s *Shim) open(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID == nil {
		return s.toAgent(m, out)
	}
	method := string(m.env.Method)
	replay, fault := wantsReplay(s.own.dialect, m)
	if s.native(method) && s.sameName(m.param("sessionId").Text()) {
		return s.openNative(m, replay, out)
	}
	if fault != nil {
		return append(out, m.fail(*fault))
	}
	return s.openIn(m, replay, s.openMethod(method, m.param("sessionId").Text()), out)
}

// openIn opens a session for the client by the open method w.
func (s *Shim) openIn(m message, replay bool, w openMethod, out []wire.Frame) []wire.Frame {
	if fault := checkSetup(m); fault != nil {
		return append(out, m.fail(*fault))
	}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	id := m.param("sessionId").Text()
	c := s.sessions[id]
	active := c != nil
	switch {
	case active && (c.opening || c.busy()):
		return append(out, m.fail(fault{rpc.InvalidRequest, "session busy", nil}))
	case !active:
		c = s.addSession(id)
	}
	c.opening = true
	l := &load{session: c, active: active, replay: replay, openMethod: w}
	s.serve(m, func(v *servedRequest) error {
		l.servedRequest = v
		err := l.run()
		if err != nil {
			l.giveUp()
		}
		return err
	})
	return out
}

// wantsReplay reports whether session/load or session/resume asks for the history.
func wantsReplay(d dialect.Dialect, m message) (bool, *fault) {
	if string(m.env.Method) == "session/load" {
		return true, nil
	}
	from := m.param("replayFrom")
	if d == dialect.ACPv1 || from.IsNull() {
		return false, nil
	}
	if from.Get("type").Text() != "start" {
		return false, &fault{rpc.InvalidParams, "replayFrom is not of the type start", nil}
	}
	return true, nil
}

// checkSetup checks the parameters that load, resume and fork have in common.
func checkSetup(m message) *fault {
	cwd := m.param("cwd")
	servers := m.param("mcpServers")
	switch {
	case !m.param("sessionId").IsString():
		return &noSession
	case !cwd.IsString() || !filepath.IsAbs(cwd.Text()):
		return &fault{rpc.InvalidParams, "cwd is missing or not an absolute path", nil}
	case !servers.IsNull() && !servers.IsArray():
		return &fault{rpc.InvalidParams, "mcpServers is not an array", nil}
	}
	return nil
}

// run opens the session. It does so at the agent before it replays anything: a load that
// fails must not leave half a conversation with the client.
func (l *load) run() error {
	free, err := l.slot(l.gone)
	if err != nil {
		return err
	}
	defer free()
	if err := l.readHistory(); err != nil {
		return err
	}
	if !l.active {
		if err := l.create(); err != nil {
			return err
		}
	}
	if l.replay {
		err = l.send(l.session, l.past, l.openMethod == asNew)
	} else {
		err = l.recall(l.session, l.past)
	}
	if err != nil {
		return err
	}
	return l.act(func(out []wire.Frame) []wire.Frame {
		return l.release(l.session, append(out, l.reply(withoutID(l.session.opened))))
	})
}

// inUseWait is how long to wait for another proxy that has the session to end: an editor
// starts a proxy while the previous one still waits for its agent.
const inUseWait = 3 * time.Second

// readHistory finds the session in the store and reads it.
func (l *load) readHistory() error {
	one, listing, err := l.findUnused()
	if err != nil {
		return err
	}
	if got := l.request.param("cwd").Text(); one.Cwd != "" && !sameDir(one.Cwd, got) && !l.Adopt {
		return fault{rpc.InvalidParams, fmt.Sprintf("the session belongs to the directory %s, not to %s: open it there, or run acptap proxy with --sessions-cwd any", one.Cwd, got), members(nil).text("expected", one.Cwd).text("got", got).object()}
	}
	if l.past, err = l.Shim.read(one, listing, l.request); err != nil {
		return unreadable("session", err)
	}
	own := &l.past.parts[len(l.past.parts)-1]
	if n := len(own.epochs); l.active && n > 0 && own.epochs[n-1].run.Tape == l.Tape {
		own.live = n - 1
	}
	return nil
}

// findUnused is find, but waits up to inUseWait for another proxy to release the session.
// After it has succeeded, no other proxy loads the session.
func (l *load) findUnused() (record.SessionInfo, record.Listing, error) {
	const step = inUseWait / 20
	for wait := time.Duration(0); ; wait += step {
		one, listing, err := l.find(l.session.client)
		if err != nil {
			return one, listing, err
		}
		if l.acquireLease(l.session, one.Agent) {
			one, listing, err = l.find(l.session.client) // the proxy that had it until now may have added to it
			if err != nil || !l.busyElsewhere(one, listing) {
				return one, listing, err
			}
		}
		if wait >= inUseWait {
			return one, listing, fault{rpc.InvalidRequest, "session in use: another client is at work in it", nil}
		}
		if err := l.pause(step); err != nil {
			return one, listing, err
		}
	}
}

// create makes the agent open the session by openMethod, or as a new session if that
// fails.
func (l *load) create() error {
	if l.openMethod != asNew {
		err := l.reopen()
		var e refusal
		if refused := errors.As(err, &e) && refuses(e.code()); !refused && !errors.Is(err, errSilent) {
			return err
		}
		l.openMethod = asNew
	}
	l.do(func(out []wire.Frame) []wire.Frame {
		l.setupBegan()
		return out
	})
	a, err := l.ask("session/new", l.setupParams(""), nil)
	agent := get(a.result, "sessionId")
	switch {
	case err != nil:
	case a.err != nil:
		err = refusal{a}
	case !agent.IsString():
		err = fault{rpc.InternalError, "the agent made no session", nil}
	}
	var context *contextBlock
	if err == nil {
		context = newContextBlock(l.session.client, l.past, l.own.embedded) // not in the act: it may take long
	}
	l.do(func(out []wire.Frame) []wire.Frame {
		if err == nil {
			l.bind(l.session, agent.Text(), a.result)
			l.session.context = context
		}
		return l.setupEnded(out)
	})
	return err
}

// reopen makes the agent resume or load the session under its own id.
func (l *load) reopen() error {
	method := "session/resume"
	if l.openMethod == byLoad {
		method = "session/load"
	}
	l.do(func(out []wire.Frame) []wire.Frame {
		l.bind(l.session, l.session.client, nil)
		l.session.history = true
		return out
	})
	a, err := l.ask(method, l.setupParams(l.session.client), l.session)
	if err == nil && a.err != nil {
		err = refusal{a}
	}
	l.do(func(out []wire.Frame) []wire.Frame {
		if err != nil {
			delete(l.byAgent, l.session.client)
			l.session.history = false
			if a.code() == rpc.MethodNotFound || errors.Is(err, errSilent) {
				l.lacks[method] = true
			}
			if a.err == nil { // the agent may still open the session and send its history
				l.byAgent[l.session.client] = &session{client: l.session.client, agent: l.session.client, closed: true}
			}
		}
		l.session.opened = a.result
		return out
	})
	return err
}

// setupParams returns the parameters of the request that makes the agent open a session:
// those of the client's request, with another session id, or none if id is empty.
func (l *load) setupParams(id string) []byte {
	var p members
	if id != "" {
		p = p.text("sessionId", id)
	}
	l.params.ForEach(func(key, v wire.Value) bool {
		if key.Text() != "sessionId" && key.Text() != "replayFrom" {
			p = p.add(key.Text(), []byte(v.Raw()))
		}
		return true
	})
	if !l.request.param("mcpServers").IsArray() && l.own.dialect != dialect.ACPv2 {
		p = p.add("mcpServers", []byte("[]"))
	}
	return p.object()
}

// giveUp ends a load that failed. What the client sent for the session meanwhile is
// handled; requests that the agent sent in it are refused.
func (l *load) giveUp() {
	l.do(func(out []wire.Frame) []wire.Frame {
		c := l.session
		if !l.active {
			delete(l.sessions, c.client)
			if l.byAgent[c.agent] == c {
				c.closed = true // the agent's fresh session is left alone
			}
			for _, f := range c.fromAgent {
				l.kept.drop(f)
				if m := read(f); m.env.ID != nil {
					out = append(out, m.fail(notFound(m.param("sessionId").Text())))
				}
			}
			c.fromAgent = nil
			c.releaseLease()
		}
		return l.release(c, out)
	})
}

// A refusal is an error of the agent that the client gets unchanged.
type refusal struct{ answer }

func (e refusal) Error() string { return get(e.err, "message").Text() }

// withoutID turns the result of session/new into one of session/load. According to the
// prose of the specification an empty result is null; its schemas require an object.
func withoutID(result []byte) []byte {
	if !wire.ValueOf(result).IsObject() {
		return []byte("{}")
	}
	return wire.Delete(result, "sessionId")
}
