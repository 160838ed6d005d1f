// Package relay is a reverse proxy between the clients of an MCP or ACP server and that
// server, over HTTP, its event streams or WebSockets. It reports every head and every
// chunk of a body to a Journal before passing it on, and finds out which requests belong
// to one conversation: each conversation has its own tape.
//
// It changes a body only where a client could not otherwise find the server at its new
// URL: the endpoint event of HTTP+SSE, and the resource of an OAuth document. It changes
// heads for the same reason (rewrite.go). The tape has both forms of everything that was
// changed. It buffers nothing but a request's body of at most 1 MiB: a slow client holds
// back the server as it would without a relay.
//
// The package knows how HTTP heads name sessions, but not what messages mean.
package relay

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// A Journal receives what crosses the streams of one connection, before it is passed on.
// Its methods may be called concurrently.
type Journal interface {
	// Open begins a stream with the head of a request, and returns its number.
	Open(h wire.HTTP) (stream uint64)

	// Head records the head of a response. A response may have several: 1xx come first.
	Head(stream uint64, origin wire.Origin, h wire.HTTP)

	// AppendStream records bytes of a body or of a WebSocket, and does not keep them. An
	// error means a gap on the tape; the traffic continues.
	AppendStream(stream uint64, dir wire.Direction, origin wire.Origin, p []byte) error

	// EndStream ends one direction of a stream. The Journal counts the bytes itself.
	EndStream(stream uint64, dir wire.Direction, e wire.StreamEnd)

	// Fault reports that a part of acptap has panicked, perhaps the Journal itself.
	Fault(err error)

	// Closed says why the connection ended, and Close closes the Journal. Later calls are
	// allowed and do nothing.
	Closed(why string)
	Close() error
}

// Facts are what is known about a connection when it begins.
type Facts struct {
	Transport string // http or ws
	Upstream  string // URL of the server, without credentials and query
}

// A Relay passes requests on to one server. It is an http.Handler for Serve. Set the
// fields beforehand.
type Relay struct {
	Upstream *url.URL // http, https or h2c (HTTP/2 without TLS); Facts has its path; its credentials go with each request, its query with each request to that path
	Address  *url.URL // where clients reach the root of the upstream's origin: http, without a trailing slash

	// Begin begins the tape of a connection, which the Relay closes. If it fails, the
	// connection is not recorded.
	Begin func(Facts) (Journal, error)

	Keep       func(http.Header) []wire.Header // returns what a tape keeps of headers
	KeepTarget func(string) string             // returns what a tape keeps of a path and query; nil keeps all

	Guard
	KeepOAuth bool // do not rewrite the two URLs by which OAuth clients find the server

	Complain func(error) // may be nil

	connections connections
	once        sync.Once
	transports  transports
	buffers     buffers
	changed     []wire.Header // what a tape keeps of the headers changed in every request to the server
}

// ServeHTTP passes one request on.
func (r *Relay) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	r.once.Do(r.prepare)
	if why := r.Refusal(in, r.Address); why != "" {
		r.refuse(w, in, http.StatusForbidden, why)
		return
	}
	body := readBody(in)
	x := r.begin(w, in, r.question(in, body.head))
	defer x.finish()
	x.request(body)
	if body.err != nil {
		x.answer(http.StatusBadRequest, "the request cannot be read: "+body.err.Error())
		return
	}
	in.Body = body.reader(x)
	if !body.whole {
		_ = http.NewResponseController(w).EnableFullDuplex() // always on for HTTP/2
	} else {
		in.GetBody = body.again
		if len(in.Trailer) == 0 {
			in.ContentLength, in.TransferEncoding = int64(len(body.head)), nil
		}
	}
	(&httputil.ReverseProxy{
		Transport:      x,
		Rewrite:        x.rewrite,
		ModifyResponse: x.response,
		ErrorHandler:   x.failed,
		ErrorLog:       silent,
		BufferPool:     &r.buffers,
	}).ServeHTTP(&x.w, in)
}

func (r *Relay) prepare() {
	r.transports = newTransports(r.Upstream)
	r.changed = r.kept(http.Header{"Accept-Encoding": {"identity"}, "Host": {r.Upstream.Host}})
	r.connections.begin = func(f Facts) *tape {
		if r.Begin == nil {
			return new(tape)
		}
		f.Upstream = upstreamText(r.Upstream)
		j, err := r.Begin(f)
		if err != nil {
			r.complain(err)
			return new(tape)
		}
		return &tape{journal: j, complain: r.complain}
	}
}

// begin begins the exchange of a request.
func (r *Relay) begin(w http.ResponseWriter, in *http.Request, q question) *exchange {
	c, guessed := r.connections.enter(q)
	return &exchange{relay: r, w: writer{w: w}, in: in, question: q, connection: c, guessed: guessed, tape: c.recorded()}
}

// refuse answers a request that is not passed on.
func (r *Relay) refuse(w http.ResponseWriter, in *http.Request, status int, why string) {
	x := r.begin(w, in, question{})
	defer x.finish()
	x.request(requestBody{})
	x.up.end(wire.ByAcptap, "not passed on")
	x.answer(status, why)
}

// Close ends the tapes of all connections with a reason. All requests must have ended,
// which they have once Serve has returned.
func (r *Relay) Close(why string) {
	r.connections.close(why)
	r.transports.close()
}

func (r *Relay) complain(err error) {
	if r.Complain != nil {
		r.Complain(err)
	}
}

// upstreamText returns the URL of a server in the form allowed on a tape.
func upstreamText(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
