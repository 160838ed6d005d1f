package conform

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// exchanges holds what is known about a connection over HTTP.
type exchanges struct {
	open    bounded.Map[uint64, *exchange] // by stream, until their responses have ended
	waiting []*exchange                    // they came before the dialect was settled, and are judged then
	any     bool                           // there was one on the connection
	several bool                           // there was more than one

	endpoint string // path of the URL to which messages are posted; empty: unknown, as when answers come on another stream
	session  string // ID that the server assigned in its answer to initialize; empty: none
	given    Moment // of that answer; Seq 0: none
	ended    string // ID for which a POST was answered with 404; empty: none
	gone     Moment // of that answer
}

// Limits on what is remembered about exchanges.
const (
	maxExchanges = 1024
	maxWaiting   = 64
	maxPosted    = 16 // ids of requests in one body
)

// An exchange is a request over HTTP together with its response, as far as they have
// arrived.
type exchange struct {
	asked    *Call      // position of the request's head; Method is that of the message in the body
	request  *wire.HTTP // the head as the client sent it
	answered *Call      // position of the response's head; nil: none has come
	response *wire.HTTP // the head as the server sent it
	length   int64      // of the response's body, once it has ended
	judged   bool

	path    string
	session string // Mcp-Session-Id that the client had to send; empty: none
	given   Moment // when initialize had been answered; Seq 0: it had not
	gone    Moment // when the session that the client names had been answered with 404; Seq 0: it had not

	messages int      // number in the body of the request
	requests int      // number of requests among them
	ids      [][]byte // ids of the first of them, as JSON
	version  string   // of the protocol, according to the message's _meta; empty: not stated
	name     string   // of the requested tool, prompt or resource, which Mcp-Name must repeat; empty: none
	flaw     *flawed  // the first body that should be JSON but is not; nil: none
}

// A flawed is a body that is not JSON although its head says so.
type flawed struct {
	call Call
	got  string
}

// stream adds a frame to its exchange, and reports whether the frame belongs to the
// protocol: HTTP also carries logins and the answers of gateways.
func (j *judge) stream(f *dialect.Frame, e wire.Envelope) bool {
	h := &j.conn.http
	x, _ := h.open.Get(f.Stream)
	if x == nil { // its head is lost
		return speaksRPC(f, e)
	}
	if f.Dir == wire.ClientToAgent {
		if h.endpoint != "" && x.path != h.endpoint || f.Kind == wire.Invalid && h.endpoint == "" {
			return false
		}
		x.post(f, e)
		return true
	}
	switch {
	case x.response == nil:
		return speaksRPC(f, e)
	case x.response.Status == http.StatusSwitchingProtocols:
		return true
	case x.response.Status >= 300: // the body may be an error without an ID, or anything else
		return e.Kind == wire.Response && wire.Present(e.ID) && speaksRPC(f, e)
	case x.messages == 0 && x.contentType() != eventStream:
		return false
	}
	x.flawed(f)
	if x.asks(e.ID) {
		h.endpoint = x.path
	}
	return true
}

// speaksRPC reports whether a frame identifies itself as a message.
func speaksRPC(f *dialect.Frame, e wire.Envelope) bool {
	return f.Kind == wire.Batch || e.MessageKind() != wire.Invalid && wire.Text(wire.Get(f.Raw, "jsonrpc")) == "2.0"
}

// post reads the request's body.
func (x *exchange) post(f *dialect.Frame, e wire.Envelope) {
	x.flawed(f)
	if f.Kind == wire.Batch {
		wire.Entries(f.Raw, func(_ int, entry []byte) bool {
			x.message(wire.Scan(entry))
			return true
		})
		return
	}
	x.asked.Session = f.Session
	x.message(e)
	x.asked.Method = f.Method
	if f.Kind != wire.Request {
		return
	}
	x.version = wire.Text(wire.Get(e.Params, "_meta", metaVersion))
	switch f.Method {
	case "tools/call", "prompts/get":
		x.name = wire.Text(wire.Get(e.Params, "name"))
	case "resources/read":
		x.name = wire.Text(wire.Get(e.Params, "uri"))
	}
}

func (x *exchange) message(e wire.Envelope) {
	switch e.MessageKind() {
	case wire.Request:
		x.requests++
		if len(x.ids) < maxPosted {
			x.ids = append(x.ids, append([]byte{}, e.ID...))
		}
	case wire.Notification, wire.Response:
	default:
		return
	}
	x.messages++
}

// asks reports whether the request's body contains a request with an ID.
func (x *exchange) asks(id []byte) bool {
	for _, asked := range x.ids {
		if wire.Present(id) && dialect.IDKey(asked) == dialect.IDKey(id) {
			return true
		}
	}
	return false
}

// flawed records a body that is not JSON. An incomplete one proves nothing.
func (x *exchange) flawed(f *dialect.Frame) {
	if f.Kind != wire.Invalid || x.flaw != nil || int64(len(f.Raw)) < f.Size {
		return
	}
	s := Step{Frame: f, Entry: -1}
	if why := flawOf(&s); why == notJSON || why == notUTF8 {
		x.flaw = &flawed{*place(f), string(f.Raw[:min(len(f.Raw), maxGot+1)])}
	}
}

// place returns the position of an exchange's frame.
func place(f *dialect.Frame) *Call {
	return &Call{Moment: momentOf(f), Entry: -1, From: faultOf(f.Dir), Session: f.Session}
}

// contentType returns the type of the response's body, without parameters.
func (x *exchange) contentType() string {
	value, _ := x.response.Field("Content-Type")
	kind, _, _ := mime.ParseMediaType(value) // a bad parameter leaves the type readable
	return kind
}

const (
	applicationJSON = "application/json"
	eventStream     = "text/event-stream"
)

// accepted reports whether the server accepted the request.
func (x *exchange) accepted() bool { return x.response.Status/100 == 2 }

// head handles the head of a request or response.
func (j *judge) head(f *dialect.Frame, head *wire.HTTP) {
	h := &j.conn.http
	if f.Dir == wire.ClientToAgent {
		x := &exchange{asked: place(f), request: head, session: h.session, given: h.given}
		x.path, _, _ = strings.Cut(head.Target, "?")
		x.asked.Session = h.session
		if id, named := head.Field("Mcp-Session-Id"); named && id == h.ended {
			x.gone = h.gone
		}
		h.several = h.several || h.any
		h.any, h.open.Limit = true, maxExchanges
		h.open.Set(f.Stream, x)
		return
	}
	x, _ := h.open.Get(f.Stream)
	switch {
	case x == nil || head.Status < 200 && head.Status != http.StatusSwitchingProtocols: // an interim response
		return
	case head.Origin == wire.Injected || x.response != nil:
		h.open.Drop(f.Stream)
		return
	}
	x.answered, x.response = place(f), head
	x.answered.Method, x.answered.Session = x.asked.Method, x.asked.Session
	if id, named := x.request.Field("Mcp-Session-Id"); named && head.Status == http.StatusNotFound && x.request.Method == http.MethodPost && x.path == h.endpoint && id != h.ended {
		h.ended, h.gone = id, x.answered.Moment
	}
	if kind := x.contentType(); head.Status >= 300 {
		for _, id := range x.ids {
			j.conn.mcp.requests[wire.ClientToAgent].refused.add(maxIDs, string(id))
		}
		if kind != applicationJSON && kind != eventStream { // otherwise the body may be an answer
			j.refused(x)
		}
	}
	if x.accepted() && x.contentType() == eventStream {
		j.exchange(x, f) // it may last as long as the connection
	}
}

// streamEnd handles the end of a stream in one direction.
func (j *judge) streamEnd(f *dialect.Frame, end *wire.StreamEnd) {
	h := &j.conn.http
	x, _ := h.open.Get(f.Stream)
	switch {
	case x == nil:
		return
	case end.Error != "" && f.Dir == wire.ClientToAgent:
		h.open.Drop(f.Stream) // what the server received is unknown
		return
	case f.Dir == wire.ClientToAgent:
		return
	}
	h.open.Drop(f.Stream)
	if x.response == nil || x.response.Status == http.StatusSwitchingProtocols || end.Error != "" && x.contentType() != eventStream {
		return
	}
	x.length = end.Bytes
	if x.response.Status >= 300 {
		j.refused(x)
	}
	j.exchange(x, f)
}

// refused drops the requests that the client posted and the server did not answer. The
// client may resend them with the same IDs.
func (j *judge) refused(x *exchange) {
	c := j.conn
	for _, id := range x.ids {
		call := c.calls.Find(wire.ClientToAgent, x.request.Stream, id)
		if call == nil || call.Seq < x.asked.Seq {
			continue
		}
		c.calls.Answer(wire.AgentToClient, x.request.Stream, id)
		c.params -= len(call.Params)
	}
}

// exchange shows an exchange to the rules, once and only when the dialect is known. f is
// the frame that completes it.
func (j *judge) exchange(x *exchange, f *dialect.Frame) {
	h := &j.conn.http
	switch {
	case x.judged:
	case j.conn.settled:
		x.judged = true
		s := Step{judge: j, Conn: j.conn, Frame: f, About: &f.Annotation, Entry: -1, Exchange: x}
		for _, a := range j.table.exchanges {
			j.call(a, &s)
		}
	case len(h.waiting) < maxWaiting && !slices.Contains(h.waiting, x):
		h.waiting = append(h.waiting, x)
	}
}

// observeHTTP handles a message, and shows the rules the exchanges that were waiting for
// the dialect.
func (j *judge) observeHTTP(s *Step) {
	h := &j.conn.http
	if s.Method == "initialize" && s.From == Agent && s.Succeeded() {
		if x, _ := h.open.Get(s.Frame.Stream); x != nil && x.response != nil && x.asks(s.Envelope.ID) {
			h.session, _ = x.response.Field("Mcp-Session-Id")
			h.given = s.Moment()
		}
	}
	if !j.conn.settled || len(h.waiting) == 0 {
		return
	}
	for _, x := range h.waiting {
		j.exchange(x, s.Frame)
	}
	h.waiting = nil
}

// lose records that bytes are missing, which may belong to any stream.
func (h *exchanges) lose(why string) {
	h.session, h.given, h.ended = "", Moment{}, ""
	for _, x := range h.open.All() {
		x.asked.lost = why
	}
	for _, x := range h.waiting {
		x.asked.lost = why
	}
}
