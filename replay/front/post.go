package front

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/acptap/acptap/proxy/wire"
)

// maxRequest limits the size in bytes of a client's message, which is read whole.
const maxRequest = 64 << 20

// readMessage returns the body of a POST as one line. If the body is not JSON, it answers
// the request with an error and returns nil.
func readMessage(w http.ResponseWriter, in *http.Request) []byte {
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxRequest))
	if err != nil {
		http.Error(w, "the message cannot be read: "+err.Error(), http.StatusBadRequest)
		return nil
	}
	line := oneLine(body)
	if !json.Valid(line) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(wire.NewFailure([]byte("null"), wire.ParseError, "acptap replay: the body is not JSON", nil))
		return nil
	}
	return line
}

// oneLine returns a JSON message without line breaks, which can only be white space
// there: strings cannot contain them.
func oneLine(message []byte) []byte {
	line := bytes.TrimSpace(message)
	for _, c := range []byte("\r\n") {
		line = bytes.ReplaceAll(line, []byte{c}, []byte{' '})
	}
	return line
}

// say passes a line of the client to the player.
func (s *session) say(line []byte) {
	_, _ = s.in.Write(append(line, '\n')) // fails once the player has ended, which has then answered all requests
}

// answer answers a POST with one message, with events, or with a recorded error status.
// It returns true if the recorded status is an error.
func (s *session) answer(w http.ResponseWriter, in *http.Request, st *stream, wake chan struct{}) (refused bool) {
	for {
		p, ok := s.next(in.Context(), st, wake)
		switch x := p.recorded; {
		case !ok:
			return false
		case x.refuses() && !x.answers:
			refuse(w, x)
			return true
		case x != nil && x.sse || len(p.events) > 1 || len(p.events) == 1 && !p.done:
			s.serve(in.Context(), w, st, wake, p)
			return false
		case p.done:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status(x))
			if len(p.events) > 0 {
				_, _ = w.Write(p.events[0].raw)
			}
			return x.refuses()
		}
	}
}

// refuse answers with a recorded status, its body, and the headers that explain it.
func refuse(w http.ResponseWriter, x *exchange) {
	for _, name := range []string{"Content-Type", "WWW-Authenticate", "Retry-After", "Allow"} {
		if v := wire.HeaderValue(x.headers, name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.WriteHeader(x.status)
	_, _ = w.Write(x.body)
}

// status returns the status of the answer to a POST.
func status(x *exchange) int {
	if x == nil || x.status < 200 || x.status == 202 {
		return 200
	}
	return x.status
}
