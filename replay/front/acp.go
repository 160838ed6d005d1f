package front

import (
	"mime"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// postACP serves a POST of an ACP client. The response carries only the answer to
// initialize; all other answers go to the streams of GETs.
func (f *Front) postACP(w http.ResponseWriter, in *http.Request) {
	if kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "the message is not application/json", http.StatusUnsupportedMediaType)
		return
	}
	line := readMessage(w, in)
	if line == nil {
		return
	}
	e := rpc.Scan(line)
	if e.Kind == wire.Batch {
		http.Error(w, "batches are not taken over HTTP", http.StatusNotImplemented)
		return
	}
	begins := e.MessageKind() == wire.Request && dialect.RoleOf(dialect.ACP, string(e.Method)).Is(dialect.Initializes)
	if begins && in.Header.Get(connectionHeader) == "" {
		f.initializeACP(w, in, line, e)
		return
	}
	s := f.connection(w, in)
	switch session, scope := dialect.NamedSession(string(e.Method), e), in.Header.Get(acpSessionHeader); {
	case s == nil:
	case begins:
		http.Error(w, "the connection has been initialized", http.StatusBadRequest)
	case session != "" && scope != "" && session != scope:
		http.Error(w, "the message is of another session than the header "+acpSessionHeader, http.StatusBadRequest)
	case e.MessageKind() == wire.Request:
		s.request(w, in, line, e, session)
	default:
		s.accept(w, line)
	}
}

// initializeACP begins a connection.
func (f *Front) initializeACP(w http.ResponseWriter, in *http.Request, line []byte, e wire.Envelope) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		http.Error(w, "the replay is ending", http.StatusServiceUnavailable)
		return
	}
	s := f.settle()
	if s == nil {
		s = f.begin(f.name(), (*session).takeACP)
	}
	f.mu.Unlock()
	st := s.ask([]string{string(e.ID)})
	wake := s.hold(st)
	s.say(line)
	w.Header().Set(connectionHeader, s.id)
	if s.answer(w, in, st, wake) {
		f.refused(s)
	}
}

// connection returns the session named in a request's header. If there is none, it
// answers the request with an error and returns nil.
func (f *Front) connection(w http.ResponseWriter, in *http.Request) *session {
	id := in.Header.Get(connectionHeader)
	if id == "" {
		http.Error(w, "the header "+connectionHeader+" is missing", http.StatusBadRequest)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	if s == nil {
		http.Error(w, "there is no such connection", http.StatusNotFound)
	}
	return s
}

// request gives the player a request that names a session, or none.
func (s *session) request(w http.ResponseWriter, in *http.Request, line []byte, e wire.Envelope, named string) {
	if dialect.RoleOf(dialect.ACP, string(e.Method)).Is(dialect.Creates | dialect.Loads) {
		named = "" // the RFD: the answers to these go to the connection's stream
	}
	id := string(e.ID)
	s.mu.Lock()
	s.expect(s.scope(named), id)
	s.mu.Unlock()
	if !s.recording.refuses {
		s.accept(w, line)
		return
	}
	post := newStream()
	s.mu.Lock()
	s.posts[id] = post
	if s.over {
		s.taken(id)
	}
	s.mu.Unlock()
	wake := s.hold(post)
	s.say(line)
	for {
		p, ok := s.next(in.Context(), post, wake)
		switch {
		case !ok:
			return
		case p.recorded != nil:
			refuse(w, p.recorded)
			return
		case p.done:
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
}

// accept answers a POST and then passes the message to the player: some clients do not
// expect its effects before the answer to the POST.
func (s *session) accept(w http.ResponseWriter, line []byte) {
	s.order.Lock()
	defer s.order.Unlock()
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusAccepted)
	_ = http.NewResponseController(w).Flush() // fails if the client is gone
	s.say(line)
}

// taken ends the POST of a request that the player has accepted. s.mu is held.
func (s *session) taken(id string) {
	if post := s.posts[id]; post != nil {
		delete(s.posts, id)
		post.end()
	}
}

// scope returns the stream of a session, or that of the connection if session is empty.
// s.mu is held.
func (s *session) scope(session string) *stream {
	if session == "" {
		return s.own
	}
	st := s.scoped[session]
	if st == nil {
		st = newStream()
		st.pending, st.done = opening(s.recording.listens[session]), s.over
		s.scoped[session] = st
	}
	return st
}

// takeACP sends a message to the POST of initialize, or to the stream of its session or
// of the connection. If the tape says which stream carried the message, takeACP uses that
// one.
func (s *session) takeACP(m *message) {
	switch {
	case m.kind == wire.Batch:
		wire.Entries(m.raw, func(_ int, entry []byte) bool { // HTTP has no batches
			kind, answered := answers(entry)
			s.takeACP(&message{raw: entry, kind: kind, answered: answered})
			return true
		})
		return
	case !m.isMessage() || m.at != nil && m.at.on.refuses():
		return
	}
	s.put(s.streamOf(m), m)
}

func (s *session) streamOf(m *message) *stream {
	var asked *stream
	for _, id := range m.answered {
		asked = s.calls[id]
	}
	switch e := rpc.Scan(m.raw); {
	case asked != nil && asked.post:
		return asked
	case m.at != nil && m.at.on.method == http.MethodGet:
		return s.scope(m.at.on.scope)
	case asked != nil:
		return asked
	default:
		return s.scope(dialect.NamedSession(string(e.Method), e))
	}
}

// getACP serves the stream of a session or of the connection.
func (f *Front) getACP(w http.ResponseWriter, in *http.Request) {
	if !strings.Contains(strings.ToLower(in.Header.Get("Accept")), eventStream) {
		http.Error(w, "what comes is "+eventStream, http.StatusNotAcceptable)
		return
	}
	s := f.connection(w, in)
	if s == nil {
		return
	}
	s.mu.Lock()
	st := s.scope(in.Header.Get(acpSessionHeader))
	s.mu.Unlock()
	s.serve(in.Context(), w, st, s.hold(st), portion{})
}

// deleteACP ends a connection if the agent on the tape allowed that.
func (f *Front) deleteACP(w http.ResponseWriter, in *http.Request) {
	s := f.connection(w, in)
	switch x := f.recording.deletes; {
	case s == nil:
	case x.refuses():
		refuse(w, x)
	default:
		s.delete()
		w.WriteHeader(http.StatusAccepted)
	}
}
