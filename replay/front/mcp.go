package front

import (
	"net/http"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// session returns the session of a request. method is that of its body, or empty. If
// there is no such session, it answers the request with an error and returns nil.
func (f *Front) session(w http.ResponseWriter, in *http.Request, method string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := in.Header.Get(sessionHeader); id != "" {
		s := f.find(id)
		if s == nil {
			http.Error(w, "there is no such session", http.StatusNotFound)
		}
		return s
	}
	last := len(f.sessions) - 1
	switch role := dialect.RoleOf(dialect.MCP, method); {
	case f.closed:
		http.Error(w, "the replay is ending", http.StatusServiceUnavailable)
		return nil
	case role.Is(dialect.Initializes):
		if s := f.settle(); s != nil {
			return s
		}
		return f.beginMCP()
	case role.Is(dialect.Discovers) && f.recording.free[method]: // a client without initialize begins with it
		f.unsettled = append(f.unsettled, f.beginMCP())
		return f.unsettled[len(f.unsettled)-1]
	case !f.recording.named() && last >= 0 && !f.sessions[last].gone():
		return f.sessions[last]
	case method != "" && (!f.recording.named() || f.recording.free[method]):
		if len(f.unsettled) == 0 {
			f.unsettled = append(f.unsettled, f.beginMCP())
		}
		return f.unsettled[len(f.unsettled)-1]
	}
	http.Error(w, "the header "+sessionHeader+" is missing", http.StatusBadRequest)
	return nil
}

func (f *Front) beginMCP() *session { return f.begin(f.name(), (*session).takeMCP) }

// post serves a POST of an MCP client.
func (f *Front) post(w http.ResponseWriter, in *http.Request) {
	line := readMessage(w, in)
	if line == nil {
		return
	}
	method, ids := asked(line)
	s := f.session(w, in, method)
	if s == nil {
		return
	}
	st := s.ask(ids)
	wake := s.hold(st)
	s.say(line)
	if len(ids) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	initializes := dialect.Does(method, dialect.Initializes)
	if initializes && s.id != "" {
		w.Header().Set(sessionHeader, s.id)
	}
	if refused := s.answer(w, in, st, wake); refused && initializes {
		f.refused(s)
	}
}

// takeMCP sends a message to the stream of its POST, or to the server's own stream. If
// the tape says which stream carried the message, takeMCP uses that one.
func (s *session) takeMCP(m *message) {
	if !m.isMessage() {
		return // HTTP cannot carry it
	}
	st := s.calls[string(m.call)]
	if len(m.answered) == 0 { // MCP 2025-11-25: the stream of a GET carries no answers
		switch {
		case m.at == nil:
		case m.at.on.refuses():
			return // the answer to the POST contains it
		case !m.at.on.resumes:
			st = s.recorded[m.at.stream]
		}
		if st == nil || st.done {
			st = s.own
		}
	}
	if st != nil {
		s.put(st, m)
	}
}

// asked returns the method of a message, or of the first message of a batch, and the ids
// of its requests.
func asked(line []byte) (method string, ids []string) {
	rpc.EachIn(line, func(_ []byte, e wire.Envelope) {
		if method == "" {
			method = string(e.Method)
		}
		if e.MessageKind() == wire.Request {
			ids = append(ids, string(e.ID))
		}
	})
	return method, ids
}

// get serves the server's own stream, or the rest of an interrupted one.
func (f *Front) get(w http.ResponseWriter, in *http.Request) {
	r := f.recording
	id := in.Header.Get(lastEventHeader)
	if id == "" && r.http {
		switch {
		case r.listens[""] == nil:
			w.Header().Set("Allow", "POST, DELETE")
			http.Error(w, "the tape has no stream of the server's own", http.StatusMethodNotAllowed)
			return
		case r.listens[""].refuses():
			refuse(w, r.listens[""])
			return
		}
	}
	s := f.session(w, in, "")
	if s == nil {
		return
	}
	st, missed := s.own, []event(nil)
	if id != "" {
		if st, missed = s.since(id); st == nil {
			http.Error(w, "there is no event with that id among the last ones", http.StatusBadRequest)
			return
		}
	}
	s.serve(in.Context(), w, st, s.hold(st), portion{events: missed})
}

// delete ends a session if the server on the tape allowed that.
func (f *Front) delete(w http.ResponseWriter, in *http.Request) {
	s := f.session(w, in, "")
	if s == nil {
		return
	}
	x := f.recording.deletes
	if x.refuses() {
		refuse(w, x)
		return
	}
	s.delete()
	if x == nil || x.status == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.WriteHeader(x.status)
}
