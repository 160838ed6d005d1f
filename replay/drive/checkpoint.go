package drive

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A progress is how far a turn of a session has come.
type progress struct {
	open        bool            // a prompt was sent, and its turn is not over
	permissions int             // permissions asked for
	begun       int             // tool calls begun
	over        map[string]bool // by id, whether a tool call is over; an agent may then use the id again
	spoke       bool            // the agent has said or done something
	latest      checkpoint      // the last one reached
}

// A checkpoint is a point in a turn. It marks where the recorded client did something in
// the middle of a turn, and can be found in a live turn of other speed and other words.
type checkpoint struct {
	kind checkpointKind
	n    int // of calls and permissions: which one in the turn, from 1
}

type checkpointKind uint8

const (
	noTurn     checkpointKind = iota // not in the middle of a turn
	turnBegan                        // the agent has not done anything
	agentSpoke                       // the first thing that the agent said
	callBegan
	permissionAsked
)

// observe follows a message of the session, of either side.
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

// ofAgent reports whether an update of a variant is about what the agent says or does.
func ofAgent(variant string) bool {
	u, _ := dialect.LookupUpdate(variant)
	return u.Entity != dialect.UserMessage && u.Entity != dialect.State && !u.Entity.IsAttribute()
}

// call follows what the agent says of a tool call. another says that this begins a new
// call if the last one with its id is over.
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
	switch said.Get("status").Text() {
	case "completed", "failed", "cancelled":
		p.over[strings.Clone(id)] = true
	}
}

// checkpoint returns where the turn stands.
func (p *progress) checkpoint() checkpoint {
	if !p.open {
		return checkpoint{}
	}
	return p.latest
}

// reached reports whether the turn has come to l.
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
