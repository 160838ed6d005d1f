package stall

import (
	"cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A call is a request without an answer.
type call struct {
	key     callKey
	kind    Kind
	dir     wire.Direction
	of      *trace.Call
	turn    int           // number of the turn it belongs to; 0: none
	tool    *trace.Entity // the tool call that it asks permission for
	session *session      // the session that it sets up, if that id is known
	since   place         // when it was sent, or last reported progress
	cancel  place         // when it was cancelled; Seq 0: it was not
	token   tokenKey
	over    bool
	work    *work
}

// asksOutside reports whether the call waits for the client or the user outside of a
// session.
func (c *call) asksOutside() bool {
	return c.of.Session == "" && (c.dir == wire.AgentToClient || c.kind == Asked)
}

// waits returns how a call may hang. A client request is not overdue while the agent is
// itself waiting for the client.
func (c *call) waits() (wait, bool) {
	since := c.since
	switch {
	case c.over:
		return wait{}, false
	case c.cancel.seq != 0:
		return wait{Cancel, c.cancel}, true
	case c.kind != Setup && c.kind != Hung, c.dir == wire.AgentToClient:
		return wait{c.kind, since}, true
	case c.work.asking > 0:
		return wait{}, false
	case c.session != nil:
		since = later(since, c.session.heard)
	}
	return wait{c.kind, later(since, c.work.answered)}, true
}

func later(a, b place) place {
	if b.seq > a.seq {
		return b
	}
	return a
}

func (c *call) names() (session string, turn int, details []string) {
	name := termtext.Piece(cmp.Or(c.of.Method, "a request")) + quoted(c.of.Tool)
	if c.tool != nil {
		name += quoted(cmp.Or(c.tool.ToolCall.Title, c.tool.ToolCall.ID))
	}
	return c.of.Session, c.turn, []string{name}
}
