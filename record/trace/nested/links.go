package nested

import (
	"bytes"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Links finds the client's session for which a server was started. A server's link appears in
// the session setup that the agent received and in the head of the server's tape; the session
// id appears in the answer that the client received. The zero value is ready to use.
type Links struct {
	sessions bounded.Map[string, string]  // by link
	declared bounded.Map[string, *setup]  // the newest setup of the client by session
	setups   dialect.OpenRequests[*setup] // unanswered setups of the client
	withheld []*setup                     // those that the agent did not receive, oldest first
	tapes    int                          // number of tapes begun
}

// maxLinks limits the links, and sessions with declared servers, that are remembered.
const maxLinks = 1 << 12

// A setup is a request for a session.
type setup struct {
	session string // the session it names; empty: it creates one
	cwd     string
	links   []string // in the setup that the agent received for it
	linked  []string // names of the servers with these links
	urls    []string // names of those reached by a URL
	names   []string // names of all servers in the setup
	at      SetUp
}

// A SetUp is the set-up request of a session that named a server.
type SetUp struct {
	Session string
	Tape    int    // index of the agent's tape, in order of Next
	Frame   uint64 // Seq of the request as the agent received it
	Turned  bool   // a turn of the session has since ended without an error
}

// Next begins another tape of the agent, on which request ids start over.
func (l *Links) Next() {
	l.setups, l.withheld = dialect.OpenRequests[*setup]{}, nil
	l.tapes++
}

// Session returns the session whose setup has a link.
func (l *Links) Session(link string) (id string, ok bool) { return l.sessions.Get(link) }

// Sessions returns the sessions whose setup was seen, the newest last.
func (l *Links) Sessions() (ids []string) {
	for id := range l.declared.All() {
		ids = append(ids, id)
	}
	return ids
}

// Any reports whether the agent received a link in the set-up of any session.
func (l *Links) Any() bool {
	for _, s := range l.declared.All() {
		if len(s.linked) > 0 {
			return true
		}
	}
	return false
}

// Declares reports whether the client's setup of a session names the server. ok is false if no
// setup was seen.
func (l *Links) Declares(session, server string) (declared, ok bool) {
	s, ok := l.declared.Get(session)
	return ok && has(s.names, server), ok
}

// linked reports whether the agent received a link for a server.
func (l *Links) linked(session, server string) bool {
	s, ok := l.declared.Get(session)
	return ok && has(s.linked, server)
}

// has reports whether names contains name, regardless of case and separators.
func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return slices.Equal(words(one), words(name)) })
}

// Add handles the next frame of the agent's tape, with its bytes.
func (l *Links) Add(f *dialect.Frame) {
	if f.Kind != wire.Batch && f.Method != "" && !Concern(f) {
		return
	}
	for m, e := range f.Messages {
		l.message(&m.Frame, e)
	}
}

// Concern reports whether Add may need a frame of the agent's tape. It does not need the
// frame's bytes.
func Concern(f *dialect.Frame) bool {
	switch f.Kind {
	case wire.Request, wire.Response:
		return concern(&f.Annotation)
	case wire.Batch:
		return slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return concern(&a) })
	}
	return false
}

// TellsServers reports whether a frame of the agent's tape may say which servers a session
// has, or that a turn with them has ended. A Join that is passed only such frames still knows
// which servers were never called. TellsServers does not need the frame's bytes.
func TellsServers(f *dialect.Frame) bool { return f.Events.Has(dialect.TurnEnded) || Concern(f) }

func concern(a *dialect.Annotation) bool {
	return setsUp(a.Method) || dialect.Wraps(a.Method) && setsUp(a.Update)
}

// setsUp reports whether requests with this method name the servers of a session.
func setsUp(method string) bool { return dialect.RoleOf(dialect.ACP, method).Is(dialect.Opens) }

// maxInside limits how often a message may be wrapped: once by each proxy in a chain.
const maxInside = 16

func (l *Links) message(f *wire.Frame, e wire.Envelope) {
	if e.Method == nil {
		if f.Dir == wire.AgentToClient && f.AtClient() {
			l.answered(f, e)
		}
		return
	}
	method, params := string(e.Method), e.Params.Value()
	for i := 0; dialect.Wraps(method) && i < maxInside; i++ {
		method, params = params.Get("method").Text(), params.Get("params")
	}
	if e.ID == nil || f.Dir != wire.ClientToAgent || !setsUp(method) {
		return
	}
	s := &setup{cwd: strings.Clone(params.Get("cwd").Text()), at: SetUp{Tape: l.tapes - 1, Frame: f.Seq}}
	if !dialect.Does(method, dialect.Copies) { // a copy creates a new session from the one it names
		s.session = strings.Clone(params.Get("sessionId").Text())
	}
	s.servers(params.Get("mcpServers"))
	l.asked(f, e.ID, s)
}

// asked records a setup. A setup that the agent received for one of the client's, or in place
// of it, passes its links on to the client's.
func (l *Links) asked(f *wire.Frame, id []byte, s *setup) {
	switch f.Origin {
	case wire.Withheld:
		l.setups.Ask(f.Dir, f.Stream, id, s)
		if l.withheld = append(l.withheld, s); len(l.withheld) > maxLinks {
			l.withheld = l.withheld[1:]
		}
	case wire.Rewritten:
		if own := l.setups.Find(f.Dir, f.Stream, id); own != nil {
			l.drop(own)
			own.gets(s)
			return
		}
		l.setups.Ask(f.Dir, f.Stream, id, s) // the original frame is not on the tape
	case wire.Injected:
		if i := slices.IndexFunc(l.withheld, func(own *setup) bool { return own.cwd == s.cwd }); i >= 0 {
			own := l.withheld[i]
			l.drop(own)
			own.gets(s)
		}
	default:
		l.setups.Ask(f.Dir, f.Stream, id, s)
	}
}

// drop removes a setup from the withheld ones.
func (l *Links) drop(s *setup) {
	l.withheld = slices.DeleteFunc(l.withheld, func(one *setup) bool { return one == s })
}

// answered handles an answer that the client received.
func (l *Links) answered(f *wire.Frame, e wire.Envelope) {
	s := l.setups.Answer(f.Dir, f.Stream, e.ID)
	if s == nil {
		return
	}
	l.drop(s)
	session := s.session
	if session == "" {
		session = strings.Clone(e.Result.Get("sessionId").Text())
	}
	if session == "" || e.Error != nil && !bytes.Equal(e.Error, []byte("null")) {
		return
	}
	l.sessions.Limit, l.declared.Limit = maxLinks, maxLinks
	for _, link := range s.links {
		l.sessions.Set(link, session)
	}
	s.at.Session = session
	l.declared.Set(session, s)
}

// maxServers limits how many servers of a setup are read.
const maxServers = 256

// servers records the names of the servers in a setup, and their links.
func (s *setup) servers(list wire.Value) {
	list.ForEach(func(_, server wire.Value) bool {
		name := strings.Clone(server.Get("name").Text())
		s.names = append(s.names, name)
		if link := dialect.LinkOf(server); link != "" {
			s.links, s.linked = append(s.links, link), append(s.linked, name)
			if server.Get("url").IsString() {
				s.urls = append(s.urls, name)
			}
		}
		return len(s.names) < maxServers
	})
}

// gets adds the links of other, which the agent received for s or in place of it.
func (s *setup) gets(other *setup) {
	s.links, s.linked, s.urls = append(s.links, other.links...), append(s.linked, other.linked...), append(s.urls, other.urls...)
	s.at.Frame = other.at.Frame
}
