package shim

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// batchSize is how many bytes of a replay are sent at once. Sending blocks until the client
// has taken them, so a replay needs no more memory than that and the history.
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
		f := wire.Frame{Dir: wire.AgentToClient, Raw: wire.NewNotification(dialect.SessionUpdate, members(nil).add("sessionId", c.clientJSON).add("update", update).object())}
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
