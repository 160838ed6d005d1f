package shim

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A replayCount counts the tool calls that the agent replays during a native load. Some
// agents leave them out.
type replayCount struct {
	recorded int             // tool calls in the stored history; 0 until it is read
	replayed int             // tool calls the agent has sent
	ids      map[string]bool // their ids
	end      *time.Timer     // ends the count; nil: keepCounting has not started it
	ended    bool
}

// count counts an update that the agent replays.
func (r *replayCount) count(update wire.Value) {
	if r.end != nil {
		r.end.Reset(quietLimit)
	}
	id, variant := update.Get("toolCallId").Text(), update.Get("sessionUpdate").Text()
	switch {
	case id == "":
	case variant == "tool_call", !r.ids[id]: // agents of version 1 reuse ids
		r.replayed++
		if r.ids == nil {
			r.ids = map[string]bool{}
		}
		if len(r.ids) < maxShown {
			r.ids[id] = true
		}
	}
}

// missing returns the number of recorded tool calls that the agent has not sent.
func (r *replayCount) missing() int { return max(0, r.recorded-r.replayed) }

// toolCalls returns the number of tool calls in the history.
func (h *history) toolCalls() (n int) {
	if h == nil {
		return 0
	}
	for i := range h.parts {
		for e := range h.parts[i].entities() {
			if e.ToolCall != nil {
				n++
			}
		}
	}
	return n
}

// keepCounting continues counting after the client has the agent's answer: many agents
// answer before they have sent all history. The replay ends at the next prompt, or after
// quietLimit without history. If the shim watches another load of the session, that one
// counts instead.
func (n *nativeLoad) keepCounting() {
	if n.wantsHistory && !n.mends && n.session.watched == nil {
		n.phase, n.session.watched = counting, n
		n.replay.end = time.AfterFunc(quietLimit, func() { n.shim.do(n.endReplay) })
	}
}

// endReplay ends the phase counting. In other phases, or if the client has asked for another
// load of the session since, it does nothing.
func (n *nativeLoad) endReplay(out []wire.Frame) []wire.Frame {
	if n.session.watched != n || n.phase != counting {
		return out
	}
	n.finish()
	n.replay.end.Stop()
	n.replay.ended = true
	return n.reportMissing(out)
}

// reportMissing reports, on stderr and on the tape, the tool calls that the agent left
// out, once the count has ended and the store has been read.
func (n *nativeLoad) reportMissing(out []wire.Frame) []wire.Frame {
	missing := n.replay.missing()
	if !n.replay.ended || missing == 0 {
		return out
	}
	id := n.session.clientID
	if n.shim.Complain != nil {
		n.shim.Complain(fmt.Sprintf("the agent's own load of session %s left out %d of %d tool calls; --sessions=mend shows what was recorded", id, missing, n.replay.recorded))
	}
	if len(id) > wire.MaxLoaded {
		return out
	}
	mark := wire.Marked{Load: &wire.Load{Session: id, Missing: missing, Recorded: n.replay.recorded}}
	return append(out, wire.Frame{Dir: wire.AgentToClient, Kind: wire.Mark, Raw: mark.JSON()})
}
