// Package shim gives an agent the session methods that it lacks: load, resume,
// list, fork, delete and close, in the three dialects of the Agent Client
// Protocol. It stands between client and agent as a proxy.Interceptor, and
// answers from the store what the agent does not, or does badly. The agent then
// has a session of its own under another id, and is told with the first prompt
// what was said before.
//
// What the agent does itself passes unchanged, byte for byte. A frame that must
// change is patched where it differs, and recorded as changed. Nothing is replayed
// that would ask the client for something: no permission, no file, no terminal. No
// request stays without an answer, and what is held back is bounded in size.
//
// The shim cannot give an agent its memory back, only a transcript of about 96 KiB.
// It knows the sessions that were recorded, and refuses one of which a part is
// missing. Frames that are larger than proxy shows to an Interceptor pass it by.
package shim

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A Mode says when the shim serves a session method.
type Mode uint8

// The modes.
const (
	Auto  Mode = iota // where the agent does not offer the method, or fails to do what it offers
	Force             // always
)

// A Shim is a proxy.Interceptor for one connection. The fields are set before
// the proxy runs; Close is called after it.
type Shim struct {
	Store *record.Store
	Agent string // the agent's name in the store, as record.Info.Agent
	Tape  string // id of the tape on which this connection is recorded

	// Called returns the name of a tape's agent for people, in titles; nil: its name
	// in the store.
	Called func(record.Info) string

	Mode     Mode
	Raw      bool          // replay the updates one by one as they were recorded, not merged
	AnyAgent bool          // offer sessions that other agents recorded too
	Imported bool          // offer imported sessions too, which anybody can have written
	Adopt    bool          // let a session be loaded in another working directory, which is then its own
	Fork     bool          // offer session/fork, which is not stable
	Patience time.Duration // how long the agent may take to answer a session method without sending anything; 0 is 20 s

	// do runs an act. The fields below are read and changed only in acts and in
	// calls by the proxy, unless their comments say otherwise.
	do func(act func(out []wire.Frame) []wire.Frame) bool
	background
	query storeQuery

	tracker *dialect.Tracker // is shown initialize only
	own     capabilities     // what the agent itself offers
	client  clientSupport
	stage   stage
	early   []wire.Frame                // held back until initialize is answered
	kept    heldFrames                  // all frames that are held back
	lacks   map[string]bool             // methods that the agent offers and has failed to do
	calls   dialect.OpenRequests[*call] // to the agent
	served  map[string]*servedRequest   // requests of the client that the shim answers, by id as sent
	ownRequests

	sessions map[string]*session // by the client's id
	byAgent  map[string]*session // by the agent's
	listed   *listed             // sessions on the pages of the agent's list that the client has got; nil: none
	pendingSetups
}

// A stage is the state of a connection.
type stage uint8

const (
	uninitialized stage = iota // initialize was not sent
	initializing               // and not answered
	active                     // the shim is at work
	passive                    // everything passes: the shim cannot serve this connection
)

// Start prepares the shim for a connection. The proxy calls it.
func (s *Shim) Start(h proxy.Handle) {
	s.do = func(act func(out []wire.Frame) []wire.Frame) bool {
		return h.Do(func(out []wire.Frame) []wire.Frame {
			s.kept.begin()
			return act(out)
		})
	}
	s.kept.frames = map[uint64]wire.Frame{}
	s.over, s.closed = make(chan struct{}), make(chan struct{})
	s.slots = make(chan struct{}, maxOpening)
	s.tracker = dialect.NewTracker(dialect.ACP)
	s.lacks = map[string]bool{}
	s.served = map[string]*servedRequest{}
	s.asked = map[string]chan<- answer{}
	s.prefix = "acptap:"
	s.sessions = map[string]*session{}
	s.byAgent = map[string]*session{}
	s.knownIDs = map[string]bool{}
}

// Intercept handles the next frame of client or agent. The proxy calls it.
func (s *Shim) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	s.kept.begin()
	if s.stage == passive || f.Dir == wire.AgentStderr {
		return append(out, f)
	}
	if f.Dir == wire.AgentToClient {
		s.hear()
	}
	m := read(f)
	switch m.env.Kind {
	case wire.Invalid:
		return append(out, f)
	case wire.Batch:
		return s.batch(f, out)
	}
	return s.message(m, out)
}

func (s *Shim) message(m message, out []wire.Frame) []wire.Frame {
	if m.Dir == wire.ClientToAgent {
		return s.fromClient(m, out)
	}
	return s.fromAgent(m, out)
}

// batch passes a batch unchanged if no entry needs a change, else its entries one by one:
// JSON-RPC does not require that answers come in a batch.
func (s *Shim) batch(f wire.Frame, out []wire.Frame) []wire.Frame {
	var split []wire.Frame
	whole := true
	wire.Entries(f.Raw, func(_ int, entry []byte) bool {
		one := f
		one.Raw, one.End, one.Size = entry, wire.LF, int64(len(entry))
		m, n := read(one), len(split)
		if m.env.Kind == wire.Invalid || m.env.Kind == wire.Batch {
			split = append(split, one)
		} else {
			split = s.message(m, split)
		}
		if len(split) == n+1 && bytes.Equal(split[n].Raw, entry) && split[n].Dir == f.Dir {
			split[n].Origin = wire.Rewritten
		} else {
			whole = false
		}
		return true
	})
	if whole {
		return append(out, f)
	}
	return append(out, split...)
}

// fromClient handles a message of the client.
func (s *Shim) fromClient(m message, out []wire.Frame) []wire.Frame {
	method := string(m.env.Method)
	if m.env.Method == nil || s.stage == uninitialized && method != "initialize" && !served(method) {
		return append(out, m.Frame)
	}
	if m.env.ID != nil {
		s.keepClear(m.env.ID)
	}
	switch {
	case method == "initialize":
		return s.offer(m, out)
	case s.stage == uninitialized && m.env.ID == nil:
		return append(out, m.Frame)
	case s.stage == uninitialized:
		return append(out, m.fail(fault{rpc.InvalidRequest, "initialize comes first", nil}))
	case s.stage == initializing && strings.HasPrefix(method, "session/"):
		return s.keep(&s.early, m, out)
	case s.stage == initializing && method == "$/cancel_request":
		return s.cancelRequest(m, out)
	}
	if s.stage == initializing {
		return append(out, m.Frame)
	}
	switch method {
	case "session/new":
		s.sessionNew(m)
		return append(out, m.Frame)
	case "session/load", "session/resume":
		return s.open(m, out)
	case "session/fork":
		return s.fork(m, out)
	case "session/list":
		return s.list(m, out)
	case "session/delete":
		return s.remove(m, out)
	case "session/close":
		return s.close(m, out)
	case "session/prompt":
		return s.prompt(m, out)
	case "$/cancel_request":
		return s.cancelRequest(m, out)
	}
	return s.toAgent(m, out)
}

// served reports whether the shim may answer requests of a method.
func served(method string) bool { return slices.Contains(methods, method) }

// fromAgent handles a message of the agent.
func (s *Shim) fromAgent(m message, out []wire.Frame) []wire.Frame {
	if m.env.Method != nil {
		return s.toClient(m, out)
	}
	id := string(m.env.ID)
	if waiting := s.asked[id]; waiting != nil {
		delete(s.asked, id)
		waiting <- answer{result: bytes.Clone(m.env.Result), err: bytes.Clone(m.env.Error)}
		return out
	}
	c := s.calls.Answer(wire.AgentToClient, 0, m.env.ID)
	if c == nil {
		return append(out, s.errorRenamed(m).Frame)
	}
	return c.answered(s.errorRenamed(m), out)
}

// errorRenamed returns a response. If its error names a session, it names it by the
// client's id.
func (s *Shim) errorRenamed(m message) message {
	const path = "error.data.sessionId"
	if m.env.Error == nil {
		return m
	}
	if c := s.byAgent[get(m.Raw, path).Text()]; c != nil && c.client != c.agent {
		return m.patched(path, c.clientJSON)
	}
	return m
}
