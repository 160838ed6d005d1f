package shim

import (
	"errors"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// openAtAgent makes the agent open the session by l.method, or as a new session if that
// fails.
func (l *load) openAtAgent() error {
	if l.method != asNew {
		err := l.openAgain()
		var e refusal
		if refused := errors.As(err, &e) && meansUnknown(errorCode(e.err)); !refused && !errors.Is(err, errSilent) {
			return err
		}
		l.method = asNew
	}
	l.shim.change(func() { l.shim.setups.ofShim++ })
	a, err := l.request.ask(dialect.NewSession, l.setupParams(""), nil)
	agentID := get(a.result, "sessionId")
	switch {
	case err != nil:
	case a.err != nil:
		err = refusal{a.err}
	case !agentID.IsString():
		err = fault{wire.InternalError, "the agent made no session", nil}
	}
	var context *contextBlock
	if err == nil {
		context = newContextBlock(l.session.clientID, l.past, l.shim.offers.embedded) // not in the act: it may take long
	}
	l.shim.do(func(out []wire.Frame) []wire.Frame {
		if err == nil {
			l.shim.bind(l.session, agentID.Text(), a.result)
			l.session.context = context
		}
		return l.shim.endSetup(out)
	})
	return err
}

// openAgain makes the agent resume or load the session under the client's id of it.
func (l *load) openAgain() error {
	s, id, method := l.shim, l.session.clientID, dialect.ResumeSession
	if l.method == byLoad {
		method = dialect.LoadSession
	}
	s.change(func() {
		s.bind(l.session, id, nil)
		l.session.withholdHistory = true
	})
	a, err := l.request.ask(method, l.setupParams(id), l.session)
	if err == nil && a.err != nil {
		err = refusal{a.err}
	}
	s.change(func() {
		if err != nil {
			delete(s.byAgentID, id)
			l.session.withholdHistory = false
			if errorCode(a.err) == wire.MethodNotFound || errors.Is(err, errSilent) {
				delete(s.offers.methods, method)
			}
			if a.err == nil { // the agent may still open the session and send its history
				s.withhold(id)
			}
		}
		l.session.setup = a.result
	})
	return err
}

// setupParams returns the parameters of the request that makes the agent open a session:
// those of the client's request, with another session id, or none if agentID is empty.
func (l *load) setupParams(agentID string) []byte {
	var p members
	if agentID != "" {
		p = p.text("sessionId", agentID)
	}
	l.request.params.ForEach(func(key, v wire.Value) bool {
		if key.Text() != "sessionId" && key.Text() != "replayFrom" {
			p = p.add(key.Text(), []byte(v.Raw()))
		}
		return true
	})
	if !l.request.message.param("mcpServers").IsArray() && l.shim.dialect != dialect.ACPv2 {
		p = p.add("mcpServers", []byte("[]"))
	}
	return p.object()
}

// withoutID turns the result of session/new into one of session/load. According to the
// prose of the specification an empty result is null; its schemas require an object.
func withoutID(result []byte) []byte {
	if !wire.ValueOf(result).IsObject() {
		return []byte("{}")
	}
	return wire.Delete(result, "sessionId")
}
