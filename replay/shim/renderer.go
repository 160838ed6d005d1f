package shim

import (
	"fmt"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A renderer makes updates of a history, in the dialect of a connection.
type renderer struct {
	dialect  dialect.Dialect
	supports clientSupport
	apart    bool // ids differ from those that the agent will use
	raw      bool // updates are sent one by one, as recorded
	shown    shownIDs

	part        *sessionPart
	entityIDs   map[*trace.Entity]string   // shown ids of the part's messages and tool calls
	terminalIDs map[*trace.Terminal]string // shown ids of the part's terminals
	source      dialect.Dialect            // in which the current entity was recorded
	prefix      string                     // of the current entity's ids
	unnamed     map[string]int             // how many messages without an id got one, by role
	terminals   map[string]bool            // terminals that were sent, by shown id
}

// updates yields the updates that make a client show the history, with the title at the
// end. The bytes are valid until the next update.
func (r *renderer) updates(past *history) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		state := &trace.State{}
		for i := range past.parts {
			r.part = &past.parts[i]
			if r.part.State.Title != "" {
				state = &r.part.State
			}
			r.assignIDs()
			updates := r.merged()
			if r.raw && r.sameDialect() {
				updates = r.recorded()
			}
			for update := range updates {
				if !yield(update) {
					return
				}
			}
		}
		if state.Title != "" {
			yield(newUpdate("session_info_update").text("title", state.Title).text("updatedAt", state.UpdatedAt).object())
		}
	}
}

// merged yields the updates of the part: one for each entity if possible, in its last
// state, at the place where it began.
func (r *renderer) merged() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		cut := r.part.cutOff()
		for e := range r.part.entities() {
			r.enter(e)
			list := r.entity(e)
			if last := len(list) - 1; cut[e] && last >= 0 {
				list[last] = set(list[last], cutMark, []byte("true"))
			}
			for _, update := range list {
				if !yield(update) {
					return
				}
			}
		}
	}
}

// cutMark is where an update says that the recording ends in the middle of a turn.
const cutMark = "_meta.acptap.cutOff"

// enter prepares the renderer for an entity. The ids of an epoch get a prefix that names
// the epoch: a new agent process may use the ids again, and the client would then change
// the history. Ids of the live epoch stay as they are.
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
