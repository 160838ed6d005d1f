package trace

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Bounds on what a brief Trace remembers. It forgets the oldest first.
const (
	maxIDs      = 1 << 12 // entities known by an id, in all sessions
	maxSessions = 1 << 12
	maxText     = 1 << 10 // bytes of an id or a title; a longer id is hashed, a longer title is cut
	maxParams   = 4 << 10 // bytes of a request's params kept for reading its response
)

// A knownID is the id by which a conversation knows an entity.
type knownID struct {
	of  *Session
	key entityKey
	e   *Entity
}

// remember records the id by which a conversation of a brief Trace knows an entity, and
// forgets the oldest if there are too many.
func (t *Trace) remember(f *frame, key entityKey, e *Entity) {
	if !t.Brief {
		return
	}
	t.ids = append(t.ids, knownID{f.session, key, e})
	if len(t.ids) <= maxIDs {
		return
	}
	old := t.ids[0]
	t.ids = t.ids[1:]
	if c := &old.of.Conversation; c.byID[old.key] == old.e {
		delete(c.byID, old.key)
		if c.closeTool(f, old.e) {
			f.emit(old.of.toolEvent(old.e, Ended).as(Forgotten, old.e.ToolCall.Status))
		}
	}
}

// meet records a new session of a brief Trace, and forgets the oldest if there are too
// many.
func (t *Trace) meet(f *frame, s *Session) {
	if !t.Brief {
		return
	}
	t.met = append(t.met, s)
	if len(t.met) <= maxSessions {
		return
	}
	old := t.met[0]
	t.met = t.met[1:]
	if t.sessions[old.ID] == old {
		delete(t.sessions, old.ID)
	}
	if len(t.Sessions) > 0 && t.Sessions[0] == old { // sessions are in order of first appearance
		t.Sessions = t.Sessions[1:]
	}
	t.endSession(old, func(e Event) {
		e.End = Forgotten
		f.emit(e)
	})
}

// clip shortens an id for a brief Trace.
func (f *frame) clip(id string) string {
	if !f.trace.Brief || len(id) <= maxText {
		return id
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(id)))
}

// cut shortens a text for a brief Trace.
func (f *frame) cut(text string) string {
	if !f.trace.Brief || len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}
