package conform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A setup records how a session was set up on its connection.
type setup struct {
	method   string // of the request that succeeded; empty: the session is only named, or being opened
	made     bool   // it was created on this connection, not only loaded or resumed
	done     Moment // of the answer
	opening  *Call  // the open request to load or resume it; nil: none
	refused  Moment // of the latest answer that refused to; Seq 0: none
	replayed int    // number of conversation parts since that request
	closed   Moment // Seq 0: it is open
	leaving  uint64 // Seq of the latest request to close or delete it; 0: none
	prompted bool   // since it was set up
	empty    bool   // it was loaded, but without its history
	late     bool   // a user message came after that and before a prompt
}

func (u *setup) observe(s *Step) {
	switch {
	case u.opening != nil && isHistory(s.Entity):
		u.replayed++
	case s.Entity == dialect.UserMessage && !u.prompted:
		u.late = true
	case s.Kind() != wire.Request || s.From != Client:
	case s.Method == "session/prompt":
		u.prompted = true
	case s.Method == "session/close", s.Method == "session/delete":
		u.leaving = s.Frame.Seq
	}
}

// replays reports whether updates may be the history of a loaded or resumed session: some
// agents send part of it after the answer.
func (x *session) replays() bool {
	return x.setup.opening != nil || x.setup.method != "" && !x.setup.prompted && x.setup.method != "session/new"
}

// opened handles the answer to a request that opens a session.
func (c *connection) opened(s *Step) {
	if x := s.Session; x != nil && x.setup.opening == s.Call {
		x.setup.opening = nil
	}
	if !s.Succeeded() {
		if s.Session != nil {
			s.Session.setup.refused = s.Moment()
		}
		return
	}
	id := s.About.Session
	if id == "" {
		id = wire.Text(s.Result("sessionId"))
	}
	if id == "" || len(id) > maxSessionID {
		return
	}
	row, _ := dialect.Lookup(c.Protocol, s.Method)
	x := c.enter(id)
	empty := isReplay(s.Call) && x.setup.replayed == 0 && x.turns(c.past) > 0
	if row.Role.Is(dialect.MakesSession) {
		*x = *c.newSession(id)
	}
	x.setup = setup{
		method: s.Method, made: x.setup.made || row.Role.Is(dialect.MakesSession), done: s.Moment(),
		opening: x.setup.opening, replayed: x.setup.replayed, empty: empty,
	}
	x.turn.restored()
	x.lost = s.Call.lost
	if first, early := c.directory.early.Get(id); early && row.Role.Is(dialect.MakesSession) && first.any > s.Call.Seq {
		x.lose("what came for the session before its name did (frame " + number(first.any) + ")")
	}
	c.directory.early.Drop(id)
	c.directory.gone.Drop(id)
}

// A directory holds what is known about sessions that are not open: those deleted, those
// used before they had a name, and the cursors of the session list.
type directory struct {
	gone    bounded.Map[string, Moment] // when each deletion was confirmed
	early   bounded.Map[string, early]  // frames for a session that no answer had named
	cursors hashes
}

// An early holds the Seq of the first frame, and that of the first frame that is no
// notification of an extension; 0: there was none.
type early struct{ any, protocol uint64 }

// Further limits on what is remembered about sessions.
const (
	maxGone      = 1 << 12
	maxEarly     = 64
	maxCursors   = 1 << 12
	maxSessionID = 1 << 10 // bytes
)

func (d *directory) observe(s *Step) {
	switch {
	case s.From == Agent && s.Kind() != wire.Response && s.Session == nil && s.About.Session != "" && len(s.About.Session) <= maxSessionID:
		was, known := d.early.Get(s.About.Session)
		row, ok := dialect.Lookup(s.Conn.Protocol, s.Method)
		counts := ok && (s.is(wire.Request) || row.Role.Is(dialect.TellsUpdate))
		if known && (was.protocol != 0 || !counts) {
			return
		}
		if was.any == 0 {
			was.any = s.Frame.Seq
		}
		if counts {
			was.protocol = s.Frame.Seq
		}
		d.early.Set(s.About.Session, was)
	case s.Method == "session/list" && s.Succeeded() && s.Call != nil:
		if next := s.Result("nextCursor"); isString(next) {
			if d.cursors.add(maxCursors, string(next)); d.cursors.forgot && s.Conn.lost == "" {
				s.Conn.lost = "there are more cursors than are remembered"
			}
		}
	}
}

// deleted records that a session was deleted.
func (c *connection) deleted(id string, at Moment) {
	c.sessions.Drop(id)
	c.past.sessions.Drop(id)
	c.directory.gone.Set(id, at)
}

// setupRules judge how sessions are created, named, listed and deleted.
var setupRules = checks{
	{"ACP201", noSessionID},
	{"ACP202", sessionIDAgain},
	{"ACP203", relativeCwd},
	{"ACP206", unknownSession},
	{"ACP208", updateTooEarly},
	{"ACP210", listFilter},
	{"ACP211", relativeArgument},
	{"ACP212", madeUpCursor},
	{"ACP213", deletedListed},
}

func noSessionID(s *Step, r *Report) {
	id := s.Result("sessionId")
	r.Judge(wire.Text(id) == "", Evidence{Text: "answered session/new without an id", Path: "sessionId", Want: "a string that is not empty", Got: string(id)})
}

func sessionIDAgain(s *Step, r *Report) {
	id := wire.Text(s.Result("sessionId"))
	if id == "" {
		return
	}
	r.Tried()
	if x := s.Conn.session(id); x != nil && x.setup.method != "" {
		r.Add(Evidence{
			Text: "gave a new session the id of one that was set up before (frame " + number(x.setup.done.Seq) + ")", Path: "sessionId",
			Want: "an id that was not used before", Got: string(s.Result("sessionId")), Because: []uint64{x.setup.done.Seq},
		})
	}
}

func relativeCwd(s *Step, r *Report) {
	r.Tried()
	look := func(value []byte, at string) {
		if isRelative(value) {
			r.Add(Evidence{Text: "set up a session with a path that is not absolute", Path: at, Want: "an absolute path", Got: string(value)})
		}
	}
	look(s.Param("cwd"), "cwd")
	for i, directory := range wire.Elements(s.Param("additionalDirectories")) {
		look(directory, dialect.ElementPath("additionalDirectories", i))
	}
}

// authRequired is ACP's error code for a missing login.
const authRequired = -32000

// refusesOtherwise reports whether an error has a cause other than the session: the
// method, a login, a cancellation.
func refusesOtherwise(e []byte) bool {
	return slices.Contains([]int64{wire.MethodNotFound, authRequired, wire.RequestCancelled}, code(e))
}

func unknownSession(s *Step, r *Report) {
	if s.Call == nil || s.Call.Session == "" || s.Envelope.Error == nil || refusesOtherwise(s.Envelope.Error) {
		return
	}
	r.Tried()
	_, gone := s.Conn.directory.gone.Get(s.Call.Session)
	x := s.Conn.session(s.Call.Session)
	known := x != nil && (x.setup.method != "" || x.setup.opening != nil || x.setup.refused.Seq > s.Call.Seq)
	if gone || known {
		return
	}
	r.Add(Evidence{
		Text: "called " + s.Method + " for a session that was not set up on this connection; the agent answered " + said(s) + " (frame " + number(s.Frame.Seq) + ")",
		Path: "sessionId", Got: strconv.Quote(short(s.Call.Session)), Seq: s.Call.Seq, Of: s.Call, Because: []uint64{s.Frame.Seq},
	})
}

func updateTooEarly(s *Step, r *Report) {
	id := wire.Text(s.Result("sessionId"))
	if id == "" {
		return
	}
	came, _ := s.Conn.directory.early.Get(id)
	r.Judge(came.protocol > s.Call.Seq, Evidence{
		Text: "named the session only after it had sent something for it (frame " + number(came.protocol) + ")", Path: "sessionId",
		Got: string(s.Result("sessionId")), Because: []uint64{came.protocol},
	})
}

func listFilter(s *Step, r *Report) {
	if s.Call.Params == nil {
		return
	}
	cwd := wire.Get(s.Call.Params, "cwd")
	if !isString(cwd) || isRelative(cwd) { // ACP211
		return
	}
	asked := wire.Text(cwd)
	r.Tried()
	for i, item := range wire.Elements(s.Result("sessions")) {
		if cwd := wire.Get(item, "cwd"); isString(cwd) && lastPart(wire.Text(cwd)) != lastPart(asked) {
			r.Add(Evidence{
				Text: "listed a session of another directory than was asked for (frame " + number(s.Call.Seq) + ")", Path: dialect.ElementPath("sessions", i) + ".cwd",
				Want: strconv.Quote(short(asked)), Got: string(cwd), Because: []uint64{s.Call.Seq},
			})
			return
		}
	}
}

// lastPart returns the last part of a POSIX or Windows path in lower case.
func lastPart(path string) string {
	path = strings.TrimRight(path, `/\`)
	return strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
}

func madeUpCursor(s *Step, r *Report) {
	cursor := s.Param("cursor")
	if !isString(cursor) {
		return
	}
	r.Judge(!s.Conn.directory.cursors.has(string(cursor)), Evidence{Text: "asked for a page by a cursor that no answer brought", Path: "cursor", Got: string(cursor)})
}

func deletedListed(s *Step, r *Report) {
	if s.Conn.directory.gone.Len() == 0 {
		return
	}
	r.Tried()
	for i, item := range wire.Elements(s.Result("sessions")) {
		gone, deleted := s.Conn.directory.gone.Get(wire.Text(wire.Get(item, "sessionId")))
		if deleted && gone.Seq < s.Call.Seq {
			r.Add(Evidence{
				Text: "listed a session that was deleted (frame " + number(gone.Seq) + ")", Path: dialect.ElementPath("sessions", i) + ".sessionId",
				Got: string(wire.Get(item, "sessionId")), Because: []uint64{gone.Seq, s.Call.Seq},
			})
		}
	}
}
