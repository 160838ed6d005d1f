package trace

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A ToolCall is one use of a tool by the agent. Status is the last status that the
// agent sent, which need not be final if the turn was cancelled or cut off.
type ToolCall struct {
	ID          string            `json:"toolCallId"`
	Name        string            `json:"name,omitzero"`   // of the tool, for programs
	Title       string            `json:"title"`           // for people; empty in version 1 if the call was never announced
	Kind        string            `json:"kind,omitzero"`   // read, edit, execute, …
	Status      string            `json:"status,omitzero"` // pending, in_progress, completed, failed; cancelled in version 2
	Content     []json.RawMessage `json:"content,omitempty"`
	Locations   []json.RawMessage `json:"locations,omitempty"` // {path, line?}
	RawInput    json.RawMessage   `json:"rawInput,omitempty"`
	RawOutput   json.RawMessage   `json:"rawOutput,omitempty"`
	Meta        json.RawMessage   `json:"_meta,omitempty"`
	Cancelled   bool              `json:"cancelled,omitzero"`   // it failed because the client had cancelled the turn, or the user had rejected it
	Rejected    bool              `json:"rejected,omitzero"`    // the user rejected it, and the agent has not started it since
	Unannounced bool              `json:"unannounced,omitzero"` // version 1: known from patches only, without a tool_call
	Permissions []*Permission     `json:"permissions,omitempty"`

	File    string `json:"-"` // the first path in its locations or changes
	BadExit bool   `json:"-"` // it completed, but its command failed (Conversation.EndedBadly)

	given int // bytes of its arguments
	ready ready
}

// OnlyLooks reports whether tools of this kind change nothing (ACP v1, Tool Calls, ToolKind).
func OnlyLooks(kind string) bool {
	switch kind {
	case "read", "search", "fetch", "think":
		return true
	}
	return false
}

// Finished reports whether the status is final.
func (t *ToolCall) Finished() bool {
	return dialect.IsFinal(t.Status)
}

// Failed reports whether the call has failed by itself, not because the client cancelled the
// turn or the user rejected the call.
func (t *ToolCall) Failed() bool { return (t.Status == "failed" || t.BadExit) && !t.Cancelled }

// State returns the status, "rejected" if the user has rejected the call, or "cancelled" if it
// failed because the client cancelled the turn.
func (t *ToolCall) State() string {
	switch {
	case t.Rejected:
		return "rejected"
	case t.Cancelled:
		return "cancelled"
	}
	return t.Status
}

// toolCall applies a tool_call or a tool_call_update. A tool_call whose id belongs to a
// call that has ended, or to one of an earlier turn, announces a new call: many agents
// restart their numbering in each turn. A tool_call_update belongs to the newest call
// with its id.
func (c *Conversation) toolCall(f *frame, u wire.Value) {
	var another func(e *Entity) bool
	if f.Update == "tool_call" {
		another = c.isOver
	}
	e := c.patchToolCall(f, u, another)
	switch {
	case e == nil:
		c.add(f, &Entity{Other: &Other{Update: f.Update, Raw: f.keep(u)}})
	case f.Update == "tool_call":
		e.ToolCall.Unannounced = false
	}
}

// isOver reports whether the call has finished or belongs to an earlier turn, so that it
// can only get updates.
func (c *Conversation) isOver(e *Entity) bool { return e.ToolCall.Finished() || c.isEarlier(e) }

// patchToolCall applies the fields of u, which may be an update or part of a permission
// request. If ended returns true for the call with that id, u begins a new call.
// patchToolCall returns nil if u names no call.
func (c *Conversation) patchToolCall(f *frame, u wire.Value, ended func(e *Entity) bool) *Entity {
	id := u.Get("toolCallId").Text()
	if id == "" {
		return nil
	}
	e := c.findUnless(f, "tool", id, ended)
	begun := e == nil
	if begun {
		e = c.newToolCall(f, id)
		if !f.nullClears() {
			// The defaults of version 1's tool_call.
			e.ToolCall.Kind, e.ToolCall.Status, e.ToolCall.Unannounced = "other", "pending", true
		}
	}
	t := e.ToolCall
	before, title := t.Status, t.Title
	u.ForEach(func(name, v wire.Value) bool {
		switch name.Text() {
		case "name":
			f.setString(&t.Name, v)
		case "title":
			f.setString(&t.Title, v)
		case "kind":
			f.setString(&t.Kind, v)
		case "status":
			f.setString(&t.Status, v)
		case "content":
			f.setList(&t.Content, v)
			f.names(t, v)
		case "locations":
			f.setList(&t.Locations, v)
			f.names(t, v)
		case "rawInput":
			f.setRaw(&t.RawInput, v)
		case "rawOutput":
			f.setRaw(&t.RawOutput, v)
		case "_meta":
			f.setRaw(&t.Meta, v)
		}
		return true
	})
	given := len(u.Get("rawInput").Raw())
	if !begun && !t.Finished() && (given > t.given || longer(t.Title, title) || before == "pending" && t.Status == "in_progress") {
		c.prepared(f, e)
	}
	t.given = max(t.given, given)
	t.Cancelled = t.Status == "failed" && (f.Events.Has(dialect.CallCancelled) || t.Cancelled && before == t.Status)
	t.Rejected = t.Rejected && (t.Status == before || t.Cancelled || t.Status == "cancelled")
	if !t.Rejected {
		c.takeBack(f, e)
	}
	f.session.toolStatus(f, e, begun, before)
	return e
}

// longer reports whether title extends before, which was only the tool's name.
func longer(title, before string) bool {
	return len(title) > len(before) && strings.HasPrefix(title, before) && !strings.Contains(before, " ")
}

// names records the first path in the locations or changes of a call.
func (f *frame) names(t *ToolCall, list wire.Value) {
	for one := range elements(list) {
		path := one.Get("path")
		if !path.Exists() { // version 2
			path = one.Get("changes.0.path")
		}
		if f.setString(&t.File, path); t.File != "" {
			return
		}
	}
}

// reject ends a call that the user has rejected, and undoes that if the user is asked again
// and agrees.
func (c *Conversation) reject(f *frame, e *Entity) {
	call := e.ToolCall
	switch {
	case f.Events.Has(dialect.PermissionGranted):
		call.ready.granted = true
		if call.Rejected = false; c.takeBack(f, e) {
			f.emit(f.session.toolEvent(e, Changed))
		}
	case f.Events.Has(dialect.PermissionRefused):
		call.Rejected = !call.Finished()
		e.extend(f)
		if call.Rejected && c.closeTool(f, e) {
			if c.rejected == nil {
				c.rejected = make(map[*Entity]rejection)
			}
			c.rejected[e] = rejection{f.Seq, f.At, f.Untimed}
			changed := f.session.toolEvent(e, Changed)
			changed.Reason = call.State()
			f.emit(changed)
		}
	}
}

// A rejection records when the user rejected a call. It ends the call, but the event is
// emitted only when it can no longer be undone: with the agent's final status, or with the
// turn.
type rejection struct {
	seq     uint64
	at      time.Duration
	untimed bool
}

// takeBack reopens a call that the user had rejected, and reports whether there was such a
// rejection.
func (c *Conversation) takeBack(f *frame, e *Entity) bool {
	if _, ok := c.rejected[e]; !ok {
		return false
	}
	delete(c.rejected, e)
	if t := c.openTurn(e.Turn); t != nil && !e.Replayed {
		t.Work.CancelledTools--
	}
	c.openTool(f, e)
	return true
}

// rejectedEnd returns the event that ends a call at its rejection.
func (c *Conversation) rejectedEnd(s *Session, e *Entity) Event {
	r := c.rejected[e]
	delete(c.rejected, e)
	ended := s.toolEvent(e, Ended).as(Cancelled, e.ToolCall.State())
	ended.Seq, ended.At, ended.Untimed = r.seq, r.at, ended.Untimed || r.untimed
	return ended
}

// openTool adds a call to the open ones.
func (c *Conversation) openTool(f *frame, call *Entity) {
	if c.tools == nil {
		c.tools = make(map[*Entity]bool)
	}
	c.tools[call] = true
	c.waitForTool(f, call)
}

// closeTool removes a call from the open ones, and reports whether it was open.
func (c *Conversation) closeTool(f *frame, call *Entity) bool {
	c.clock.end(f, &call.wait)
	open := c.tools[call]
	if delete(c.tools, call); open {
		c.countEnd(call)
	}
	return open
}

// inOrder returns the keys of a map of calls, in the order in which they began.
func inOrder[V any](calls map[*Entity]V) []*Entity {
	return slices.SortedFunc(maps.Keys(calls), func(a, b *Entity) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.entry, b.entry))
	})
}

// endTools ends the calls that are open or rejected when a turn ends. If other turns are open,
// calls may continue in those unless the client has cancelled the turn, but the clock no
// longer counts the ended turn's calls as waits.
func (c *Conversation) endTools(f *frame, t *Turn) {
	goesOn := func(e *Entity) bool { return len(c.turns.open) > 0 && (!t.Cancelled || e.Turn > t.Number) }
	for _, e := range inOrder(c.rejected) {
		if !goesOn(e) {
			f.trace.emit(c.rejectedEnd(f.session, e))
		}
	}
	for _, e := range inOrder(c.tools) {
		if goesOn(e) {
			if e.Turn == t.Number {
				c.clock.end(f, &e.wait)
			}
			continue
		}
		c.closeTool(f, e)
		left := f.session.toolEvent(e, Ended).as(Unfinished, e.ToolCall.Status)
		left.Cancelled = t.Cancelled
		f.emit(left)
	}
}

func (c *Conversation) newToolCall(f *frame, id string) *Entity {
	c.growing = nil
	id = strings.Clone(f.clip(id))
	e := c.addAs(f, "tool", id, &Entity{ToolCall: &ToolCall{ID: id}})
	c.countTool(e)
	return e
}

// toolCallContent appends one item to a call's content (version 2).
func (c *Conversation) toolCallContent(f *frame, u wire.Value) {
	id := u.Get("toolCallId").Text()
	e := c.find(f, "tool", id)
	if e == nil {
		e = c.newToolCall(f, id)
		f.session.toolStatus(f, e, true, "")
	}
	if item := u.Get("content"); item.Exists() {
		e.ToolCall.Content = f.append(e.ToolCall.Content, item)
	}
}
