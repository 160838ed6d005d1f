package replay

import (
	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A progress is how far a turn of a session has come.
type progress struct {
	open        bool // a prompt was sent, and its turn is not over
	permissions int  // asked for
	calls       map[string]bool
	spoke       bool // the agent has said or done something
	latest      landmark
}

// A landmark is the point of a turn at which the client did something in the
// middle of it. It is found again in a turn of other speed and other words.
type landmark struct {
	kind landmarkKind
	n    int // which one in the turn, from 1
}

type landmarkKind uint8

const (
	noTurn     landmarkKind = iota // not in the middle of a turn
	turnBegan                      // nothing but the prompt stood before
	agentSpoke                     // the first thing that the agent said
	callBegan
	permissionAsked
)

// see takes a message of the session, whoever sent it.
func (p *progress) see(f *dialect.Frame, e wire.Envelope) {
	switch {
	case f.Events.Has(dialect.TurnBegan):
		*p = progress{open: true, calls: make(map[string]bool), latest: landmark{kind: turnBegan}}
	case f.Events.Has(dialect.TurnEnded):
		p.open = false
	case !p.open || f.Dir != wire.AgentToClient || e.Method == nil:
	case f.Method == "session/request_permission":
		p.begin(gjson.GetBytes(e.Params, "toolCall.toolCallId").Str)
		p.begin(gjson.GetBytes(e.Params, "subject.toolCall.toolCallId").Str)
		p.permissions++
		p.latest = landmark{permissionAsked, p.permissions}
	case f.Update == "tool_call", f.Update == "tool_call_update":
		p.begin(gjson.GetBytes(e.Params, "update.toolCallId").Str)
	case f.Method == "session/update" && !ofState[f.Update] && f.Update != "state_update" &&
		f.Update != "user_message" && f.Update != "user_message_chunk":
		p.spoke = true
		if p.latest.kind == turnBegan {
			p.latest.kind = agentSpoke
		}
	}
}

func (p *progress) begin(call string) {
	if call != "" && !p.calls[call] {
		p.calls[call] = true
		p.latest = landmark{callBegan, len(p.calls)}
	}
}

// landmark returns where the turn stands.
func (p *progress) landmark() landmark {
	if !p.open {
		return landmark{}
	}
	return p.latest
}

// reached reports whether the turn has come to l.
func (p *progress) reached(l landmark) bool {
	switch l.kind {
	case agentSpoke:
		return p.spoke || len(p.calls) > 0 || p.permissions > 0
	case callBegan:
		return len(p.calls) >= l.n
	case permissionAsked:
		return p.permissions >= l.n
	}
	return true
}
