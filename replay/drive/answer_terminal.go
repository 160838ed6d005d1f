package drive

import (
	"encoding/json"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// terminals holds the terminals of version 1, in which the client runs commands for the
// agent. The driver runs nothing: it answers from the tape.
type terminals struct{ recorded []*terminal }

// A terminal is a command on the tape.
type terminal struct {
	create *recordedRequest
	calls  []*recordedRequest // the requests with its id, in tape order
	known  string             // its id, once id has found it
}

// add adds a recorded request. The client makes terminal ids, so they are the same as on
// the tape.
func (t *terminals) add(a *recordedRequest) {
	if dialect.Does(a.method, dialect.StartsCommand) {
		t.recorded = append(t.recorded, &terminal{create: a})
		return
	}
	if one := t.find(a.session, wire.ValueAt(a.params, "terminalId").Text(), false); one != nil {
		one.calls = append(one.calls, a)
	}
}

// find returns the last terminal with an id. If made is set, it considers only terminals
// that the live agent has created.
func (t *terminals) find(session, id string, made bool) *terminal {
	for _, one := range slices.Backward(t.recorded) {
		if one.create.session == session && id != "" && one.id() == id && (one.create.used || !made) {
			return one
		}
	}
	return nil
}

func (t *terminal) id() string {
	if t.known == "" && t.create.answer != nil {
		t.known = wire.ValueAt(t.create.answer, "result.terminalId").Text()
	}
	return t.known
}

func (t *terminals) answer(q *question) reply {
	if dialect.Does(q.method, dialect.StartsCommand) {
		return t.make(q)
	}
	id := wire.ValueAt(q.params, "terminalId").Text()
	one := t.find(q.session, id, true)
	if one == nil {
		return q.fail(wire.InternalError, "there is no terminal %q", id)
	}
	var last *recordedRequest
	for _, a := range one.calls {
		if a.method != q.method || a.answer == nil {
			continue
		}
		if last = a; !a.used {
			break
		}
	}
	switch {
	case last != nil:
		return q.as(last)
	case dialect.Does(q.method, dialect.KillsCommand|dialect.ReleasesTerminal):
		return q.result(struct{}{})
	case dialect.Does(q.method, dialect.AwaitsExit):
		if status := one.exit(); status != nil {
			return q.result(status)
		}
	}
	return q.fail(wire.InternalError, "the tape does not tell that of terminal %q", id)
}

// exit returns the exit status from a terminal's recorded outputs, or nil.
func (t *terminal) exit() json.RawMessage {
	for _, a := range t.calls {
		if !dialect.Does(a.method, dialect.ReadsOutput) {
			continue
		}
		if status := wire.ValueAt(a.answer, "result.exitStatus"); status.IsObject() {
			return json.RawMessage(status.Raw())
		}
	}
	return nil
}

// make answers terminal/create with the first unused terminal whose request was the same.
func (t *terminals) make(q *question) reply {
	for _, one := range t.recorded {
		if !one.create.used && one.create.session == q.session && q.same(one.create) && one.create.answer != nil {
			return q.as(one.create)
		}
	}
	command := rpc.HideSecrets(q.method, "command", wire.ValueAt(q.params, "command").Raw())
	return q.fail(wire.InternalError, "the tape has no terminal for %s", wire.ValueOf(command).Text())
}
