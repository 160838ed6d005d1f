package shim

import (
	"errors"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A servedRequest is a client's request that the shim answers itself, in a job.
type servedRequest struct {
	shim      *Shim
	message   message       // the request as the client sent it
	cancelled chan struct{} // closed in an act when the client cancels the request
	asking    string        // id of the shim's latest request to the agent for it; only in acts
}

// errOver ends a servedRequest without an answer because the connection has ended.
var errOver = errors.New("the connection has ended")

// errCancelled answers a request that the client has cancelled.
var errCancelled = fault{wire.RequestCancelled, "Request cancelled", nil}

// serve starts a job that runs steps for the request m. If steps returns an error, the
// request fails with it.
func (s *Shim) serve(m message, steps func(r *servedRequest) error) *servedRequest {
	r := &servedRequest{shim: s, message: read(s.held.take(m)), cancelled: make(chan struct{})}
	key := string(r.message.env.ID)
	s.served[key] = r
	s.startJob(func() {
		err := steps(r)
		if errors.Is(err, errOver) {
			return
		}
		s.do(func(out []wire.Frame) []wire.Frame {
			if s.served[key] == r {
				delete(s.served, key)
			}
			s.held.drop(r.message.Frame)
			var e fault
			var relayed refusal
			switch {
			case errors.As(err, &e):
				out = append(out, r.message.fail(e))
			case errors.As(err, &relayed):
				out = append(out, wire.Frame{Dir: wire.AgentToClient, Raw: wire.NewError(r.message.env.ID, relayed.err)})
			case err != nil:
				out = append(out, r.message.fail(fault{wire.InternalError, err.Error(), nil}))
			}
			return out
		})
	})
	return r
}

// reply makes the successful answer.
func (r *servedRequest) reply(result []byte) wire.Frame {
	return wire.Frame{Dir: wire.AgentToClient, Raw: wire.NewResult(r.message.env.ID, result)}
}

// do runs an act, unless the connection has ended or the client has cancelled the
// request.
func (r *servedRequest) do(act func(out []wire.Frame) []wire.Frame) error {
	err := errOver
	r.shim.do(func(out []wire.Frame) []wire.Frame {
		if r.isCancelled() {
			err = errCancelled
			return out
		}
		err = nil
		return act(out)
	})
	return err
}

// isCancelled must be called in an act.
func (r *servedRequest) isCancelled() bool {
	select {
	case <-r.cancelled:
		return true
	default:
		return false
	}
}

// wait blocks until done is closed or d has passed. It returns an error if the client
// cancels the request or the agent leaves first.
func (r *servedRequest) wait(done <-chan struct{}, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	case <-r.cancelled:
		return errCancelled
	case <-r.shim.ends.agentGone:
		return errOver
	}
	return nil
}

// slot blocks until one more session may be opened. The caller must call free when done.
func (r *servedRequest) slot() (free func(), err error) {
	slots := r.shim.jobs.slots
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-r.cancelled:
		return nil, errCancelled
	case <-r.shim.ends.agentGone:
		return nil, errOver
	}
}

// onCancelRequest handles $/cancel_request. If the request that it names is waiting, it
// waits in the same place. If the shim serves that request, it passes $/cancel_request on
// for its own request to the agent.
func (s *Shim) onCancelRequest(m message, out []wire.Frame) []wire.Frame {
	id, by := dialect.NamedID(string(m.env.Method), dialect.RequestID, m.Dir, m.env.Params)
	isNamed := func(f wire.Frame) bool {
		e := read(f).env
		return f.Dir == by && e.Method != nil && id != nil && string(e.ID) == string(id)
	}
	switch {
	case slices.ContainsFunc(s.early, isNamed):
		return s.holdIn(&s.early, m, out)
	case slices.ContainsFunc(s.lookup.parked, isNamed):
		return s.park(m, out)
	}
	for _, c := range s.byClientID {
		if c.opening.active && (slices.ContainsFunc(c.opening.fromClient, isNamed) || slices.ContainsFunc(c.opening.fromAgent, isNamed)) {
			return s.holdUntilOpen(c, m, out)
		}
	}
	r := s.served[string(id)]
	switch {
	case r == nil, by != wire.ClientToAgent:
		return append(out, m.Frame)
	case r.isCancelled():
		return out
	}
	close(r.cancelled)
	if s.asked.open[r.asking] != nil {
		out = append(out, m.patched("params.requestId", []byte(r.asking)).Frame)
	}
	return out
}
