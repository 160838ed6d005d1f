package replay

// A Watcher is told which frames of the tape an Agent plays, so that what Run writes can
// go to the client in another way than on stdout. Its methods are called in the goroutine
// of Run.
type Watcher interface {
	// Matched says that a request of the client is the one in frame seq of the tape. Its
	// id is that of the client, as JSON.
	Matched(seq uint64, id []byte)

	// Sent says that what was written to out since the last call is one frame, with its
	// line end: frame seq of the tape, or one that is made here if that is 0. call is the
	// id of the client's request that it answers or is about, nil if it is about none.
	Sent(seq uint64, call []byte)
}

// told tells the watcher, if there is one, that a frame stands in the output.
func (p *player) told(seq uint64, call []byte) {
	if p.watcher == nil {
		return
	}
	p.out.flush()
	p.watcher.Sent(seq, call)
}

// callOf returns the client's id of the request that a frame in a lane answers or is
// about, nil if there is none.
func callOf(l *lane, pf *pendingFrame) []byte {
	switch {
	case pf.reply != nil:
		return pf.reply.live
	case l.kind == ofCall && len(l.open) > 0:
		return l.open[len(l.open)-1].live
	}
	return nil
}
