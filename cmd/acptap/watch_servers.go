package main

import (
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A serverWatch waits for an agent to start the MCP servers that its client named.
type serverWatch struct {
	tape    *stall.Tape
	opened  time.Time // when the latest set-up was seen to succeed; zero: none has
	frame   uint64    // its answer
	session string
	turned  bool // a turn has ended since
	asked   bool // the store was asked after the set-up
	decided bool // it was asked after the turn, too
}

// follow keeps a tape whose servers are watched, until it ends. If the tape is over, its end
// says which servers were never called.
func (w *watcher) follow(t *stall.Tape, kind record.ChangeKind) {
	switch {
	case w.store == nil || t.Past:
	case kind == record.TapeAppeared:
		if w.servers == nil {
			w.servers = map[string]*serverWatch{}
		}
		w.servers[t.Info.Tape] = &serverWatch{tape: t}
	case kind == record.TapeEnded:
		delete(w.servers, t.Info.Tape)
	}
}

// look takes a change of a followed tape or, if the store was looked at, reports servers that
// should have been started by now. Some agents start them at the first prompt.
func (w *watcher) look(tape string, c *record.Change) {
	switch s := w.servers[tape]; {
	case c.Kind == record.StoreLooked:
		for _, s := range w.servers {
			w.lateServers(s, c.Began)
		}
	case c.Kind != record.FrameRecorded || s == nil:
	case c.Frame.Events.Has(dialect.SessionOpened):
		*s = serverWatch{tape: s.tape, opened: time.Now(), frame: c.Frame.Seq, session: c.Frame.Session}
	case c.Frame.Events.Has(dialect.TurnEnded) && !s.opened.IsZero():
		s.turned = true
	}
}

func (w *watcher) lateServers(s *serverWatch, now time.Time) {
	var text string
	switch waited := now.Sub(s.opened); {
	case s.opened.IsZero() || s.decided || waited < stall.Patience(stall.Server, w.After):
		return
	case s.turned:
		s.asked, s.decided, text = true, true, "never started, though a turn has ended"
	case !s.asked:
		s.asked, text = true, "not started yet (may begin at the first prompt)"
	default:
		return
	}
	for _, u := range w.uncalled(s.tape.Info.Tape) {
		if u.Why != nested.NeverStarted {
			continue
		}
		line := "server " + termtext.Piece(u.Server) + ": " + text
		c := stall.Change{Stall: stall.Stall{Kind: stall.Server, Session: s.session, Frame: s.frame, Text: line}}
		w.write(s.tape, watchLine{Event: "hangs", Time: now, Kind: stall.Server.String(), Session: s.session, Frame: s.frame, Text: line})
		if w.Exec != nil {
			w.Exec.Run(s.tape.Info.Tape, &c)
		}
	}
}
