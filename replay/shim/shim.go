// Package shim gives an agent the session methods that it lacks: load, resume, list,
// fork, delete and close, in the three dialects of the Agent Client Protocol. A Shim is a
// proxy.Interceptor between client and agent. It answers from the store whatever the
// agent does not answer, or answers badly. To continue a session of an agent without
// memory, it makes the agent open a new session, sets the recorded mode, model and
// options there, and adds a transcript to the first prompt.
//
// Whatever the agent handles passes unchanged, byte for byte, unless Mend is set. If a
// frame must change, the shim patches only the values that differ and marks the frame as
// rewritten. A replayed history asks the client for nothing: no permission, no file, no
// terminal. Every request is answered while the connection lasts, and the frames that
// wait need bounded memory.
//
// The shim cannot restore an agent's memory: the transcript is limited to about 96 KiB. The
// shim knows the sessions in the store only, and refuses a session that has a gap in its
// recording. Frames larger than the proxy gives to an Interceptor bypass the shim.
//
// # Where to look
//
//	what a frame goes through first        intercept.go, then the handler of its method
//	what the answer to initialize offers   initialize.go
//	client or agent gets a wrong id        session_ids.go, session.go; an id that the agent
//	                                       uses twice: session_new.go, id_lookup.go
//	a load that the agent lacks            load.go, load_at_agent.go
//	a load that the agent has              native_load.go; if it fails, as above
//	history that the agent leaves out      native_replay.go
//	frames while a session opens           opening.go; no room: held_frames.go
//	the history that the client gets       history.go, renderer.go, render_*.go
//	tool calls or messages get mixed up    entity_ids.go
//	the agent knows nothing of the past    context_block.go, context_text.go
//	a mode, a model or an option is wrong  settings.go
//	a session missing from the list        stored_sessions.go, session_list.go
//	fork, close, delete                    load.go, close_delete.go
//	prompts and turns                      prompt.go
//	"session in use", "session busy"       lease.go, load.go
//	no answer, a late one, or two          forward.go, agent_request.go, served_request.go
//	the connection does not end            stream_ends.go, jobs.go
//
// # Acts and jobs
//
// An act is a function that may use the state of the Shim. Acts run one at a time: the
// calls by the proxy are acts, and Shim.do runs others. An act never blocks. What takes
// time is a job, a goroutine that uses the state only in acts of its own. A step handles
// one message in an act; handlers of a method are steps, named after it, such as
// onPrompt.
//
// # Whose id
//
// Client and agent may know one session by two ids. A clientID is the client's id of a
// session, and an agentID is the agent's; to translate a frame is to replace one by the
// other. Messages, tool calls and terminals have ids as well: the shown id is the one by
// which the client knows such an entity.
//
// # Where a frame waits
//
// There are seven places. Shim.held counts what is in all of them.
//
//	Shim.early             the client's session methods, until initialize is answered
//	idLookup.parked        answers to session/new, and the client's messages for unknown
//	                       sessions, until the ids in the store are known
//	setups.unclaimed       updates for unknown sessions, until a session claims them or
//	                       no pending setup may claim them
//	opening.fromClient     the client's messages for a session, until it is open
//	opening.fromAgent      the agent's messages for a session, until it is open
//	nativeLoad.answer      the agent's answer to a load, until the store is read, and then
//	                       until the client gets the history, from the store or the agent
//	servedRequest.message  a request of the client, until the shim has answered it
//
// # How a request of the client ends
//
//	pass      the agent answers, and the client gets that answer
//	replace   the agent cannot serve the request or stays silent, and the shim serves it
//	reply     the shim answers with a result
//	fail      the shim answers with an error
//	relay     the shim answers with an error that the agent gave to a request of the shim
//	cancel    the client no longer wants an answer, and the shim fails the request
//	abandon   the shim stops waiting for the agent, and withholds an answer that is late
//
// A request that is still open when the connection ends gets no answer.
package shim

import (
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A Shim is a proxy.Interceptor for one connection. Set the fields before the proxy runs,
// and call Close when it has returned.
type Shim struct {
	Store *record.Store
	Agent string // the agent's name in the store, as in record.Info.Agent
	Tape  string // id of the tape that records this connection

	// Called returns the name to show for a tape's agent in titles. If it is nil, titles
	// have the agent's name in the store.
	Called func(record.Info) string

	// Complain reports a line of text that the user should see. It must not block, and
	// may be nil.
	Complain func(text string)

	Force    bool          // serve every session method, even those that the agent offers
	Mend     bool          // serve the recorded history if the agent's own load omits tool calls
	Raw      bool          // replay each update as it was recorded instead of merging updates
	AnyAgent bool          // also offer sessions that other agents recorded
	Imported bool          // also offer imported sessions, which anyone may have written
	Adopt    bool          // allow loading a session in another working directory, which becomes its own
	Fork     bool          // offer session/fork, which is not stable
	Patience time.Duration // how long the agent may take to answer a session method without sending anything; 0: 20 s

	// do runs an act, which appends the frames to send, and blocks until they are sent. It
	// returns false if the proxy has ended.
	do func(act func(out []wire.Frame) []wire.Frame) bool

	query storeQuery // has its own locks

	// These do not change once the stage is active, and jobs run only then: they may read
	// these outside acts.
	dialect  dialect.Dialect
	supports clientSupport

	// The fields below are for acts only, except for what their types say.
	jobs    jobs
	ends    streamEnds
	stage   stage
	tracker *dialect.Tracker // observes only initialize
	offers  agentOffers

	held   heldFrames                  // every waiting frame, wherever it waits
	early  []wire.Frame                // session methods that arrived before the answer to initialize
	calls  dialect.OpenRequests[*call] // requests to the agent whose answers the shim handles
	asked  agentRequests
	served map[string]*servedRequest // by request id, as sent

	byClientID map[string]*session
	byAgentID  map[string]*session
	listed     *listed // what the agent has listed; nil: nothing
	lookup     idLookup
	setups     setups
}

// A stage is the state of a connection.
type stage uint8

const (
	uninitialized stage = iota // the client has not sent initialize
	initializing               // the agent has not answered initialize
	active                     // the shim is at work
	passive                    // the shim cannot serve this connection: everything passes
)

// Start prepares the shim for a connection. The proxy calls it.
func (s *Shim) Start(h proxy.Handle) {
	s.do = func(act func(out []wire.Frame) []wire.Frame) bool {
		return h.Do(func(out []wire.Frame) []wire.Frame {
			s.held.begin()
			return act(out)
		})
	}
	s.held.frames = map[uint64]wire.Frame{}
	s.ends.agentGone, s.ends.closed = make(chan struct{}), make(chan struct{})
	s.jobs.slots = make(chan struct{}, maxOpening)
	s.tracker = dialect.NewTracker(dialect.ACP)
	s.served = map[string]*servedRequest{}
	s.asked = agentRequests{open: map[string]chan<- answer{}, prefix: "acptap:"}
	s.byClientID = map[string]*session{}
	s.byAgentID = map[string]*session{}
	s.lookup.used = map[string]bool{}
}

// change runs an act that sends nothing.
func (s *Shim) change(act func()) {
	s.do(func(out []wire.Frame) []wire.Frame {
		act()
		return out
	})
}
