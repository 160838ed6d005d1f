package nested

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// An Uncalled is a server that the agent got through acptap for a session but never called.
type Uncalled struct {
	Server string           `json:"server"`
	Why    Why              `json:"why"`
	Code   int              `json:"code,omitempty"`   // exit status, if it Exited
	After  termtext.Seconds `json:"seconds,omitzero"` // how long it ran, if it Exited
	SetUps []SetUp          `json:"-"`                // set-ups that named it, the newest of each session
}

// A Why is how far a server got without being called.
type Why uint8

// The reasons, ordered by how far the server got.
const (
	NeverStarted  Why = iota
	NeverAsked        // it has a URL, which received no request
	Exited            // exited by itself, not because the agent stopped it
	NeverAnswered     // it ran but did not answer the request that begins a connection
	NoTools           // it offers no tools
	NeverCalled       // it offers tools
	called
)

var whyTexts = [...]struct{ named, what string }{
	NeverStarted:  {"named, ", "never started"},
	NeverAsked:    {"named, ", "never asked"},
	Exited:        {"", "exited"},
	NeverAnswered: {"started, ", "never answered"},
	NoTools:       {"started, ", "no tools"},
	NeverCalled:   {"offered, ", "never called"},
}

// MarshalText returns the reason, such as never started.
func (w Why) MarshalText() ([]byte, error) { return []byte(whyTexts[w].what), nil }

// Brief returns the reason in a few words, such as never started.
func (u *Uncalled) Brief() string {
	if u.Why == Exited {
		return fmt.Sprintf("exited %d after %s", u.Code, termtext.Duration(time.Duration(u.After)))
	}
	return whyTexts[u.Why].what
}

// String returns the reason, such as "named, never started".
func (u *Uncalled) String() string { return whyTexts[u.Why].named + u.Brief() }

// Line returns a line about the server, as clean text: "server git: named, never started".
func (u *Uncalled) Line() string { return "server " + termtext.Piece(u.Server) + ": " + u.String() }

// Failed reports whether the server failed. Otherwise it was just not needed.
func (u *Uncalled) Failed() bool { return u.Why < NoTools && u.Why != NeverAsked }

// Uncalled returns the servers that were never called in any of these sessions, in the order
// of the newest set-up of each session. live means that the agent is still running and may yet
// start and call its servers, so a session counts only after a turn. If the Join is Partial,
// Uncalled omits servers without a tape, which may have been started elsewhere.
func (j *Join) Uncalled(live bool, sessions ...string) []Uncalled {
	j.update()
	var list []Uncalled
	for _, session := range sessions {
		s, ok := j.Links.declared.Get(session)
		if !ok || live && !s.at.Turned {
			continue
		}
		for _, server := range s.linked {
			u := Uncalled{Server: server}
			if slices.Contains(s.urls, server) {
				u.Why = NeverAsked
			}
			for _, t := range j.Tapes {
				if one := t.uncalled(); t.session == session && t.Server == server && one.Why > u.Why {
					u = one
				}
			}
			i := slices.IndexFunc(list, func(one Uncalled) bool { return one.Server == server })
			if i < 0 {
				i, list = len(list), append(list, u)
			}
			u.SetUps = append(list[i].SetUps, s.at)
			if list[i].SetUps = u.SetUps; u.Why > list[i].Why {
				list[i] = u
			}
		}
	}
	return slices.DeleteFunc(list, func(u Uncalled) bool {
		return u.Why == called || u.Why <= NeverAsked && j.Partial
	})
}

// turned handles a frame that may end a turn.
func (l *Links) turned(f *dialect.Frame) {
	if f.Kind != wire.Batch && !f.Events.Has(dialect.TurnEnded) {
		return
	}
	for m := range f.Messages {
		if s, ok := l.declared.Get(m.Session); ok && m.Events.Has(dialect.TurnEnded) && !m.Failed {
			s.at.Turned = true
		}
	}
}

// uncalled returns why a server was not called. Its Why is the constant called if the server
// was called or may still answer.
func (t *Tape) uncalled() Uncalled {
	u := Uncalled{Server: t.Server, Why: NeverAnswered}
	switch p := &t.process; {
	case len(t.Calls) > 0, !p.ready && p.exit == nil && !t.ended:
		u.Why = called
	case p.exit != nil && !p.left:
		u.Why, u.Code, u.After = Exited, p.exit.Code, termtext.Seconds(p.took)
	case p.offers():
		u.Why = NeverCalled
	case p.ready:
		u.Why = NoTools
	}
	return u
}

// A process is what is known about a server's program and what it offers.
type process struct {
	left bool          // the agent closed its stdin or sent a signal that ends programs
	exit *wire.Exit    // nil: it runs, or its end was not recorded
	took time.Duration // until exit

	ready    bool // it answered the request that begins a connection
	declares bool // that answer announced tools
	listed   bool // it answered with a list of tools
	tools    bool // the list was not empty
}

// offers reports whether the server has offered any tools.
func (p *process) offers() bool { return p.tools || p.declares && !p.listed }

// mark handles a frame that may be a mark.
func (p *process) mark(f *dialect.Frame) {
	switch m := wire.ReadMark(f.Frame); {
	case m.Exit != nil:
		p.exit, p.took = m.Exit, f.At
	case m.EOF && f.Dir == wire.ClientToAgent, dialect.EndsProgram(m.Signal):
		p.left = p.left || p.exit == nil
	}
}

// answered handles an answer from the server.
func (p *process) answered(f *dialect.Frame, e wire.Envelope) {
	if f.Does(dialect.Initializes | dialect.Discovers) {
		p.ready = true
		p.declares = p.declares || e.Result.Get("capabilities.tools").Exists()
	}
	if tools := e.Result.Get("tools"); f.Does(dialect.ListsTools) && tools.IsArray() {
		p.listed, p.tools = true, p.tools || len(tools.Array()) > 0
	}
}
