package front

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A recording is what a tape says of HTTP: the heads of its exchanges, and where each
// message of the server stood. A tape of stdio has none of that.
type recording struct {
	streams map[uint64]*exchange
	places  map[uint64]*place // of the server's messages, by number
	posts   map[uint64]uint64 // streams of the client's messages, by number

	path    string          // under which the server was reached; empty: not known
	session string          // its first session id; empty: it gave none
	free    map[string]bool // methods that the client called without a session id
	began   bool            // the client called initialize
	listens *exchange       // the first one that asked for the server's own stream; nil if none did
	deletes *exchange       // the first one that deleted a session; nil if none did
}

// An exchange is a request of HTTP and its response.
type exchange struct {
	method   string
	session  string // of the request; empty: none
	resumes  bool   // it asks for the rest of a stream
	status   int    // 0: there was no response
	headers  []wire.Header
	sse      bool
	frames   int        // messages of the response
	answers  bool       // one of them answers a request
	opening  []wire.SSE // events before the first of them
	awaiting []wire.SSE // events behind the last of them
	body     []byte     // of a response with an error status
}

// refuses reports whether the status was the answer.
func (x *exchange) refuses() bool { return x != nil && x.status >= 400 }

// A place is where a message of the server stood.
type place struct {
	on     *exchange
	stream uint64
	event  wire.SSE   // its fields but for the data
	before []wire.SSE // events between the message before it and this one
}

// maxBody is how much is kept of the body of a response with an error status.
const maxBody = 64 << 10

func readRecording(t *record.Tape) (*recording, error) {
	r := &recording{streams: make(map[uint64]*exchange), places: make(map[uint64]*place), posts: make(map[uint64]uint64), free: make(map[string]bool)}
	for f, err := range t.Frames(1) {
		if err != nil {
			return nil, err
		}
		r.take(&f)
	}
	return r, nil
}

func (r *recording) take(f *dialect.Frame) {
	m := wire.ReadMark(f.Frame)
	if m.HTTP != nil {
		r.head(m.HTTP)
		return
	}
	x := r.streams[f.Stream]
	switch {
	case f.Dir == wire.ClientToAgent && f.Kind != wire.Mark:
		r.asked(x, f)
	case x == nil:
	case m.SSE != nil && m.SSE.Event == "endpoint": // of HTTP+SSE 2024, where all answers come on one stream
		x.resumes = true
	case m.SSE != nil && !m.SSE.Cut && x.frames == 0:
		x.opening = append(x.opening, *m.SSE)
	case m.SSE != nil && !m.SSE.Cut:
		x.awaiting = append(x.awaiting, *m.SSE)
	case f.Kind == wire.Mark:
	case x.refuses():
		x.body = append(x.body, f.Raw[:min(len(f.Raw), maxBody-len(x.body))]...)
		x.answers = x.answers || f.Kind == wire.Response && !bytes.Equal(wire.Scan(f.Raw).ID, []byte("null"))
		r.places[f.Seq] = &place{on: x, stream: f.Stream}
	case f.AtClient() && f.Kind != wire.Body:
		x.frames++
		r.places[f.Seq] = &place{on: x, stream: f.Stream, event: wire.ReadSSE(f.Lead), before: x.awaiting}
		x.awaiting = nil
	}
}

// asked takes a message of the client. x is nil on a tape of stdio, where initialize takes
// the place of the session id.
func (r *recording) asked(x *exchange, f *dialect.Frame) {
	r.posts[f.Seq] = f.Stream
	if f.Kind == wire.Request && (x != nil && x.session == "" || x == nil && !r.began) {
		r.free[f.Method] = true
	}
	r.began = r.began || f.Method == "initialize"
}

func (r *recording) head(h *wire.HTTP) {
	if h.Status == 0 {
		x := &exchange{method: h.Method, session: value(h.Headers, sessionHeader), resumes: value(h.Headers, lastEventHeader) != ""}
		r.streams[h.Stream] = x
		target := h.Target
		if h.Rewritten != nil {
			target = cmp.Or(h.Rewritten.Target, target)
		}
		if u, err := url.Parse(target); err == nil && r.path == "" && h.Method == http.MethodPost {
			r.path = u.Path
		}
		switch {
		case h.Method == http.MethodGet && !x.resumes && strings.Contains(value(h.Headers, "Accept"), eventStream) && r.listens == nil:
			r.listens = x
		case h.Method == http.MethodDelete && r.deletes == nil:
			r.deletes = x
		}
		return
	}
	x := r.streams[h.Stream]
	if x == nil || h.Status < 200 {
		return
	}
	x.status, x.headers = h.Status, h.Headers
	x.sse = strings.HasPrefix(strings.ToLower(value(h.Headers, "Content-Type")), eventStream)
	if r.session == "" {
		r.session = value(h.Headers, sessionHeader)
	}
}

// stdio reports whether there is no HTTP on the tape.
func (r *recording) stdio() bool { return len(r.streams) == 0 }

// named reports whether the sessions have ids. Over stdio there are none, and the process
// is the session.
func (r *recording) named() bool { return r.stdio() || r.session != "" }

// value returns the value of a header, empty if there is none.
func value(headers []wire.Header, name string) string {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
