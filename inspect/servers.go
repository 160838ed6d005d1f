package inspect

import (
	"context"
	"slices"
	"sync"

	"github.com/acptap/acptap/inspect/page"
	"github.com/acptap/acptap/record"
)

// followServers calls read, each time in a goroutine of its own, for the tapes of servers
// that the agent on some tapes has started, until begun is done also for those that begin
// meanwhile. It returns when all calls have.
func followServers(begun context.Context, store *record.Store, agents []string, live bool, read func(*record.Tape, record.Info)) {
	var reading sync.WaitGroup
	defer reading.Wait()
	known := map[string]bool{}
	take := func(id string) {
		if known[id] {
			return
		}
		known[id] = true
		tape, err := store.Open(id)
		if err != nil {
			return // it is gone already
		}
		if info, err := tape.Info(); err == nil && slices.Contains(agents, info.Start.Parent.Tape) {
			reading.Go(func() { read(tape, info) })
		}
	}
	listing, err := store.List()
	if err != nil {
		return // the list of tapes says so
	}
	nesting := record.NestingOf(listing.Tapes)
	for _, agent := range agents {
		for _, info := range nesting.Children(agent) {
			take(info.Tape)
		}
	}
	if !live {
		return
	}
	for c, err := range store.Watch(begun, nil) {
		if err == nil && c.Kind == record.TapeAppeared && c.Live {
			take(c.Tape)
		}
	}
}

// A wayBack is what the user looked at before the tape of a server.
type wayBack struct {
	subject  Subject
	place    Place
	query    string
	selected uint64
	key      string // of the line that led there
}

// openServer opens the tape of a server at the frame that a line is about.
func (a *app) openServer(l page.Line) {
	back := append(a.cameFrom, wayBack{a.subject, a.place, a.query, a.model.selected, l.Key})
	if l.Seq != 0 {
		back[len(back)-1].selected = l.Seq
	}
	if err := a.openTape(TapesOf(a.Store, "", l.Tape), ""); err != nil {
		a.fail(err)
		return
	}
	a.page.TakeMove() // to a frame of the tape that is left
	a.model.follow, a.model.target, a.cameFrom = false, l.TapeSeq, back
	a.visit(framesPlace)
}

// leaveServer goes back to where the tape of the server was opened from.
func (a *app) leaveServer() {
	to := a.cameFrom[len(a.cameFrom)-1]
	back := a.cameFrom[:len(a.cameFrom)-1]
	if err := a.openTape(to.subject, to.query); err != nil {
		a.fail(err)
		return
	}
	a.model.follow, a.model.target, a.cameFrom = false, to.selected, back
	a.visit(to.place)
	if a.page != nil && to.key != "" {
		a.page.GoTo(0)
		a.page.Find(to.key)
	}
}
