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
	"github.com/acptap/acptap/record/trace"
)

// write writes connections, then sessions.
func (o *Outliner) write() {
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
}

// inOrder returns the sessions to compare in the order of their first calls. The order in
// which the agent answers is random.
func (o *Outliner) inOrder() []*trace.Session {
	calls := make(map[string]int) // by session: number of calls from its first one on
	for i, c := range slices.Backward(o.trace.Calls) {
		calls[c.Session] = len(o.trace.Calls) - i
	}
	var list []*trace.Session
	for _, s := range o.trace.Sessions {
		if len(s.Spans) > 0 && !o.asConnection(s.ID) && (o.side.Session == "" || o.side.Session == s.ID) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *trace.Session) int { return cmp.Compare(calls[b.ID], calls[a.ID]) })
	return list
}

// from sets the frame that the next lines belong to.
func (o *Outliner) from(run int, seq uint64) { o.at = Position{o.began[run].Tape, seq} }

// line writes a line.
func (o *Outliner) line(depth int, text string) {
	if o.full {
		return
	}
	text, _ = o.dirs.Text(text, false)
	o.step(strings.Repeat("  ", depth) + text)
}

// step adds a line to the outline if there is room.
func (o *Outliner) step(text string) {
	const perStep = 64 // bytes: the Step itself, and the memory to compare it
	o.size += len(text) + perStep
	if o.full = o.full || o.Limit > 0 && o.size > o.Limit; !o.full {
		o.put(Step{text, o.at})
	}
}

// connection writes the calls that belong to no session or to an unknown one.
func (o *Outliner) connection(run int, c dialect.Connection) {
	o.at = o.began[run]
	o.line(0, strings.TrimSpace("connection "+c.Protocol.String()+" "+c.Dialect.String()))
	known := make(map[string]bool)
	for _, s := range o.trace.Sessions {
		known[s.ID] = !o.asConnection(s.ID)
	}
	o.calls(func(c *trace.Call) bool {
		return c.Run == run && !known[c.Session] && !(o.side.AsNew && dialect.RoleOf(dialect.ACP, c.Method).Is(dialect.Opens))
	})
	o.told(scope{run: run})
}

// asConnection reports whether a session is compared as its connection.
func (o *Outliner) asConnection(session string) bool {
	return o.side.Session == "" && o.headers.only(session)
}

// calls writes some of the calls, first those of the client: calls of different sides have
// no order.
func (o *Outliner) calls(some func(c *trace.Call) bool) {
	for _, dir := range []wire.Direction{wire.ClientToAgent, wire.AgentToClient} {
		for _, c := range o.trace.Calls {
			if c.Dir == dir && some(c) {
				o.call(1, c)
			}
		}
	}
}

// told writes the kinds of notifications in a scope.
func (o *Outliner) told(at scope) {
	if all := o.kinds[at]; all != nil {
		o.at = all.at
		o.line(1, "told: "+strings.Join(all.kinds, ", "))
	}
}

// call writes a call and its outcome.
func (o *Outliner) call(depth int, c *trace.Call) {
	outcome := "ok"
	switch {
	case c.Open():
		outcome = "no answer"
	case c.Failed:
		outcome = "error"
	}
	o.from(c.Run, c.Request)
	o.line(depth, c.Method+": "+outcome)
	for _, f := range o.carried[messageKey{c.Run, c.Request, c.Dir, string(c.ID)}] {
		o.field(depth+1, "with ", f)
	}
	answer := wire.AgentToClient
	if c.Dir == answer {
		answer = wire.ClientToAgent
	}
	o.from(c.Run, c.Response)
	for _, f := range o.carried[messageKey{c.Run, c.Response, answer, string(c.ID)}] {
		o.field(depth+1, "gave ", f)
	}
}

// field writes one value. It writes multi-line text line by line.
func (o *Outliner) field(depth int, prefix string, f dialect.Field) {
	var text string
	if json.Unmarshal([]byte(f.Value), &text) == nil && strings.Contains(text, "\n") {
		o.line(depth, strings.TrimSpace(prefix+f.Path))
		o.text(depth+1, text)
		return
	}
	value, _ := o.dirs.Text(f.Value, false)
	o.line(depth, prefix+strings.TrimSpace(f.Path+" "+clipped(value)))
}

// longValue limits the bytes written of a value: an image has many more.
const longValue = 256

// clipped returns a value, or the beginning, length and hash of a long one.
func clipped(value string) string {
	if len(value) <= longValue {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return fmt.Sprintf("%s… (%d bytes, %x)", strings.ToValidUTF8(value[:longValue], ""), len(value), sum[:8])
}

// text writes text line by line.
func (o *Outliner) text(depth int, text string) {
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

// exactFrame writes a frame with all of its values. It leaves out only what JSON ignores:
// member order, white space, and the spelling of numbers.
func (o *Outliner) exactFrame(f *dialect.Frame) error {
	if !f.AtClient() || !o.side.has(f) || o.full {
		return nil
	}
	o.at = Position{o.tape, f.Seq}
	switch f.Kind {
	case wire.Mark:
		return nil
	case wire.Invalid, wire.Stderr, wire.Oversized, wire.Body:
		if f.Size <= longValue {
			o.step(fmt.Sprintf("%v %v %s", f.Dir, f.Kind, f.Raw))
			return nil
		}
		sum := sha256.New()
		err := o.side.Tapes[o.tape].WriteFrame(sum, f.Seq)
		o.step(fmt.Sprintf("%v %v %s (%d bytes, %x)", f.Dir, f.Kind, f.Method, f.Size, sum.Sum(nil)[:8]))
		return err
	}
	o.step(fmt.Sprintf("%v %v", f.Dir, f.Kind))
	for _, field := range dialect.AllMatchFields(f.Raw) {
		if field.Path != "jsonrpc" {
			o.step("  " + field.Path + " " + clipped(field.Value))
		}
	}
	return nil
}

// has reports whether a frame is part of the comparison.
func (s Side) has(f *dialect.Frame) bool {
	return s.Session == "" || f.Session == s.Session ||
		slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return a.Session == s.Session })
}
