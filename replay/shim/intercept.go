package shim

import (
	"bytes"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Intercept handles the next frame from the client or the agent. The proxy calls it.
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

// fromClient handles a message from the client.
func (s *Shim) fromClient(m message, out []wire.Frame) []wire.Frame {
	method := string(m.env.Method)
	role := dialect.RoleOf(dialect.ACP, method)
	if m.env.Method == nil || s.stage == uninitialized && !role.Is(dialect.Initializes|servable) {
		return append(out, m.Frame)
	}
	if m.env.ID != nil {
		s.asked.avoid(m.env.ID)
	}
	switch {
	case role.Is(dialect.Initializes):
		return s.onInitialize(m, out)
	case s.stage == uninitialized && m.env.ID == nil:
		return append(out, m.Frame)
	case s.stage == uninitialized:
		return append(out, m.fail(fault{wire.InvalidRequest, "initialize comes first", nil}))
	case s.stage == initializing && strings.HasPrefix(method, "session/"):
		return s.holdIn(&s.early, m, out)
	case s.stage == initializing && role.Is(dialect.CancelsRequest):
		return s.onCancelRequest(m, out)
	case s.stage == initializing:
		return append(out, m.Frame)
	}
	switch {
	case role.Is(dialect.Creates):
		return s.onNew(m, out)
	case role.Is(dialect.Restores):
		return s.onOpen(m, out)
	case role.Is(dialect.Copies):
		return s.onFork(m, out)
	case role.Is(dialect.Lists):
		return s.onList(m, out)
	case role.Is(dialect.Deletes):
		return s.onDelete(m, out)
	case role.Is(dialect.Closes):
		return s.onClose(m, out)
	case role.Is(dialect.Prompts):
		return s.onPrompt(m, out)
	case role.Is(dialect.CancelsRequest):
		return s.onCancelRequest(m, out)
	}
	return s.toAgent(m, out)
}

// servable has the roles of the methods whose requests the shim may answer.
const servable = dialect.Restores | dialect.Copies | dialect.Lists | dialect.Deletes | dialect.Closes

// fromAgent handles a message from the agent.
func (s *Shim) fromAgent(m message, out []wire.Frame) []wire.Frame {
	if m.env.Method != nil {
		return s.toClient(m, out)
	}
	if s.asked.deliver(m) {
		return out
	}
	m = s.translateError(m)
	if c := s.calls.Answer(wire.AgentToClient, 0, m.env.ID); c != nil {
		return c.answered(m, out)
	}
	return append(out, m.Frame)
}
