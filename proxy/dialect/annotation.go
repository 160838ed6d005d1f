package dialect

import (
	"iter"

	"github.com/acptap/acptap/proxy/wire"
)

// A Frame is a wire.Frame together with what it means on its connection.
type Frame struct {
	wire.Frame
	Annotation
}

// Asks reports whether f is a request that needs a response of its own. A frame sent in
// place of another, or redelivered, needs none: the other one does.
func (f *Frame) Asks() bool {
	return f.Kind == wire.Request && f.Origin != wire.Rewritten && !f.Redelivered
}

// NeedsAnswer reports whether f is a request that counts as Unanswered if it is still
// open at the end of the tape. That excludes requests that the end of the connection
// answers, requests sent after the client had left, and redelivered ones.
func (f *Frame) NeedsAnswer() bool {
	return f.Asks() && !f.Events.Has(AskedNobody) && row(AnyProtocol, f.Method).ends() != AtClose
}

// Annotation is what a frame means on its connection.
type Annotation struct {
	Method  string       // of a response: its request's; empty if there is none or it is unknown
	Update  string       // the variant of a session/update, such as agent_message_chunk; for a message passed along a proxy chain, and for its response, the inner method
	Session string       // the id of the session that the frame belongs to, which is not a subagent's or a second id of a session (Foreign); empty: the connection's
	Request uint64       // of a response: Seq of its request, or of the batch that the request is in; with RequestCancelled, of the cancelled request; 0 if unknown
	Events  Events       // the events that this frame causes
	Entries []Annotation // of a batch: one for each of its first 1,024 entries, in order; then Method, Update and Request are empty, and Session is set if the entries agree
}

// PassedAlong is the prefix of the name of a message passed along a proxy chain.
const PassedAlong = "» "

// Name returns the name of a message: its method, or the variant of a session/update. For a
// message passed along a proxy chain it is the inner method, prefixed with PassedAlong.
func (a *Annotation) Name() string {
	switch {
	case a.Update == "":
		return a.Method
	case Wraps(a.Method):
		return PassedAlong + a.Update
	}
	return a.Update
}

// Replies yields what answers or cancels a request: a itself, or entries of it.
func (a *Annotation) Replies() iter.Seq[*Annotation] {
	return func(yield func(*Annotation) bool) {
		if a.Request != 0 && !yield(a) {
			return
		}
		for i := range a.Entries {
			if e := &a.Entries[i]; e.Request != 0 && !yield(e) {
				return
			}
		}
	}
}

// MakesSession reports whether the message makes a session. Its id may be that of an
// earlier one: agents that forget their sessions count from one again.
func (a *Annotation) MakesSession() bool {
	return a.Events.Has(SessionOpened) && a.Does(MakesSession)
}

// OnlyNames reports whether a message merely names a session that need not exist: a
// request to open, close or delete it, or the refusal of one.
func (a *Annotation) OnlyNames() bool {
	return a.Events&(SessionOpened|SessionClosed|SessionGone) == 0 && a.Does(Opens|Closes|Deletes)
}

// Events is a set of events that a frame can cause.
type Events uint32

// The events.
const (
	Initialized       Events = 1 << iota // the connection's dialect is settled
	SessionOpened                        // made, loaded, resumed or forked: set at the successful response
	SessionClosed                        // closed, or ended: set at the successful response
	SessionGone                          // deleted: set at the successful response
	SessionLost                          // the response says that the session is unknown (MCP -32043, ACP -32002 to load or resume)
	StateRenewed                         // a new state or expiry of a data-layer session
	TurnBegan                            // a prompt
	TurnEnded                            // the prompt's response, if it ends the turn; or else the idle state_update
	ToolFailed                           // an MCP tool's result says isError
	RequestCancelled                     // a peer cancels an open request of its own; in MCP it no longer wants a response
	CallFailed                           // the status of an ACP tool call becomes failed
	PermissionRefused                    // the response denies a permission, or declines an elicitation
	SlowAgent                            // the agent was silent in a turn: Silent
	ExitFailed                           // a mark: the agent ended badly
	BytesLost                            // a mark: bytes are or may be missing because reading a stream or part of acptap failed
	AgentEnded                           // a mark: the agent ended
	AskedNobody                          // a request of the agent, to a client that has closed its side
	SlowTool                             // SilentTool
	SlowSetup                            // SilentSetup
	SlowRequest                          // Hung
	CallCancelled                        // the status of an ACP tool call is failed because the client cancelled the turn, or the user rejected the call
	UpdateEchoed                         // the agent sends the update before it again, under a second id of the session
	PermissionGranted                    // the response grants a permission, or answers an elicitation
	PermissionDropped                    // the response says that the user did not decide: the turn was cancelled, or the elicitation
	TurnStopped                          // with TurnEnded: without an error, but badly, such as a refusal of the model
	AnswerUnwanted                       // MCP: an error in response to a request that its sender had cancelled
)

// Has reports whether all of e are in the set.
func (s Events) Has(e Events) bool { return s&e == e }

// Failed reports whether a message, with its annotation, is a response that reports a
// failure: an error, or an MCP tool's result with isError.
func Failed(e wire.Envelope, a *Annotation) bool {
	return e.Method == nil && wire.Present(e.Error) || a.Events.Has(ToolFailed)
}

// SessionFacts is what a frame says about its session beyond its Annotation. Empty fields
// say nothing; so does a batch with entries of several sessions.
type SessionFacts struct {
	Cwd     string  // working directory: set with SessionOpened
	Title   string  // the title that the agent gave
	Prompt  string  // with TurnBegan: the first line of the prompt's text, cut to 80 characters
	Parent  string  // with SessionOpened by a fork: the id of the source
	Setup   uint64  // with SessionOpened: Seq of the request that asked for it
	Expires string  // expiresAt of a data-layer session, as sent
	Outcome Outcome // with TurnEnded, or of a call that hung until it was cancelled
	Cost    Cost    // of the session so far
}

// Messages yields the message in f, or each annotated entry of a batch as a frame of its
// own, with its envelope. It yields nothing for marks, stderr and lines that are not
// messages.
func (f *Frame) Messages(yield func(m *Frame, e wire.Envelope) bool) {
	switch f.Kind {
	case wire.Request, wire.Response, wire.Notification:
		yield(f, wire.Scan(f.Raw))
	case wire.Oversized:
		yield(f, wire.ScanPrefix(f.Raw))
	case wire.Batch:
		wire.Entries(f.Raw, func(i int, raw []byte) bool {
			if i == len(f.Entries) {
				return false
			}
			m, e := &Frame{Frame: f.Frame, Annotation: f.Entries[i]}, wire.Scan(raw)
			m.Kind, m.Raw, m.Size, m.Failed = e.Kind, raw, int64(len(raw)), Failed(e, &m.Annotation)
			return yield(m, e)
		})
	}
}
