package compare

import (
	"bytes"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A Step is a line of an outline.
type Step struct {
	Text string // without a line feed; other control characters stay as on the wire
	Position
}

// A Position is the frame that a step comes from.
type Position struct {
	Tape int    // index in Side.Tapes
	Seq  uint64 // number of a frame on that tape; 0: none
}

// outline writes the outline of a conversation. Conversations that are equal at a level have
// equal outlines.
func (s Side) outline(level Level, to *sheet) error {
	if level == None {
		return nil
	}
	o := NewOutliner(s, level)
	o.put, o.once = func(s Step) { to.add(s.Text) }, true
	for i, t := range s.Tapes {
		info, err := t.Info()
		if err != nil {
			return err
		}
		o.Next(i, &info)
		for f, err := range t.Frames(1) {
			if err != nil {
				return err
			}
			if err := o.Add(&f); err != nil {
				return err
			}
		}
	}
	if level != Exact { // which is written as frames are read
		o.write()
	}
	return nil
}

// An Outliner reads a conversation frame by frame and can write its outline at any time. It
// is not safe for concurrent use.
type Outliner struct {
	// Limit is the approximate maximum number of bytes of outline text. Set it before the
	// first frame. 0: no limit.
	Limit int

	level Level
	side  Side
	reading
	trace   trace.Trace
	dirs    remap.PathMap                  // maps working directories to $CWD
	carried map[messageKey][]dialect.Field // the fields of requests and responses to compare
	kinds   map[scope]*told
	headers headerSessions
	put     func(Step) // receives the outline
	once    bool       // the outline is written only once: what has been written is not kept
	outline
}

// A reading is how far the conversation has been read.
type reading struct {
	tape        int // index in Side.Tapes
	connections dialect.Connections
	protocol    dialect.Protocol
	began       []Position // of each connection in trace.Runs
}

// An outline is the output so far.
type outline struct {
	steps []Step
	size  int      // of their texts
	full  bool     // text was left out because of Outliner.Limit
	at    Position // of the next step
}

// NewOutliner returns an Outliner that has read nothing. The level must not be None. Only
// the level Exact needs s.Tapes.
func NewOutliner(s Side, level Level) *Outliner {
	o := &Outliner{level: level, side: s, carried: make(map[messageKey][]dialect.Field), kinds: make(map[scope]*told), headers: make(headerSessions)}
	o.put = func(s Step) { o.steps = append(o.steps, s) }
	return o
}

// Next switches to another of the tapes. info describes that tape.
func (o *Outliner) Next(tape int, info *record.Info) {
	o.dirs.Learn(info.Start.Cwd, "$CWD")
	o.tape, o.protocol = tape, info.Connection.Protocol
	o.connections = dialect.Connections{Protocol: o.protocol}
	o.connect(1)
}

// connect starts a connection.
func (o *Outliner) connect(seq uint64) {
	o.trace.Next(dialect.Connection{Protocol: o.protocol})
	o.began = append(o.began, Position{o.tape, seq})
}

// Add reads a frame with its bytes. It keeps no part of f.
func (o *Outliner) Add(f *dialect.Frame) error {
	if o.level == Exact {
		return o.exactFrame(f)
	}
	if o.connections.StartsNext(f) {
		o.connect(f.Seq)
	}
	o.trace.Add(f)
	o.headers.observe(f)
	if f.AtClient() {
		for m, e := range f.Messages {
			o.note(m, e)
		}
	}
	return nil
}

// Steps returns the outline of what was read. It is valid until the next call.
func (o *Outliner) Steps() []Step {
	if o.level != Exact {
		o.outline = outline{steps: o.steps[:0]}
		o.write()
	}
	return o.steps
}

// Full reports whether Limit cut off the end of the outline.
func (o *Outliner) Full() bool { return o.full }

// A scope is a session, or the connection of one tape.
type scope struct {
	session string
	run     int // 0 with a session
}

// told holds the kinds of a scope's updates and notifications that appear nowhere else in
// the outline.
type told struct {
	at    Position // of the first one
	kinds []string // sorted
}

// A messageKey identifies a request or response. Entries of a batch have the same seq.
type messageKey struct {
	run int
	seq uint64
	dir wire.Direction
	id  string // JSON
}

// note keeps what the trace does not keep of a message.
func (o *Outliner) note(f *dialect.Frame, e wire.Envelope) {
	switch {
	case shownOtherwise(f.Method):
	case e.Method != nil && e.ID == nil:
		o.noteKind(f)
	case e.Method != nil:
		o.keepFields(f, e, dialect.MatchFields(f.Method, e.Params))
	case o.level == Content:
		o.keepFields(f, e, dialect.ResponseMatchFields(f.Method, e))
	}
}

// keepFields keeps the fields of a request or response to compare. At level Shape that is
// only the name of a tool.
func (o *Outliner) keepFields(f *dialect.Frame, e wire.Envelope, fields []dialect.Field) {
	fields = rpc.Lasting(fields)
	if o.level == Shape {
		fields = slices.DeleteFunc(fields, func(field dialect.Field) bool {
			return !f.Does(dialect.CallsTool) || field.Path != "name"
		})
	}
	if len(fields) > 0 {
		o.carried[messageKey{len(o.trace.Runs) - 1, f.Seq, f.Dir, string(e.ID)}] = fields
	}
}

// noteKind notes the kind of a notification that appears nowhere else. When and how often
// these come is random: agents send many of them while they work.
func (o *Outliner) noteKind(f *dialect.Frame) {
	kind := f.Update
	switch role := dialect.RoleOf(dialect.AnyProtocol, f.Method); {
	case role.Is(dialect.TellsUpdate):
		if u, _ := dialect.LookupUpdate(kind); !u.Entity.IsAttribute() {
			return
		}
	case role.Is(dialect.CancelsTurns | dialect.CancelsRequest | dialect.TellsProgress):
		return
	default:
		kind = f.Method
	}
	at := scope{session: f.Session}
	if f.Session == "" || o.asConnection(f.Session) {
		at = scope{run: len(o.trace.Runs) - 1}
	}
	all := o.kinds[at]
	if all == nil {
		all = &told{at: Position{o.tape, f.Seq}}
		o.kinds[at] = all
	}
	if i, found := slices.BinarySearch(all.kinds, kind); !found {
		all.kinds = slices.Insert(all.kinds, i, kind)
	}
}

// headerSessions maps the session ids in HTTP headers to whether a message contains the
// id too. A session that only headers name is the equivalent of a stdio connection, and
// is compared as one (MCP 2025-11-25, Streamable HTTP, Session Management).
type headerSessions map[string]bool

// observe notes the next frame of the tape.
func (h headerSessions) observe(f *dialect.Frame) {
	if f.Stream == 0 {
		return
	}
	if head := wire.ReadMark(f.Frame).HTTP; head != nil {
		for _, field := range head.Headers {
			if strings.EqualFold(field.Name, "Mcp-Session-Id") {
				if _, known := h[field.Value]; !known {
					h[field.Value] = false
				}
			}
		}
	}
	if within, ok := h[f.Session]; ok && !within {
		h[f.Session] = bytes.Contains(f.Raw, []byte(`"`+f.Session+`"`))
	}
}

// only reports whether only headers name a session.
func (h headerSessions) only(id string) bool {
	within, ok := h[id]
	return ok && !within
}
