// Package trace turns the frames of a tape into what happened: calls with their latency,
// sessions, turns with their waits and usage, and for each session of the Agent Client
// Protocol the merged conversation. A Trace takes one frame at a time and may be read between
// frames; its Events report what each frame began, changed or ended. The package stores
// nothing, reads no clock, and accepts every frame: it counts what it does not understand and
// otherwise ignores it. The state of a Trace cannot be saved. To resume in the middle of a
// tape, add its frames from the first one again and skip the events that are already known.
// skip the events that are known already.
package trace

import (
	"encoding/json"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Trace holds what happened on a tape, or on several consecutive tapes. The zero value is
// ready to use. Its contents may be read between calls of Add, and change with the next one.
// It is not safe for concurrent use.
type Trace struct {
	// Side is the point of view. It must not change after the first Add.
	Side Side

	// Brief makes a Trace for Events only: it keeps only what is open, so Calls, Turns and
	// Entities stay empty, and its memory is bounded. It must not change after the first
	// Add.
	Brief bool

	// Live means that the current tape is still being recorded: whatever is open when End or
	// Next is called continues. Next clears it.
	Live bool

	Runs     []dialect.Connection // one for each tape
	Calls    []*Call              // in the order of their requests
	Sessions []*Session           // in order of first appearance

	tracker  *dialect.Tracker // sees only messages that identify client and agent
	pending  dialect.OpenRequests[*pendingCall]
	sessions map[string]*Session
	ids      []knownID  // of a brief Trace, the oldest first
	met      []*Session // of a brief Trace, the oldest first
	shelf    shelf
	life
}

// A Side is the end of the connection whose view the Trace takes. The two views differ only in
// frames that acptap created, changed or withheld.
type Side uint8

// The sides.
const (
	ClientSide Side = iota // what the client sent and received
	AgentSide              // what the agent sent and received
)

func (s Side) sees(f *dialect.Frame) bool {
	if s == AgentSide {
		return f.AtAgent()
	}
	return f.AtClient()
}

// A Span is a range of frames on a tape.
type Span struct {
	Run   int           `json:"run"`   // index in Trace.Runs
	First uint64        `json:"first"` // Seq of its first frame
	Last  uint64        `json:"last"`  // Seq of its last frame
	Began time.Duration `json:"began"` // when the first crossed the wire, since the tape began
	Ended time.Duration `json:"ended"` // when the last did

	Untimed bool `json:"untimed,omitempty"` // one of these times is unknown

	entry int // index of the message in the first frame, if that is a batch
}

// took returns the duration as text, or nothing if it is unknown.
func (s *Span) took() string {
	if s.Untimed {
		return ""
	}
	return ", " + termtext.Duration(s.Ended-s.Began)
}

func begin(f *frame) Span {
	return Span{Run: f.run, First: f.Seq, Last: f.Seq, Began: f.At, Ended: f.At, Untimed: f.Untimed, entry: f.entry}
}

func (s *Span) extend(f *frame) {
	s.Last, s.Ended, s.Untimed = f.Seq, f.At, s.Untimed || f.Untimed
}

// Next ends the current tape and begins another. Ids of requests and entities start over;
// sessions continue. c is what is known about the connection so far, possibly nothing. A
// Trace of a single tape need not call it.
func (t *Trace) Next(c dialect.Connection) {
	t.End()
	t.life, t.Live = life{events: t.events}, false
	t.Runs = append(t.Runs, c)
	t.tracker = dialect.NewTracker(c.Protocol)
	t.pending = dialect.OpenRequests[*pendingCall]{}
	if t.sessions == nil {
		t.sessions = make(map[string]*Session)
	}
}

// Add handles the next frame of the tape, with its bytes. It keeps no part of f.
func (t *Trace) Add(f *dialect.Frame) {
	if len(t.Runs) == 0 {
		t.Next(dialect.Connection{})
	}
	t.note(f)
	if !t.Side.sees(f) || f.Dir == wire.AgentStderr || f.Redelivered {
		return
	}
	entry := 0
	for m, e := range f.Messages {
		if m.Kind != wire.Invalid && m.Kind != wire.Batch {
			t.message(m, e, entry)
		}
		entry++
	}
}

func (t *Trace) message(raw *dialect.Frame, e wire.Envelope, entry int) {
	f := frame{Frame: raw, trace: t, run: len(t.Runs) - 1, entry: entry, env: e, role: dialect.RoleOf(dialect.AnyProtocol, raw.Method)}
	if f.role.Is(dialect.Initializes | dialect.Discovers) {
		t.tracker.Observe(&raw.Frame, e)
		if c := t.tracker.Connection(); c.Dialect != dialect.Unknown {
			if c.Proposal == dialect.NoProposal {
				c.Proposal = t.Runs[f.run].Proposal // often known only from use
			}
			if t.Runs[f.run] != c {
				t.Runs[f.run] = c
				t.emit(Event{Kind: ConnectionEvent, Phase: Changed}.about(&t.since).at(f.Frame))
			}
		}
	}
	f.dialect = t.Runs[f.run].Dialect
	switch {
	case len(f.env.Method) == 0:
		t.response(&f)
	case f.env.ID != nil:
		t.request(&f)
	default:
		t.notification(&f)
	}
}

func (t *Trace) request(f *frame) {
	w := t.beginCall(f)
	s := t.session(f.Session, f)
	if s == nil {
		f.emit(w.event(Began))
		return
	}
	w.session = s
	current := s.Conversation.working()
	if current != nil && !f.role.Is(dialect.Prompts) {
		w.inTurn = current.Number
	}
	f.emit(w.event(Began))
	if f.Dir == wire.ClientToAgent {
		s.clientRequest(f, w)
		return
	}
	if current != nil {
		current.Work.Requests.Sent++
		w.during = current
	}
	s.Conversation.historySent()
	s.Conversation.output(f)
	s.Conversation.asks(f, w)
	if f.role.Is(dialect.AsksPermission) {
		w.permission, w.tool = s.Conversation.ask(f)
		f.emit(w.permissionEvent(Began))
	}
	if f.role.Is(dialect.AsksInput) {
		w.question = s.Conversation.question(f)
	}
}

func (t *Trace) notification(f *frame) {
	s := t.session(f.Session, f)
	_, foreign := f.Foreign(f.env.Params)
	switch {
	case f.Events.Has(dialect.UpdateEchoed):
		return
	case f.role.Is(dialect.CancelsRequest):
		t.cancelRequest(f)
	case f.role.Is(dialect.InputDone):
		t.visited(f)
	case f.role.Is(dialect.CancelsTurns):
		if s != nil && f.Dir == wire.ClientToAgent && !foreign {
			t.cancelTurns(f, s)
		}
	}
	if s != nil && f.role.Is(dialect.TellsUpdate) && f.Dir == wire.AgentToClient {
		s.update(f)
	}
}

func (t *Trace) response(f *frame) {
	w := t.endCall(f)
	id := f.Session
	if w.Session != "" {
		// acptap may have changed the session's id on the way to the agent; this side
		// knows the one in its own request.
		id = w.Session
	}
	w.Session = id
	if s := t.session(id, f); s != nil {
		w.session = s
		s.answered(f, w)
	}
	if !w.Open() {
		f.emit(w.ended(f))
	}
}

// A frame is a message that the Trace's side saw.
type frame struct {
	*dialect.Frame
	trace   *Trace
	session *Session // the session that it belongs to; nil: none
	from    string   // session id of the subagent that sent it; empty: the session's own
	above   *Entity  // the parent of new entities
	run     int
	entry   int // index in a batch
	dialect dialect.Dialect
	env     wire.Envelope
	role    dialect.Role // of its method
}

func (f *frame) params() wire.Value { return f.env.Params.Value() }
func (f *frame) result() wire.Value { return f.env.Result.Value() }

// key returns the key of an entity. Each subagent has its own ids.
func (f *frame) key(kind, id string) entityKey {
	if f.from != "" && kind != subagentKind {
		kind += " of " + f.from
	}
	return entityKey{f.run, kind, f.clip(id)}
}

// nullClears reports whether null clears a field of an update. In version 1 null
// means the same as an absent field: unchanged.
func (f *frame) nullClears() bool {
	return f.dialect == dialect.ACPv2Early || f.dialect == dialect.ACPv2
}

// Cut replaces a value that is incomplete because the frame was too large to read in full.
const Cut = `{"type":"_acptap/cut"}`

// keep copies a value, so that it does not keep the whole frame in memory. A brief
// Trace keeps no values.
func (f *frame) keep(v wire.Value) json.RawMessage {
	switch {
	case f.trace.Brief:
		return nil
	case !f.complete(v):
		return json.RawMessage(Cut)
	}
	return json.RawMessage(v.Raw())
}

// complete reports whether v is complete JSON, as all values of a checked frame are.
func (f *frame) complete(v wire.Value) bool {
	return f.Kind != wire.Oversized || json.Valid([]byte(v.Raw())) && utf8.ValidString(v.Raw())
}

// list copies the elements of an array. Any other value has none.
func (f *frame) list(array wire.Value) []json.RawMessage {
	var list []json.RawMessage
	for v := range elements(array) {
		list = f.append(list, v)
	}
	return list
}

// elements yields the elements of an array. Any other value has none.
func elements(array wire.Value) iter.Seq[wire.Value] {
	return func(yield func(wire.Value) bool) {
		if array.IsArray() {
			array.ForEach(func(_, v wire.Value) bool { return yield(v) })
		}
	}
}
