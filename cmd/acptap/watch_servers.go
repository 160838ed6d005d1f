package main

import (
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A serverWatch waits for an agent to start the MCP servers that its client named. It knows
// only when to check; nested.Join knows the servers.
type serverWatch struct {
	tape   *stall.Tape
	setUps bounded.Map[string, *setUp] // the latest of each session, until its servers are judged
}

// A setUp is a successful set-up of a session.
type setUp struct {
	opened time.Time // when the set-up was seen
	frame  uint64    // Seq of the answer
	turned bool      // a turn of the session has ended since
	asked  bool      // the servers were checked before
}

// maxSetUps limits the sessions of a tape whose servers are watched.
const maxSetUps = 1 << 10

// follow begins to watch a tape's servers when the tape appears, and stops when it ends. The
// line for the end of a tape names the servers that were never called.
func (w *watcher) follow(t *stall.Tape, kind record.ChangeKind) {
	switch {
	case w.store == nil || t.Past:
	case kind == record.TapeAppeared:
		if w.servers == nil {
			w.servers = map[string]*serverWatch{}
		}
		w.servers[t.Info.Tape] = &serverWatch{tape: t, setUps: bounded.Map[string, *setUp]{Limit: maxSetUps}}
	case kind == record.TapeEnded:
		delete(w.servers, t.Info.Tape)
	}
}

// look handles a change of a followed tape. Each time the watch has looked at the store, it
// reports servers that should have been started by now. Some agents start them at the first
// prompt.
func (w *watcher) look(tape string, c *record.Change) {
	s, f := w.servers[tape], &c.Frame
	switch {
	case c.Kind == record.StoreLooked:
		for _, s := range w.servers {
			w.lateServers(s, c.Began)
		}
	case c.Kind != record.FrameRecorded || s == nil:
	case f.Events.Has(dialect.SessionOpened):
		s.setUps.Set(f.Session, &setUp{opened: time.Now(), frame: f.Seq})
	case f.Events.Has(dialect.TurnEnded) && !f.Failed:
		if one, ok := s.setUps.Get(f.Session); ok {
			one.turned = true
		}
	}
}

// lateServers reports the late servers of a tape: once before the first turn and once after
// it.
func (w *watcher) lateServers(s *serverWatch, now time.Time) {
	late := map[string]*setUp{}
	for session, one := range s.setUps.All() {
		if now.Sub(one.opened) < stall.Patience(stall.Server, w.After) || one.asked && !one.turned {
			continue
		}
		late[session], one.asked = one, true
	}
	if len(late) == 0 {
		return
	}
	for session, one := range late {
		if one.turned {
			s.setUps.Drop(session)
		}
	}
	for _, u := range w.uncalled(s.tape.Info.Tape) {
		if u.Why != nested.NeverStarted {
			continue
		}
		for _, named := range u.SetUps {
			if one := late[named.Session]; one != nil {
				w.lateServer(s.tape, u.Server, named.Session, one, now)
			}
		}
	}
}

// lateServer reports a server named by a set-up.
func (w *watcher) lateServer(t *stall.Tape, server, session string, one *setUp, now time.Time) {
	text := "not started yet (may begin at the first prompt)"
	if one.turned {
		text = "never started, though a turn has ended"
	}
	c := stall.Change{Stall: stall.Stall{Kind: stall.Server, Session: session, Frame: one.frame, Text: "server " + termtext.Piece(server) + ": " + text}}
	w.write(t, watchLine{Event: "hangs", Time: now, Kind: c.Kind.String(), Session: c.Session, Frame: c.Frame, Text: c.Text})
	if w.Exec != nil {
		w.Exec.Run(t.Info.Tape, &c)
	}
}
