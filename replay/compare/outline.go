package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/messages"
	"github.com/acptap/acptap/replay/internal/remap"
)

// outline returns a conversation as lines. Conversations that are the same on the level
// have the same lines. A line has no line feed. Other control characters in it are as
// they came over the wire.
func (s Side) outline(level Level) ([]string, error) {
	switch level {
	case None:
		return nil, nil
	case Exact:
		return exactLines(s)
	}
	o := outliner{level: level, side: s, carried: make(map[messageKey][]dialect.Field), kinds: make(map[scope][]string)}
	for _, t := range s.Tapes {
		if err := o.read(t); err != nil {
			return nil, err
		}
	}
	return o.outline(), nil
}

// An outliner reads a conversation, and then writes its outline.
type outliner struct {
	level   Level
	side    Side
	trace   trace.Trace
	dirs    remap.PathMap                  // working directories, which are replaced by $CWD
	carried map[messageKey][]dialect.Field // the fields of requests and responses that are compared
	kinds   map[scope][]string             // kinds of updates and notifications that show nowhere else, sorted
	lines   []string
}

// A scope is a session, or the connection of one tape.
type scope struct {
	session string
	run     int // 0 with a session
}

// A messageKey identifies a request or response. Entries of a batch have the same seq.
type messageKey struct {
	run int
	seq uint64
	dir wire.Direction
	id  string // JSON
}

func (o *outliner) read(t *record.Tape) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	o.dirs.Learn(info.Start.Cwd, "$CWD")
	next := func() { o.trace.Next(dialect.Connection{Protocol: info.Connection.Protocol}) }
	next()
	connections := dialect.Connections{Protocol: info.Connection.Protocol}
	for f, err := range t.Frames(1) {
		if err != nil {
			return err
		}
		if connections.StartsNext(&f) {
			next()
		}
		o.trace.Add(&f)
		if f.AtClient() {
			messages.Each(&f, o.note)
		}
	}
	return nil
}

// note keeps what the trace does not keep of a message.
func (o *outliner) note(f *dialect.Frame, e wire.Envelope) {
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

// keepFields keeps the fields of a request or response that are compared. On the level
// Shape that is only the name of a tool.
func (o *outliner) keepFields(f *dialect.Frame, e wire.Envelope, fields []dialect.Field) {
	fields = messages.Lasting(fields)
	if o.level == Shape {
		fields = slices.DeleteFunc(fields, func(field dialect.Field) bool {
			return f.Method != "tools/call" || field.Path != "name"
		})
	}
	if len(fields) > 0 {
		o.carried[messageKey{len(o.trace.Runs) - 1, f.Seq, f.Dir, string(e.ID)}] = fields
	}
}

// noteKind notes the kind of a notification that shows nowhere else. When such
// notifications come, and how often, is chance: agents send many of them while they
// work.
func (o *outliner) noteKind(f *dialect.Frame) {
	kind := f.Update
	switch effect := dialect.EffectOf(dialect.AnyProtocol, f.Method); {
	case f.Method == "session/update":
		if u, _ := dialect.LookupUpdate(kind); !u.Entity.IsAttribute() {
			return
		}
	case effect == dialect.CancelsTurns, effect == dialect.CancelsRequest, f.Method == "notifications/progress":
		return
	default:
		kind = f.Method
	}
	at := scope{session: f.Session}
	if f.Session == "" {
		at.run = len(o.trace.Runs) - 1
	}
	if i, found := slices.BinarySearch(o.kinds[at], kind); !found {
		o.kinds[at] = slices.Insert(o.kinds[at], i, kind)
	}
}

// outline writes connections, then sessions.
func (o *outliner) outline() []string {
	for _, s := range o.trace.Sessions {
		o.dirs.Learn(s.Cwd, "$CWD")
	}
	if o.side.Session == "" {
		for run, c := range o.trace.Runs {
			o.connection(run, c)
		}
	}
	for i, s := range o.inOrder() {
		o.session(i+1, s)
	}
	return o.lines
}

// inOrder returns the sessions that are compared, in the order of the first call in
// each. The order in which the agent answers is chance.
func (o *outliner) inOrder() []*trace.Session {
	calls := make(map[string]int) // by session: how many calls there are from its first one on
	for i, c := range slices.Backward(o.trace.Calls) {
		calls[c.Session] = len(o.trace.Calls) - i
	}
	var list []*trace.Session
	for _, s := range o.trace.Sessions {
		if len(s.Spans) > 0 && (o.side.Session == "" || o.side.Session == s.ID) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *trace.Session) int { return cmp.Compare(calls[b.ID], calls[a.ID]) })
	return list
}

// line writes a line.
func (o *outliner) line(depth int, text string) {
	text, _ = o.dirs.Text(text, false)
	o.lines = append(o.lines, strings.Repeat("  ", depth)+text)
}

// connection writes the calls that belong to no session, or to one that does not
// exist.
func (o *outliner) connection(run int, c dialect.Connection) {
	o.line(0, strings.TrimSpace("connection "+c.Protocol.String()+" "+c.Dialect.String()))
	known := make(map[string]bool)
	for _, s := range o.trace.Sessions {
		known[s.ID] = true
	}
	o.calls(func(c *trace.Call) bool {
		return c.Run == run && !known[c.Session] && !(o.side.AsNew && dialect.EffectOf(dialect.ACP, c.Method) == dialect.Opens)
	})
	o.told(scope{run: run})
}

// calls writes some of the calls, those of the client first: between the two sides
// there is no order.
func (o *outliner) calls(some func(c *trace.Call) bool) {
	for _, dir := range []wire.Direction{wire.ClientToAgent, wire.AgentToClient} {
		for _, c := range o.trace.Calls {
			if c.Dir == dir && some(c) {
				o.call(1, c)
			}
		}
	}
}

// told writes which kinds of notifications there were.
func (o *outliner) told(at scope) {
	if kinds := o.kinds[at]; len(kinds) > 0 {
		o.line(1, "told: "+strings.Join(kinds, ", "))
	}
}

// call writes a call and how it was answered.
func (o *outliner) call(depth int, c *trace.Call) {
	outcome := "ok"
	switch {
	case c.Open():
		outcome = "no answer"
	case c.Failed:
		outcome = "error"
	}
	o.line(depth, c.Method+": "+outcome)
	for _, f := range o.carried[messageKey{c.Run, c.Request, c.Dir, string(c.ID)}] {
		o.field(depth+1, "with ", f)
	}
	answer := wire.AgentToClient
	if c.Dir == answer {
		answer = wire.ClientToAgent
	}
	for _, f := range o.carried[messageKey{c.Run, c.Response, answer, string(c.ID)}] {
		o.field(depth+1, "gave ", f)
	}
}

// field writes one value. A text of several lines is written line by line.
func (o *outliner) field(depth int, prefix string, f dialect.Field) {
	var text string
	if json.Unmarshal([]byte(f.Value), &text) == nil && strings.Contains(text, "\n") {
		o.line(depth, strings.TrimSpace(prefix+f.Path))
		o.text(depth+1, text)
		return
	}
	value, _ := o.dirs.Text(f.Value, false)
	o.line(depth, prefix+strings.TrimSpace(f.Path+" "+clipped(value)))
}

// longValue is how many bytes of a value are written; an image is longer.
const longValue = 256

// clipped returns a value. Of a long one it returns the beginning, the length and a
// hash.
func clipped(value string) string {
	if len(value) <= longValue {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return fmt.Sprintf("%s… (%d bytes, %x)", strings.ToValidUTF8(value[:longValue], ""), len(value), sum[:8])
}

// text writes text line by line.
func (o *outliner) text(depth int, text string) {
	for _, line := range split(text) {
		o.line(depth, "| "+line)
	}
}

// split returns the lines of a text, without empty lines at its ends.
func split(text string) []string {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
