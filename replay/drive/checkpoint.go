package drive

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A progress is how far a session's turn has come.
type progress struct {
	open        bool            // a turn is under way
	permissions int             // permissions asked for
	begun       int             // tool calls begun
	over        map[string]bool // by id, whether a tool call has ended; the agent may then reuse the id
	spoke       bool            // the agent has said or done something in the turn
	latest      checkpoint      // the last one reached
}

// A checkpoint is the point in a turn at which the recorded client did something. It can
// be found in a live turn with another speed and other words.
type checkpoint struct {
	kind checkpointKind
	n    int // of calls and permissions: the number in the turn, from 1
}

type checkpointKind uint8

const (
	noTurn     checkpointKind = iota // not in the middle of a turn
	turnBegan                        // the agent has done nothing yet
	agentSpoke                       // the first thing that the agent said
	callBegan
	permissionAsked
)

// observe updates the progress with a message of the session from either side.
func (p *progress) observe(f *dialect.Frame, e wire.Envelope) {
	switch {
	case f.Events.Has(dialect.TurnBegan):
		*p = progress{open: true, over: make(map[string]bool), latest: checkpoint{kind: turnBegan}}
	case f.Events.Has(dialect.TurnEnded):
		p.open = false
	case !p.open || f.Dir != wire.AgentToClient || e.Method == nil:
	case f.Does(dialect.AsksPermission):
		p.call(e.Params.Get("toolCall"), true)
		p.call(e.Params.Get("subject.toolCall"), false)
		p.permissions++
		p.latest = checkpoint{permissionAsked, p.permissions}
	case f.Update == "tool_call", f.Update == "tool_call_update":
		p.call(e.Params.Get("update"), f.Update == "tool_call")
	case f.Does(dialect.TellsUpdate) && ofAgent(f.Update):
		p.spoke = true
		if p.latest.kind == turnBegan {
			p.latest.kind = agentSpoke
		}
	}
}

// ofAgent reports whether updates of a variant show what the agent says or does.
func ofAgent(variant string) bool {
	u, _ := dialect.LookupUpdate(variant)
	return u.Entity != dialect.UserMessage && u.Entity != dialect.State && !u.Entity.IsAttribute()
}

// call notes what the agent says about a tool call. If another is set and the last call
// with the id has ended, a new call begins.
func (p *progress) call(said wire.Value, another bool) {
	id := said.Get("toolCallId").Text()
	if id == "" {
		return
	}
	if over, known := p.over[id]; !known || over && another {
		p.over[strings.Clone(id)] = false
		p.begun++
		p.latest = checkpoint{callBegan, p.begun}
	}
	if dialect.IsFinal(said.Get("status").Text()) {
		p.over[strings.Clone(id)] = true
	}
}

// checkpoint returns the point that the turn has reached.
func (p *progress) checkpoint() checkpoint {
	if !p.open {
		return checkpoint{}
	}
	return p.latest
}

// reached reports whether the turn has reached l.
func (p *progress) reached(l checkpoint) bool {
	switch l.kind {
	case agentSpoke:
		return p.spoke || p.begun > 0 || p.permissions > 0
	case callBegan:
		return p.begun >= l.n
	case permissionAsked:
		return p.permissions >= l.n
	}
	return true
}
