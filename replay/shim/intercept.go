package shim

import (
	"bytes"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// Intercept handles the next frame of client or agent. The proxy calls it.
func (s *Shim) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	s.held.begin()
	if s.stage == passive || f.Dir == wire.AgentStderr {
		return append(out, f)
	}
	if f.Dir == wire.AgentToClient {
		s.ends.hear()
	}
	m := read(f)
	switch m.env.Kind {
	case wire.Invalid:
		return append(out, f)
	case wire.Batch:
		return s.handleBatch(f, out)
	}
	return s.handle(m, out)
}

func (s *Shim) handle(m message, out []wire.Frame) []wire.Frame {
	if m.Dir == wire.ClientToAgent {
		return s.fromClient(m, out)
	}
	return s.fromAgent(m, out)
}

// handleBatch passes a batch unchanged if no entry needs a change. Otherwise it sends the
// entries one by one: JSON-RPC does not require answers to come in a batch.
func (s *Shim) handleBatch(f wire.Frame, out []wire.Frame) []wire.Frame {
	var split []wire.Frame
	unchanged := true
	wire.Entries(f.Raw, func(_ int, entry []byte) bool {
		one := f
		one.Raw, one.End, one.Size = entry, wire.LF, int64(len(entry))
		m, n := read(one), len(split)
		if m.env.Kind == wire.Invalid || m.env.Kind == wire.Batch {
			split = append(split, one)
		} else {
			split = s.handle(m, split)
		}
		if len(split) == n+1 && bytes.Equal(split[n].Raw, entry) && split[n].Dir == f.Dir {
			split[n].Origin = wire.Rewritten
		} else {
			unchanged = false
		}
		return true
	})
	if unchanged {
		return append(out, f)
	}
	return append(out, split...)
}

// fromClient handles a message of the client.
func (s *Shim) fromClient(m message, out []wire.Frame) []wire.Frame {
	method := string(m.env.Method)
	if m.env.Method == nil || s.stage == uninitialized && method != "initialize" && !serves(method) {
		return append(out, m.Frame)
	}
	if m.env.ID != nil {
		s.asked.avoid(m.env.ID)
	}
	switch {
	case method == "initialize":
		return s.onInitialize(m, out)
	case s.stage == uninitialized && m.env.ID == nil:
		return append(out, m.Frame)
	case s.stage == uninitialized:
		return append(out, m.fail(fault{rpc.InvalidRequest, "initialize comes first", nil}))
	case s.stage == initializing && strings.HasPrefix(method, "session/"):
		return s.holdIn(&s.early, m, out)
	case s.stage == initializing && method == "$/cancel_request":
		return s.onCancelRequest(m, out)
	case s.stage == initializing:
		return append(out, m.Frame)
	}
	switch method {
	case "session/new":
		return s.onNew(m, out)
	case "session/load", "session/resume":
		return s.onOpen(m, out)
	case "session/fork":
		return s.onFork(m, out)
	case "session/list":
		return s.onList(m, out)
	case "session/delete":
		return s.onDelete(m, out)
	case "session/close":
		return s.onClose(m, out)
	case "session/prompt":
		return s.onPrompt(m, out)
	case "$/cancel_request":
		return s.onCancelRequest(m, out)
	}
	return s.toAgent(m, out)
}

// serves reports whether the shim may answer requests of a method.
func serves(method string) bool { return slices.Contains(methods, method) }

// fromAgent handles a message of the agent.
func (s *Shim) fromAgent(m message, out []wire.Frame) []wire.Frame {
	if m.env.Method != nil {
		return s.toClient(m, out)
	}
	if s.asked.answer(m) {
		return out
	}
	m = s.translateError(m)
	if c := s.calls.Answer(wire.AgentToClient, 0, m.env.ID); c != nil {
		return c.answered(m, out)
	}
	return append(out, m.Frame)
}
