package front

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/acptap/acptap/proxy/wire"
)

// maxRequest is how long a message of the client may be: it is read whole.
const maxRequest = 64 << 20

// post takes a message of the client.
func (f *Front) post(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxRequest))
	if err != nil {
		http.Error(w, "the message cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	line := bytes.TrimSpace(body)
	for _, c := range []byte("\r\n") { // in JSON they are white space, and cannot stand in a string
		line = bytes.ReplaceAll(line, []byte{c}, []byte{' '})
	}
	if !json.Valid(line) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"acptap replay: the body is not JSON"}}`)
		return
	}
	method, ids := asked(line)
	s := f.session(w, in, method)
	if s == nil {
		return
	}
	st := s.ask(ids)
	wake := s.hold(st)
	_, _ = s.in.Write(append(line, '\n')) // fails when the player has ended, which has answered then
	if len(ids) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if method == "initialize" && s.id != "" {
		w.Header().Set(sessionHeader, s.id)
	}
	s.answer(w, in, st, wake)
}

// asked returns the method of a message, for a batch of its first, and the ids of the
// requests in it.
func asked(line []byte) (method string, ids []string) {
	e := scan(line)
	take := func(e wire.Envelope) {
		if method == "" {
			method = string(e.Method)
		}
		if e.MessageKind() == wire.Request {
			ids = append(ids, string(e.ID))
		}
	}
	if e.Kind != wire.Batch {
		take(e)
		return method, ids
	}
	wire.Entries(line, func(_ int, entry []byte) bool {
		take(wire.Scan(entry))
		return true
	})
	return method, ids
}

// answer answers a POST: with one message, with events, or with the status that was
// recorded in place of a message.
func (s *session) answer(w http.ResponseWriter, in *http.Request, st *stream, wake chan struct{}) {
	for {
		p, ok := s.next(in.Context(), st, wake)
		switch x := p.recorded; {
		case !ok:
			return
		case x.refuses() && !x.answers:
			refuse(w, x)
			return
		case x != nil && x.sse || len(p.events) > 1 || len(p.events) == 1 && !p.done:
			s.serve(in.Context(), w, st, wake, p)
			return
		case p.done:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status(x))
			if len(p.events) > 0 {
				_, _ = w.Write(p.events[0].raw)
			}
			return
		}
	}
}

// refuse answers with a recorded status, the headers that tell more of it, and the body.
func refuse(w http.ResponseWriter, x *exchange) {
	for _, name := range []string{"Content-Type", "WWW-Authenticate", "Retry-After", "Allow"} {
		if v := value(x.headers, name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.WriteHeader(x.status)
	_, _ = w.Write(x.body)
}

// get serves the server's own stream, or the rest of one that broke off.
func (f *Front) get(w http.ResponseWriter, in *http.Request) {
	r := f.recording
	id := in.Header.Get(lastEventHeader)
	if id == "" && !r.stdio() {
		switch {
		case r.listens == nil:
			w.Header().Set("Allow", "POST, DELETE")
			http.Error(w, "the tape has no stream of the server's own", http.StatusMethodNotAllowed)
			return
		case r.listens.refuses():
			refuse(w, r.listens)
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

// delete ends a session, if the server on the tape let the client do so.
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
