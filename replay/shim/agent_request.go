package shim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// agentRequests are the requests that the shim itself sends to the agent.
type agentRequests struct {
	open   map[string]chan<- answer // by id
	prefix string                   // prefix of their ids
	count  int                      // number sent so far
}

// An answer is the agent's answer to a request from the shim. Either result or err is
// nil.
type answer struct {
	result, err []byte // JSON
}

// A refusal is an agent's error that the client gets unchanged.
type refusal struct{ err []byte }

func (e refusal) Error() string { return wire.ValueAt(e.err, "message").Text() }

// errSilent says that the agent does not answer.
var errSilent = errors.New("the agent does not answer")

// avoid changes the prefix of the shim's ids if a client's request uses the same one.
func (a *agentRequests) avoid(id []byte) {
	for strings.HasPrefix(wire.ValueOf(id).Text(), a.prefix) {
		a.prefix = fmt.Sprintf("acptap-%d:", len(a.prefix))
	}
}

// deliver hands a response to the job waiting for it. It returns false if m answers no
// request of the shim.
func (a *agentRequests) deliver(m message) bool {
	id := string(m.env.ID)
	waiting := a.open[id]
	if waiting == nil {
		return false
	}
	delete(a.open, id)
	waiting <- answer{result: bytes.Clone(m.env.Result), err: bytes.Clone(m.env.Error)}
	return true
}

// ask sends a request to the agent and waits for the answer. If target is not nil, ask
// returns errSilent when the answer does not come within the patience of the Shim. While
// the history of target is withheld, each of its updates starts that time anew: a replay
// may take long. An answer that comes later is withheld.
func (r *servedRequest) ask(method string, params []byte, target *session) (answer, error) {
	s := r.shim
	answered := make(chan answer, 1)
	var id []byte
	err := r.do(func(out []wire.Frame) []wire.Frame {
		s.asked.count++
		id = wire.Quote(fmt.Sprint(s.asked.prefix, s.asked.count))
		r.asking = string(id)
		s.asked.open[r.asking] = answered
		if target != nil {
			target.quietSince = time.Now()
		}
		return append(out, wire.Frame{Dir: wire.ClientToAgent, Raw: wire.NewRequest(id, method, params)})
	})
	if err != nil {
		return answer{}, err
	}
	t := time.NewTimer(s.patience())
	defer t.Stop()
	for {
		select {
		case a := <-answered:
			return a, nil
		case <-t.C:
			if target == nil {
				continue
			}
			rest := time.Duration(0)
			s.change(func() { rest = s.patience() - time.Since(target.quietSince) })
			if rest <= 0 {
				return r.stopAsking(id, answered, errSilent)
			}
			t.Reset(rest)
		case <-r.cancelled:
			return r.stopAsking(id, answered, errCancelled)
		case <-s.ends.agentGone:
			return answer{}, errOver
		}
	}
}

// stopAsking stops waiting for the agent's answer to a request of the shim, and returns
// why. If the answer has just arrived, it returns that, unless the client has cancelled.
func (r *servedRequest) stopAsking(id []byte, answered <-chan answer, why error) (a answer, err error) {
	err = why
	r.shim.change(func() {
		if r.shim.asked.open[string(id)] != nil {
			delete(r.shim.asked.open, string(id))
			r.shim.withholdAnswer(id)
		} else if a = <-answered; why == errSilent {
			err = nil
		} else {
			r.shim.withholdSetup(a.result)
		}
	})
	return a, err
}
