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

// A recording is what a tape knows about HTTP: the heads of the exchanges, and where each
// of the agent's messages was. A stdio tape has neither, and a WebSocket tape has only
// the head of the request that opened it.
type recording struct {
	streams map[uint64]*exchange
	places  map[uint64]*place // of the server's messages, by number
	posts   map[uint64]uint64 // streams of the client's messages, by number

	http        bool                 // the tape has exchanges that do not open a WebSocket
	socket      bool                 // the tape has an exchange that opens a WebSocket
	path        string               // where clients reached the agent; empty: unknown
	session     string               // the first id that the agent gave an MCP session or an ACP connection; empty: it gave none
	free        map[string]bool      // methods that the client called without a session id
	initializes int                  // number of times the client called initialize
	listens     map[string]*exchange // the first exchange that asked for a stream of the agent's own, by ACP session; empty: for no session
	refuses     bool                 // a POST was refused
	deletes     *exchange            // the first exchange that deleted a session or a connection; nil if none did
	closed      *wire.Close          // how the agent closed the WebSocket; nil if it did not
}

// An exchange is an HTTP request and its response.
type exchange struct {
	method   string
	session  string // id of the MCP session in the request; empty: none
	scope    string // the same for ACP
	resumes  bool   // it asks for the rest of a stream
	status   int    // 0: there was no response
	headers  []wire.Header
	sse      bool
	frames   int        // messages of the response
	answers  bool       // one of these messages answers a request
	opening  []wire.SSE // events before the first message
	awaiting []wire.SSE // events after the last message
	body     []byte     // of a response with an error status
}

// refuses reports whether the response is an error status.
func (x *exchange) refuses() bool { return x != nil && x.status >= 400 }

// A place is where one of the server's messages was on the tape.
type place struct {
	on     *exchange
	stream uint64
	event  wire.SSE   // its fields except the data
	before []wire.SSE // events between the previous message and this one
}

// maxBody limits the bytes kept of the body of a response with an error status.
const maxBody = 64 << 10

// readRecording reads tapes. If there are several, the recording does not say where
// messages were, as with stdio tapes.
func readRecording(tapes []*record.Tape) (*recording, error) {
	r := &recording{
		streams: make(map[uint64]*exchange), places: make(map[uint64]*place), posts: make(map[uint64]uint64),
		free: make(map[string]bool), listens: make(map[string]*exchange),
	}
	for f, err := range tapes[0].Frames(1) {
		if err != nil {
			return nil, err
		}
		r.take(&f)
	}
	if len(tapes) > 1 {
		r.places, r.posts = nil, nil
	}
	return r, nil
}

func (r *recording) take(f *dialect.Frame) {
	m := wire.ReadMark(f.Frame)
	switch {
	case m.HTTP != nil:
		r.head(m.HTTP)
		return
	case m.Close != nil && f.Dir == wire.AgentToClient && r.closed == nil:
		r.closed = m.Close
	}
	x := r.streams[f.Stream]
	switch {
	case f.Dir == wire.ClientToAgent && f.Kind != wire.Mark:
		r.asked(x, f)
	case x == nil:
	case m.SSE != nil && m.SSE.Event == "endpoint": // of HTTP+SSE 2024, where all answers come on one stream
		x.resumes, r.path = true, mcpPath // clients of streamable HTTP know no other path
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

// asked notes a message of the client. x is nil on a stdio or WebSocket tape: there
// initialize begins a session, and there are no session ids.
func (r *recording) asked(x *exchange, f *dialect.Frame) {
	if x != nil {
		r.posts[f.Seq] = f.Stream
	}
	if f.Kind == wire.Request && (x != nil && x.session == "" || x == nil && r.initializes == 0) {
		r.free[f.Method] = true
	}
	if f.Does(dialect.Initializes) {
		r.initializes++
	}
}

func (r *recording) head(h *wire.HTTP) {
	if h.Status == 0 {
		r.request(h)
		return
	}
	if h.Status >= 200 || h.Status == http.StatusSwitchingProtocols {
		r.session = cmp.Or(r.session, wire.HeaderValue(h.Headers, sessionHeader), wire.HeaderValue(h.Headers, connectionHeader))
	}
	x := r.streams[h.Stream]
	if x == nil || h.Status < 200 {
		return
	}
	x.status, x.headers = h.Status, h.Headers
	r.refuses = r.refuses || x.refuses() && x.method == http.MethodPost
	x.sse = strings.HasPrefix(strings.ToLower(wire.HeaderValue(h.Headers, "Content-Type")), eventStream)
}

// request notes the head of a request.
func (r *recording) request(h *wire.HTTP) {
	x := &exchange{
		method: h.Method, session: wire.HeaderValue(h.Headers, sessionHeader), scope: wire.HeaderValue(h.Headers, acpSessionHeader),
		resumes: wire.HeaderValue(h.Headers, lastEventHeader) != "",
	}
	target := h.Target
	if h.Rewritten != nil {
		target = cmp.Or(h.Rewritten.Target, target)
	}
	upgrade := strings.EqualFold(wire.HeaderValue(h.Headers, "Upgrade"), "websocket")
	if u, err := url.Parse(target); err == nil && r.path == "" && (h.Method == http.MethodPost || upgrade) {
		r.path = u.Path
	}
	if upgrade {
		r.socket = true
		return
	}
	r.http, r.streams[h.Stream] = true, x
	switch {
	case h.Method == http.MethodGet && !x.resumes && strings.Contains(wire.HeaderValue(h.Headers, "Accept"), eventStream) && r.listens[x.scope] == nil:
		r.listens[x.scope] = x
	case h.Method == http.MethodDelete && r.deletes == nil:
		r.deletes = x
	}
}

// named reports whether sessions have ids. Over stdio they have none: the process is the
// session.
func (r *recording) named() bool { return !r.http || r.session != "" }
