package relay

import (
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A question is what a request says about the connection that it belongs to.
type question struct {
	id      key    // id of the connection, in a header; zero if there is none
	peer    peer   // who asks
	target  string // path and query of a POST
	upgrade bool   // to a WebSocket
	listens bool   // it asks for a stream of events
	message bool   // the body is JSON-RPC
	method  string // of the message
	client  string // name and version, if the message has them
	modern  bool   // the message is of MCP 2026-07-28, where every message says what otherwise only initialize says
}

// guess returns the key for requests of the same client to a server that assigns no id.
// Two clients may share it.
func (q question) guess() key {
	if q.modern {
		return key{namedPeer, q.peer.text() + "\x00" + q.client}
	}
	return key{wholePeer, q.peer.text()}
}

// A peer identifies the client as far as possible. It is only compared, never stored.
type peer struct {
	credentials string
	agent       string
	address     string // without the port, since a client has several TCP connections
}

func (p peer) text() string { return p.credentials + "\x00" + p.agent + "\x00" + p.address }

// before reports whether p may be the same client as later: after a refusal, a client
// returns with credentials.
func (p peer) before(later peer) bool {
	if p.credentials == "" {
		later.credentials = ""
	}
	return p == later
}

// question reads a request. body is its body, or the beginning of a long one.
func (r *Relay) question(in *http.Request, body []byte) question {
	q := question{
		target:  in.URL.RequestURI(),
		upgrade: strings.EqualFold(in.Header.Get("Upgrade"), "websocket"),
		listens: in.Method == http.MethodGet && strings.Contains(in.Header.Get("Accept"), "text/event-stream"),
		peer:    peer{credentials: in.Header.Get("Authorization"), agent: in.UserAgent()},
	}
	q.peer.address, _, _ = net.SplitHostPort(in.RemoteAddr)
	for _, kind := range []keyKind{mcpSession, acpConnection} {
		if id := in.Header.Get(string(kind)); id != "" {
			q.id = key{kind, id}
			break
		}
	}
	if in.Method != http.MethodPost {
		q.target = ""
		return q
	}
	e := wire.Scan(body)
	q.message = e.Kind.IsMessage() || e.Kind == wire.Oversized && e.Method != nil
	q.method = string(e.Method)
	info := wire.Get(e.Params, "clientInfo")
	meta := wire.Get(e.Params, "_meta")
	if version := wire.Get(meta, "io.modelcontextprotocol/protocolVersion"); len(version) > 0 {
		q.modern = true
		info = wire.Get(meta, "io.modelcontextprotocol/clientInfo")
	}
	if len(info) > 0 {
		q.client = string(wire.Get(info, "name")) + " " + string(wire.Get(info, "version"))
	}
	return q
}

// isForm reports whether a body is a form, such as the one in which an OAuth client
// exchanges a code or a password for a token.
func isForm(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "application/x-www-form-urlencoded"
}
