package relay

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An exchange is one request and its response, or one WebSocket.
type exchange struct {
	relay      *Relay
	w          writer
	in         *http.Request
	out        *http.Response // the server's response; nil until it comes
	question   question
	connection *connection
	guessed    bool // no id ties the request to the connection
	tape       *tape
	up, down   flow // to the server, to the client
	answered   sync.Once
	endpoint   bool // the response says where the client must send its messages
	socket     bool // a WebSocket was opened
}

// request records the request, with the bytes of its body read so far.
func (x *exchange) request(body requestBody) {
	var stream uint64
	x.tape.do(func(j Journal) { stream = j.Open(x.requestHead()) })
	hidden := isForm(x.in.Header)
	x.up = flow{tape: x.tape, stream: stream, dir: wire.ClientToAgent, hidden: hidden}
	x.down = flow{tape: x.tape, stream: stream, dir: wire.AgentToClient, hidden: hidden}
	x.up.write(wire.Wire, body.head)
	switch {
	case body.err != nil:
		x.up.end(wire.ByClient, body.err.Error())
	case body.whole && !x.question.upgrade:
		x.requestEnd()
	}
}

// requestEnd records the end of the request, whose body has been read.
func (x *exchange) requestEnd() {
	x.up.finish(wire.StreamEnd{By: wire.ByClient, Trailers: x.relay.kept(x.in.Trailer)})
}

// responseEnd records the end of the response, whose body has been read.
func (x *exchange) responseEnd() {
	x.down.finish(wire.StreamEnd{By: wire.ByServer, Trailers: x.relay.kept(x.out.Trailer)})
}

// requestHead returns the request's head as received, and what changes before it is
// passed on.
func (x *exchange) requestHead() wire.HTTP {
	came := x.in.Header
	if x.in.Host != "" {
		came["Host"] = []string{x.in.Host} // net/http has removed it
		defer delete(came, "Host")
	}
	change := &wire.HeadChange{Headers: x.relay.changed}
	removed := []string{"Expect", "Sec-Websocket-Extensions"}
	if !x.question.upgrade {
		removed = append(removed, "Upgrade")
	}
	for _, name := range removed {
		if came.Get(name) != "" {
			change.Removed = append(change.Removed, name)
		}
	}
	target := x.in.URL.RequestURI()
	if x.relay.KeepTarget != nil {
		target = x.relay.KeepTarget(target)
	}
	return wire.HTTP{
		Method: x.in.Method, Target: target, Protocol: x.in.Proto, Guessed: x.guessed,
		Headers: x.relay.kept(came), Rewritten: change,
	}
}

// rewrite builds the request for the server.
func (x *exchange) rewrite(pr *httputil.ProxyRequest) {
	out, u := pr.Out, x.relay.Upstream
	out.URL.Scheme, out.URL.Host, out.Host = httpScheme(u), u.Host, ""
	out.URL.RawQuery = x.in.URL.RawQuery
	if u.RawQuery != "" && out.URL.Path == u.Path {
		out.URL.RawQuery = strings.Trim(u.RawQuery+"&"+out.URL.RawQuery, "&")
	}
	if u.User != nil && out.Header.Get("Authorization") == "" {
		password, _ := u.User.Password()
		out.SetBasicAuth(u.User.Username(), password)
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := pr.In.Header[name]; ok { // ReverseProxy removes them
			out.Header[name] = v
		}
	}
	out.Header.Set("Accept-Encoding", "identity") // so that the tape is readable
	out.Header.Del("Sec-Websocket-Extensions")    // likewise: an extension would compress messages
	out.Header.Del("Expect")                      // the body has already been read
	if !x.question.upgrade {                      // some clients offer h2c with every request
		out.Header.Del("Upgrade")
		out.Header.Del("Connection")
	}
	out.Trailer = x.in.Trailer // not a copy: its values arrive after the body
}

// RoundTrip sends the request to the server. ReverseProxy passes informational responses
// on, after the hook here has recorded them.
func (x *exchange) RoundTrip(out *http.Request) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			x.head(wire.Wire, wire.HTTP{Status: code, Headers: x.relay.kept(http.Header(h))})
			return nil
		},
	})
	return x.relay.transports.of(x.question).RoundTrip(out.WithContext(ctx))
}

// response records the head of the response, and has its body recorded as it is read.
func (x *exchange) response(res *http.Response) error {
	head := wire.HTTP{Protocol: res.Proto, Status: res.StatusCode, Headers: x.relay.kept(res.Header)}
	document := x.document(res)
	changed := x.relay.rewriteHead(res.Header)
	if document.rewritten != nil {
		res.ContentLength = int64(len(document.rewritten))
		changed.Set("Content-Length", strconv.Itoa(len(document.rewritten)))
		res.Header.Set("Content-Length", changed.Get("Content-Length"))
	}
	if len(changed) > 0 {
		head.Rewritten = &wire.HeadChange{Headers: x.relay.kept(changed)}
	}
	x.head(wire.Wire, head)
	x.out = res
	for _, name := range []string{"Content-Type", "Date"} { // net/http would invent them
		if res.Header[name] == nil {
			x.w.Header()[name] = nil
		}
	}
	x.w.streams = res.ContentLength < 0 || isEvents(res.Header)
	x.place(res)
	if x.question.upgrade {
		if conn, ok := res.Body.(io.ReadWriteCloser); ok && res.StatusCode == http.StatusSwitchingProtocols {
			res.Body = &socket{conn, x}
			x.socket = strings.EqualFold(res.Header.Get("Upgrade"), "websocket") // ReverseProxy refuses other protocols
			return nil
		}
		x.up.end(wire.ByClient, "")
	}
	body := &responseBody{src: res.Body, x: x}
	switch {
	case document.rewritten != nil:
		x.down.write(wire.Withheld, document.came)
		x.down.write(wire.Rewritten, document.rewritten)
		x.responseEnd()
		body.ready, body.err = document.rewritten, io.EOF
	case document.came != nil || document.err != nil:
		_, body.err = body.passed(document.came, document.err)
		body.ready = document.came
	case x.awaitsEndpoint(res):
		body.first = &firstEvent{}
	}
	res.Body = body
	return nil
}

// place tells the connection what the response says about it.
func (x *exchange) place(res *http.Response) {
	s, c, q := &x.relay.connections, x.connection, x.question
	defer x.answered.Do(func() { s.answered(c) })
	for _, kind := range []keyKind{mcpSession, acpConnection} {
		if id := res.Header.Get(string(kind)); id != "" {
			s.settle(c, key{kind, id})
			return
		}
	}
	good := res.StatusCode/100 == 2
	switch {
	case q.id.value != "" && res.StatusCode == http.StatusNotFound:
		s.over(c, becauseUnknown)
	case q.id.value != "" && good && x.in.Method == http.MethodDelete:
		s.over(c, becauseDeleted)
	case q.id.value != "" || !good || !q.message || dialect.Does(q.method, dialect.Discovers):
		// A client that is still probing what the server speaks has not begun yet.
	default:
		s.settle(c, q.guess())
	}
}

// awaitsEndpoint reports whether the response may be the stream that begins a connection in
// MCP 2024-11-05.
func (x *exchange) awaitsEndpoint(res *http.Response) bool {
	return x.question.listens && isEvents(res.Header) && x.question.id.value == "" && res.Header.Get(string(mcpSession)) == ""
}

func isEvents(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "text/event-stream"
}

// failed answers a request that got no response from the server.
func (x *exchange) failed(_ http.ResponseWriter, _ *http.Request, err error) {
	if x.in.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client no longer waits for an answer
	}
	text := fmt.Sprintf("no response of %s: %v", upstreamText(x.relay.Upstream), err)
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		text += "; acptap help http says how to trust its CA"
	}
	x.answer(http.StatusBadGateway, text)
}

// answer sends a response in place of the server's.
func (x *exchange) answer(status int, text string) {
	text = "acptap: " + text + "\n"
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(text))}}
	x.head(wire.Injected, wire.HTTP{Status: status, Headers: x.relay.kept(h)})
	x.down.write(wire.Injected, []byte(text))
	x.down.end(wire.ByAcptap, "")
	for name, v := range h {
		x.w.Header()[name] = v
	}
	x.w.WriteHeader(status)
	io.WriteString(&x.w, text)
}

func (x *exchange) head(origin wire.Origin, h wire.HTTP) {
	x.tape.do(func(j Journal) { j.Head(x.down.stream, origin, h) })
}

// finish ends the parts that are still open.
func (x *exchange) finish() {
	if x.socket && x.down.whole() {
		x.up.end(wire.ByServer, "") // after the closing handshake, the server ends the connection
	}
	x.up.end(x.broken(errors.New("the server did not take the rest")))
	x.down.end(x.broken(errors.New("there was no response")))
	s := &x.relay.connections
	x.answered.Do(func() { s.answered(x.connection) })
	switch {
	case x.question.upgrade && !x.socket:
		s.over(x.connection, becauseNoSocket)
	case x.question.upgrade:
		s.over(x.connection, becauseSocket)
	case x.endpoint:
		s.over(x.connection, becauseStreamed)
	}
	s.leave(x.connection)
}

// errEnding is the cause with which all requests are cancelled when acptap ends.
var errEnding = errors.New("acptap was told to end")

// broken returns who broke off a direction, and why; err is the reason if it was the
// server.
func (x *exchange) broken(err error) (wire.Peer, string) {
	if ctx := x.in.Context(); ctx.Err() != nil {
		return x.left()
	}
	return wire.ByServer, err.Error()
}

// left is broken for cases that cannot be the server's doing.
func (x *exchange) left() (wire.Peer, string) {
	if errors.Is(context.Cause(x.in.Context()), errEnding) {
		return wire.ByAcptap, errEnding.Error()
	}
	return wire.ByClient, "the client left"
}

// kept returns what a tape keeps of the headers.
func (r *Relay) kept(h http.Header) []wire.Header {
	if r.Keep == nil {
		return nil
	}
	return r.Keep(h)
}
