package replay

import "github.com/acptap/acptap/proxy/wire"

// A Watcher is notified of the frames that an Agent plays, so that the output of Run can
// reach the client by a channel other than stdout. Run calls its methods in its own
// goroutine.
type Watcher interface {
	// Matched is called when a request of the client is the one in frame seq of the tape.
	// id is the client's id of the request, as JSON.
	Matched(seq uint64, id []byte)

	// Sent is called when the output since the last call is one frame with its line end:
	// frame seq of the tape, or a frame that the player made if seq is 0. call is the id
	// of the client's request that the frame answers or concerns, or nil.
	Sent(seq uint64, call []byte)
}

// told tells Passed and the watcher, if set, that the output has a complete frame.
func (p *player) told(seq uint64, call []byte) {
	if p.passed != nil {
		p.passed(wire.AgentToClient, seq)
	}
	if p.watcher == nil {
		return
	}
	p.out.flush()
	p.watcher.Sent(seq, call)
}

// callOf returns the client's id of the request that a frame in a lane answers or
// concerns, or nil.
func callOf(l *lane, pf *pendingFrame) []byte {
	switch {
	case pf.reply != nil:
		return pf.reply.live
	case l.kind == ofCall && len(l.open) > 0:
		return l.open[len(l.open)-1].live
	}
	return nil
}
