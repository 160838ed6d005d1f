package screen

import (
	"slices"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record"
)

// hasServers reports whether a timeline's agent has started servers that have tapes, or
// may still do so.
func (a *app) hasServers(t *frameindex.Timeline, info record.Info) bool {
	switch {
	case a.Store == nil:
		return false
	case info.Live:
		return true
	}
	l, err := a.Store.List()
	if err != nil {
		return false // the list of tapes shows the error
	}
	n := record.NestingOf(l.Tapes)
	return slices.ContainsFunc(t.Agents(), func(p frameindex.Part) bool { return len(n.Children(p.Info.Tape)) > 0 })
}

// toggleServers shows or hides the frames of the agent's servers among the agent's own.
// The selection stays.
func (a *app) toggleServers() {
	switch {
	case a.Store == nil:
		a.fail(errNoStore)
		return
	case !a.servers && !a.hasServers(a.timeline, a.info):
		a.notify("no tape of a server that this agent started; acptap proxy --mcp records them")
		return
	}
	at, follow := a.lookedAt(), a.model.follow
	kept := a.restarted
	a.servers = !a.servers
	if err := a.readTape(a.subject, a.query); err != nil {
		a.servers = !a.servers
		a.fail(err)
		return
	}
	a.restarted = kept
	if !follow {
		a.await(at)
	}
}

// A tapeFrame identifies a frame on a tape.
type tapeFrame struct {
	tape string
	seq  uint64 // 0: none
}

// lookedAt returns the selected frame or, if that is a server's, the agent's frame above
// it.
func (a *app) lookedAt() tapeFrame {
	seq := a.model.selected
	for seq > 1 && a.timeline.PartOf(seq) >= len(a.timeline.Agents()) {
		seq--
	}
	return a.frameOf(seq)
}

// await selects a frame as soon as it has a number on the timeline.
func (a *app) await(at tapeFrame) {
	t := a.timeline
	a.opening = false
	a.model.await(func() uint64 {
		part, ok := t.PartWith(at.tape)
		if !ok || at.seq == 0 {
			return 0
		}
		return t.Number(frameindex.Place{Part: part, Seq: at.seq})
	})
}

// A wayBack records what the user was looking at before opening a server's tape.
type wayBack struct {
	subject Subject
	place   Place
	query   string
	at      tapeFrame
	key     string // of the line that led there
	row     int    // of the window that the line was on
}

// openServer goes to the server's frame on a line: among the agent's frames if it is
// shown there, otherwise on the server's own tape, which it opens.
func (a *app) openServer(l page.Line) {
	if part, ok := a.timeline.PartWith(l.Tape); ok {
		if seq := a.timeline.Number(frameindex.Place{Part: part, Seq: max(l.TapeSeq, 1)}); seq != 0 {
			a.showNumber(seq)
			return
		}
	}
	at := a.lookedAt()
	if l.Seq != 0 {
		at = a.frameOf(l.Seq)
	}
	back := append(a.cameFrom, wayBack{a.subject, a.place, a.query, at, l.Key, a.page.CursorRow()})
	if err := a.openTape(TapesOf(a.Store, "", l.Tape), ""); err != nil {
		a.fail(err)
		return
	}
	a.page.TakeMove() // forget a move to a frame on the tape being left
	a.cameFrom = back
	a.await(tapeFrame{l.Tape, l.TapeSeq})
	a.visit(framesPlace)
}

func (a *app) frameOf(seq uint64) tapeFrame {
	at := a.timeline.PlaceOf(seq)
	return tapeFrame{a.timeline.Part(at.Part).Info.Tape, at.Seq}
}

// leaveServer returns to where the server's tape was opened.
func (a *app) leaveServer() {
	to := a.cameFrom[len(a.cameFrom)-1]
	back := a.cameFrom[:len(a.cameFrom)-1]
	if err := a.openTape(to.subject, to.query); err != nil {
		a.fail(err)
		return
	}
	a.cameFrom = back
	a.await(to.at)
	a.visit(to.place)
	if a.page == nil {
		return
	}
	if to.key != "" {
		a.page.GoTo(0)
		a.page.Find(to.key)
	}
	a.page.KeepRow(to.row)
}
