package conform

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Terminals are those of the client that the agent made on the connection.
type terminals struct {
	byID   bounded.Map[terminalID, *terminal]
	forgot bool // there were more than are remembered
}

type terminalID struct{ session, id string }

// A terminal is one of them.
type terminal struct {
	call     *Call  // that created it
	released Moment // Seq 0: it was not
}

const maxTerminals = 4096

// of returns the terminal that a session has under an id, nil if none is known.
func (t *terminals) of(session, id string) *terminal {
	x, _ := t.byID.Get(terminalID{session, id})
	return x
}

// observe takes a step into the state.
func (t *terminals) observe(s *Step) {
	switch {
	case s.Method == "terminal/create" && s.Call != nil && s.Succeeded():
		id := text(s.Result("terminalId"))
		if id == "" {
			return
		}
		t.byID.Limit = maxTerminals
		_, full := t.byID.Set(terminalID{s.Call.Session, id}, &terminal{call: s.Call})
		t.forgot = t.forgot || full
	case s.Method == "terminal/release" && s.is(wire.Request):
		if x := t.of(s.About.Session, text(s.Param("terminalId"))); x != nil && x.released.Seq == 0 {
			x.released = s.Moment()
		}
	case s.Method == "terminal/release" && s.Call != nil && s.Envelope.Error != nil:
		if x := t.of(s.Call.Session, text(get(s.Call.Params, "terminalId"))); x != nil && x.released.Seq == s.Call.Seq {
			x.released = Moment{}
		}
	}
}

// serviceRules are about files and terminals of the client.
var serviceRules = []Rule{
	{
		ID: "ACP502", Name: "relative-argument",
		Clauses: []Clause{{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Overview, Argument requirements", "overview#argument-requirements")}},
		Fault:   Agent, Needs: Frame,
		On: []On{
			{Requests, "fs/read_text_file", dialect.AgentSide},
			{Requests, "fs/write_text_file", dialect.AgentSide},
			{Requests, "terminal/create", dialect.AgentSide},
		},
		Text: Text{
			Asks:   "All file paths in the protocol are absolute.",
			Finds:  "The `path` of a file, or the `cwd` of a terminal, that is relative: the client may run in another directory.",
			Spares: "Absolute paths of POSIX and of Windows alike.",
			Do:     "make paths absolute with the `cwd` of the session before you send them",
		},
		Check: func(s *Step, r *Report) {
			key := "path"
			if s.Method == "terminal/create" {
				key = "cwd"
			}
			path := s.Param(key)
			if !isString(path) {
				return
			}
			r.Tried()
			if isRelative(path) {
				r.Add(Evidence{Text: "sent a path that is not absolute", Path: key, Want: "an absolute path", Got: string(path)})
			}
		},
	},
	{
		ID: "ACP522", Name: "dead-terminal",
		Clauses: []Clause{{For: v1, Strength: Warning, Source: acp1("Terminals, Releasing Terminals", "terminals#releasing-terminals")}},
		Fault:   Agent, Needs: Session, About: "terminal/create",
		On: []On{
			{Requests, "terminal/output", dialect.AgentSide},
			{Requests, "terminal/wait_for_exit", dialect.AgentSide},
			{Requests, "terminal/kill", dialect.AgentSide},
			{Requests, "terminal/release", dialect.AgentSide},
		},
		Text: Text{
			Asks:  "A terminal has an id from `terminal/create` until it is released.",
			Finds: "A request for a terminal that was not created in this session on this connection, or that was released before.",
			Do:    "keep the ids that `terminal/create` returns, and forget them with `terminal/release`",
		},
		Check: func(s *Step, r *Report) {
			if s.Conn.terminals.forgot {
				return
			}
			r.Tried()
			id := s.Param("terminalId")
			switch x := s.Conn.terminals.of(s.About.Session, text(id)); {
			case x == nil:
				r.Add(Evidence{Text: "named a terminal that was not created here", Path: "terminalId", Got: string(id)})
			case x.released.Seq != 0:
				r.Add(Evidence{Text: "named a terminal that it had released (frame " + number(x.released.Seq) + ")", Path: "terminalId", Got: string(id), Because: []uint64{x.released.Seq}})
			}
		},
	},
	{
		ID: "ACP523", Name: "not-released",
		Clauses: []Clause{{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Terminals, Releasing Terminals", "terminals#releasing-terminals")}},
		Fault:   Agent, Needs: End, About: "terminal/create",
		On: []On{{Kinds: Ends}},
		Text: Text{
			Asks:   "An agent releases each terminal that it does not need any more.",
			Finds:  "A terminal that was not released though the agent ended by itself, or though its session was closed.",
			Spares: "Terminals of an agent that its client ended.",
			Do:     "call `terminal/release` when a command has ended, and before you end",
		},
		Check: notReleased,
	},
}

func notReleased(s *Step, r *Report) {
	for id, x := range s.Conn.terminals.byID.All() {
		session := s.Conn.session(id.session)
		if x.released.Seq != 0 || session == nil {
			continue
		}
		e := Evidence{Text: "did not release the terminal " + id.id, Seq: x.call.Seq, Of: x.call, In: session, By: Agent}
		switch closed := session.setup.closed; {
		case s.Conn.EndedItself(Agent):
		case closed.Seq != 0:
			if d, timed := since(closed, s.Moment()); !timed || d <= s.judge.checker.options.Grace {
				continue
			}
			e.Because = []uint64{closed.Seq}
		default:
			continue
		}
		r.Add(e)
	}
}
