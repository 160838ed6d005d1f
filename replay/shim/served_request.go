package shim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A servedRequest is a request of the client that the shim answers itself, in a goroutine
// of its own.
type servedRequest struct {
	*Shim
	request message       // as the client sent it
	params  wire.Value    // of request
	gone    chan struct{} // closed when the client has cancelled it
	asking  string        // id of the shim's last request to the agent for it; only in acts
	away    bool          // gone is closed; only in acts
}

// ownRequests are the requests that the shim itself sends to the agent.
type ownRequests struct {
	asked    map[string]chan<- answer // open requests by id
	prefix   string                   // of their ids
	requests int                      // how many were sent
}

// An answer is the agent's answer to a request of the shim. Either result or err is nil.
type answer struct {
	result, err []byte // JSON
}

// code returns the code of the error, 0 of a success.
func (a answer) code() int { return int(get(a.err, "code").Int()) }

// errOver ends a servedRequest because the connection is over.
var errOver = errors.New("the connection is over")

// errSilent ends a wait for the agent.
var errSilent = errors.New("the agent does not answer")

// errCancelled is the answer to a request that the client has cancelled.
var errCancelled = fault{rpc.RequestCancelled, "Request cancelled", nil}

// serve runs steps for a request of the client. If steps returns an error, that is the
// answer.
func (s *Shim) serve(m message, steps func(v *servedRequest) error) *servedRequest {
	v := &servedRequest{Shim: s, request: read(s.kept.take(m)), gone: make(chan struct{})}
	v.params = wire.ValueOf(v.request.env.Params)
	key := string(v.request.env.ID)
	s.served[key] = v
	s.spawn(func() {
		err := steps(v)
		if errors.Is(err, errOver) {
			return
		}
		v.do(func(out []wire.Frame) []wire.Frame {
			if s.served[key] == v {
				delete(s.served, key)
			}
			s.kept.drop(v.request.Frame)
			var e fault
			var r refusal
			switch {
			case errors.As(err, &e):
				out = append(out, v.request.fail(e))
			case errors.As(err, &r):
				out = append(out, wire.Frame{Dir: wire.AgentToClient, Raw: rpc.Error(v.request.env.ID, r.err)})
			case err != nil:
				out = append(out, v.request.fail(fault{rpc.InternalError, err.Error(), nil}))
			}
			return out
		})
	})
	return v
}

// reply makes the successful answer.
func (v *servedRequest) reply(result []byte) wire.Frame {
	return wire.Frame{Dir: wire.AgentToClient, Raw: rpc.Result(v.request.env.ID, result)}
}

// act runs an act. It fails if the connection is over or the client has cancelled the
// request.
func (v *servedRequest) act(act func(out []wire.Frame) []wire.Frame) error {
	err := errOver
	v.do(func(out []wire.Frame) []wire.Frame {
		if v.away {
			err = errCancelled
			return out
		}
		err = nil
		return act(out)
	})
	return err
}

// ask sends a request to the agent and waits for the answer. If target is not nil, it
// gives up when the agent has sent nothing for that session for too long. An answer that
// comes later is withheld.
func (v *servedRequest) ask(method string, params []byte, target *session) (answer, error) {
	answered := make(chan answer, 1)
	var id []byte
	err := v.act(func(out []wire.Frame) []wire.Frame {
		v.requests++
		id = quote(fmt.Sprint(v.prefix, v.requests))
		v.asking = string(id)
		v.asked[v.asking] = answered
		if target != nil {
			target.seen = time.Now()
		}
		return append(out, wire.Frame{Dir: wire.ClientToAgent, Raw: rpc.Request(id, method, params)})
	})
	if err != nil {
		return answer{}, err
	}
	t := time.NewTimer(v.patience())
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
			v.do(func(out []wire.Frame) []wire.Frame {
				rest = v.patience() - time.Since(target.seen)
				return out
			})
			if rest <= 0 {
				return v.leave(string(id), answered, errSilent)
			}
			t.Reset(rest)
		case <-v.gone:
			return v.leave(string(id), answered, errCancelled)
		case <-v.over:
			return answer{}, errOver
		}
	}
}

// leave gives up a request to the agent for a reason, unless it has just been answered.
func (v *servedRequest) leave(id string, answered <-chan answer, why error) (a answer, err error) {
	err = why
	v.do(func(out []wire.Frame) []wire.Frame {
		if v.asked[id] != nil {
			delete(v.asked, id)
			v.ignore([]byte(id))
		} else if a = <-answered; why == errSilent {
			err = nil
		} else {
			v.suppress(a.result)
		}
		return out
	})
	return a, err
}

// pause waits for d. It fails if the request is cancelled or the connection ends first.
func (v *servedRequest) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-v.gone:
		return errCancelled
	case <-v.over:
		return errOver
	}
}

// keepClear changes the prefix of the ids of own requests if the id of a client's request
// begins with it too.
func (s *Shim) keepClear(id []byte) {
	for strings.HasPrefix(wire.ValueOf(id).Text(), s.prefix) {
		s.prefix = fmt.Sprintf("acptap-%d:", len(s.prefix))
	}
}

// cancelRequest handles $/cancel_request. If it is for a request that the shim serves, it
// is passed on for the request that the shim has sent to the agent. If it is for a request
// that is held back, it is held back too.
func (s *Shim) cancelRequest(m message, out []wire.Frame) []wire.Frame {
	id, by := dialect.NamedID("$/cancel_request", dialect.RequestID, m.Dir, m.env.Params)
	named := func(f wire.Frame) bool {
		e := read(f).env
		return f.Dir == by && e.Method != nil && id != nil && string(e.ID) == string(id)
	}
	switch {
	case slices.ContainsFunc(s.early, named):
		return s.keep(&s.early, m, out)
	case slices.ContainsFunc(s.parked, named):
		return s.park(m, out)
	}
	for _, one := range s.sessions {
		if one.opening && (slices.ContainsFunc(one.fromClient, named) || slices.ContainsFunc(one.fromAgent, named)) {
			return s.hold(one, m, out)
		}
	}
	v := s.served[string(id)]
	switch {
	case v == nil, by != wire.ClientToAgent:
		return append(out, m.Frame)
	case v.away:
		return out
	}
	v.away = true
	close(v.gone)
	if s.asked[v.asking] != nil {
		out = append(out, m.patched("params.requestId", []byte(v.asking)).Frame)
	}
	return out
}
