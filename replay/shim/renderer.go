package shim

import (
	"fmt"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// batchSize is the number of bytes of a replay that are sent at once. Sending blocks
// until the client has read them, so a replay needs no more memory than that and the
// history.
const batchSize = 64 << 10

// sendHistory replays a history to the client. If apart is set, the ids in the history
// differ from those that the agent will use; otherwise they are sent as recorded.
func (r *servedRequest) sendHistory(c *session, past *history, apart bool) error {
	var batch []wire.Frame
	size := 0
	flush := func() error {
		err := r.do(func(out []wire.Frame) []wire.Frame { return append(out, batch...) })
		batch, size = batch[:0], 0
		return err
	}
	w := &renderer{dialect: r.shim.dialect, supports: r.shim.supports, apart: apart, raw: r.shim.Raw, shown: shownIDs{}}
	for update := range w.updates(past) {
		f := wire.Frame{Dir: wire.AgentToClient, Raw: wire.NewNotification(dialect.SessionUpdate, members(nil).add("sessionId", wire.Quote(c.clientID)).add("update", update).object())}
		batch, size = append(batch, f), size+len(f.Raw)
		if size > batchSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return r.keepShown(c, past, w.shown)
}

// A renderer turns a history into updates in a connection's dialect.
type renderer struct {
	dialect  dialect.Dialect
	supports clientSupport
	apart    bool // ids differ from those that the agent will use
	raw      bool // updates are sent one by one, as recorded
	shown    shownIDs

	part        *sessionPart
	entityIDs   map[*trace.Entity]string   // shown ids of the part's messages and tool calls
	terminalIDs map[*trace.Terminal]string // shown ids of the part's terminals
	source      dialect.Dialect            // the dialect in which the current entity was recorded
	prefix      string                     // prefix of the current entity's ids
	unnamed     map[string]int             // number of messages given an id because they had none, by role
	terminals   map[string]bool            // terminals already sent, by shown id
}

// updates yields the updates that make a client show the history, with the title last.
// The bytes are valid until the next update.
func (r *renderer) updates(past *history) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		state := &trace.State{}
		for i := range past.parts {
			r.part = &past.parts[i]
			if r.part.State.Title != "" {
				state = &r.part.State
			}
			r.assignIDs()
			show := r.merged
			if r.raw && r.sameDialect() {
				show = r.recorded
			}
			if !show(yield) {
				return
			}
		}
		if state.Title != "" {
			yield(newUpdate("session_info_update").text("title", state.Title).text("updatedAt", state.UpdatedAt).object())
		}
	}
}

// merged yields the part's updates: one per entity if possible, in its final state, at
// the place where it began. It returns false as soon as yield does.
func (r *renderer) merged(yield func([]byte) bool) bool {
	cut := r.part.cutOff()
	for e := range r.part.entities() {
		r.enter(e)
		if !yieldAll(r.entity(e), cut[e], yield) {
			return false
		}
	}
	return true
}

// cutMark is where an update says that the recording ends in mid-turn.
const cutMark = "_meta.acptap.cutOff"

// yieldAll yields updates, and returns false as soon as yield does. If cut is set, it puts
// the cutMark on the last one.
func yieldAll(updates [][]byte, cut bool, yield func([]byte) bool) bool {
	for i, update := range updates {
		if cut && i == len(updates)-1 {
			update = set(update, cutMark, []byte("true"))
		}
		if !yield(update) {
			return false
		}
	}
	return true
}

// enter prepares the renderer for an entity. The ids of an epoch get a prefix that names
// the epoch: a new agent process may reuse the ids, and the client would then change the
// history. Ids of the live epoch stay as they are.
func (r *renderer) enter(e *trace.Entity) {
	prefix := ""
	if r.apart && e.Run != r.part.live {
		prefix = fmt.Sprintf("h%d.", r.part.first+e.Run)
	}
	if prefix != r.prefix || r.unnamed == nil {
		r.prefix = prefix
		r.unnamed = map[string]int{}
	}
	r.source = r.part.epochs[e.Run].connection.Dialect
}
