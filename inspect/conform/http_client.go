package conform

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// httpClientRules judge an MCP client's headers over Streamable HTTP.
var httpClientRules = checks{
	{"MCP401", postAccept},
	{"MCP402", listenAccept},
	{"MCP403", versionHeader},
	{"MCP404", versionDiffers},
	{"MCP405", sessionHeader},
	{"MCP411", mirroredHeader},
	{"MCP415", postedResponse},
	{"MCP416", endedSession},
}

// posted reports whether the exchange is a message posted to a server of the connection's
// revision. If the connection is a guess, another client may have posted the message; it
// is then judged only if it names its revision.
func (s *Step) posted() bool {
	x := s.Exchange
	switch {
	case x.request.Method != http.MethodPost || x.messages == 0 || s.Conn.http.endpoint != x.path:
		return false
	case s.Conn.Dialect == dialect.MCPModern:
		return x.version == s.Conn.Version
	}
	return !x.request.Guessed
}

// listens reports whether the exchange is the GET that opens the session's event stream.
func (s *Step) listens() bool {
	x := s.Exchange
	_, named := x.request.Field("Mcp-Session-Id")
	return x.request.Method == http.MethodGet && s.Conn.http.endpoint == x.path && named && x.response.Status != http.StatusSwitchingProtocols
}

// isLater reports whether the client had read the answer to initialize when it sent the
// request.
func (s *Step) isLater() bool {
	x := s.Exchange
	if x.given.Seq == 0 || x.request.Guessed || x.asked.Method == "initialize" || s.Conn.http.endpoint != x.path {
		return false
	}
	_, knowsSession := x.request.Field("Mcp-Session-Id")
	_, knowsVersion := x.request.Field("MCP-Protocol-Version")
	d, timed := since(x.given, x.asked.Moment)
	return knowsSession || knowsVersion || timed && d > s.judge.checker.options.Grace
}

// did describes an exchange, such as "POST of tools/call".
func (x *exchange) did() string {
	if x.asked.Method == "" {
		return x.request.Method
	}
	return x.request.Method + " of " + x.asked.Method
}

// blame returns evidence against the request's head.
func (x *exchange) blame(e Evidence) Evidence {
	e.Seq, e.Of = x.asked.Seq, x.asked
	return e
}

// admits reports whether an Accept header names a type, or admits it by a wildcard.
func admits(accept, kind string) (byName, byWildcard bool) {
	family, _, _ := strings.Cut(kind, "/")
	for entry := range strings.SplitSeq(accept, ",") {
		entry, _, _ = mime.ParseMediaType(strings.TrimSpace(entry))
		byName = byName || entry == kind
		byWildcard = byWildcard || entry == "*/*" || entry == family+"/*"
	}
	return byName, byWildcard
}

// accepts judges the Accept header of an exchange.
func (x *exchange) accepts(r *Report, kinds ...string) {
	accept, there := x.request.Field("Accept")
	var missing []string
	wild := true
	for _, kind := range kinds {
		byName, byWildcard := admits(accept, kind)
		if !byName {
			missing = append(missing, kind)
			wild = wild && byWildcard
		}
	}
	if r.Tried(); len(missing) == 0 {
		return
	}
	e := x.blame(Evidence{Text: "sent a " + x.did() + " whose Accept does not list " + strings.Join(missing, " and "), Want: strings.Join(kinds, ", "), Got: accept})
	switch {
	case !there:
		e.Text = "sent a " + x.did() + " without Accept"
	case wild:
		e.Strength = Warning
	}
	r.Add(e)
}

func postAccept(s *Step, r *Report) {
	if s.posted() {
		s.Exchange.accepts(r, applicationJSON, eventStream)
	}
}

func listenAccept(s *Step, r *Report) {
	if s.listens() {
		s.Exchange.accepts(r, eventStream)
	}
}

func versionHeader(s *Step, r *Report) {
	x := s.Exchange
	if s.Conn.Dialect == dialect.MCPModern && !s.posted() || s.Conn.Dialect != dialect.MCPModern && !s.isLater() {
		return
	}
	_, ok := x.request.Field("MCP-Protocol-Version")
	r.Judge(!ok, x.blame(Evidence{Text: "sent a " + x.did() + " without MCP-Protocol-Version", Want: s.Conn.Version}))
}

func versionDiffers(s *Step, r *Report) {
	x := s.Exchange
	version, ok := x.request.Field("MCP-Protocol-Version")
	want, where := s.Conn.Version, "than the server answered to initialize"
	if s.Conn.Dialect == dialect.MCPModern {
		ok, want, where = ok && s.posted(), x.version, "than the _meta of the message"
	} else {
		ok = ok && s.isLater()
	}
	if !ok {
		return
	}
	r.Judge(version != want, x.blame(Evidence{Text: "sent a " + x.did() + " with another MCP-Protocol-Version " + where, Want: want, Got: version}))
}

func sessionHeader(s *Step, r *Report) {
	x := s.Exchange
	if x.session == "" || !s.isLater() {
		return
	}
	r.Tried()
	switch id, ok := x.request.Field("Mcp-Session-Id"); {
	case !ok:
		r.Add(x.blame(Evidence{Text: "sent a " + x.did() + " without the Mcp-Session-Id that it had got"}))
	case id != x.session:
		r.Add(x.blame(Evidence{Text: "sent a " + x.did() + " with another Mcp-Session-Id than it had got"}))
	}
}

func postedResponse(s *Step, r *Report) {
	if s.Frame.Stream == 0 || !s.Conn.mcp.lifecycle.modern {
		return
	}
	r.Add(Evidence{Text: "posted a response to " + s.Method + " (frame " + number(s.Call.Seq) + ")", Because: []uint64{s.Call.Seq}})
}

func endedSession(s *Step, r *Report) {
	x := s.Exchange
	d, timed := since(x.gone, x.asked.Moment)
	if x.gone.Seq == 0 || !timed || d <= s.judge.checker.options.Grace || x.request.Guessed || x.request.Method == http.MethodDelete {
		return
	}
	r.Add(x.blame(Evidence{Text: "sent a " + x.did() + " with the Mcp-Session-Id that was answered with 404 (frame " + number(x.gone.Seq) + ")", Because: []uint64{x.gone.Seq}}))
}

// A mirror is a header that repeats part of the message.
type mirror struct{ header, want string }

// mirrors returns the headers that the request must have.
func (x *exchange) mirrors() []mirror {
	all := []mirror{{"Mcp-Method", x.asked.Method}}
	if x.name != "" {
		all = append(all, mirror{"Mcp-Name", x.name})
	}
	return all
}

// broken returns what is wrong with a mirrored header; empty if nothing is.
func (x *exchange) broken(m mirror) (what, got string) {
	got, ok := x.request.Field(m.header)
	switch {
	case !ok:
		return "without " + m.header, ""
	case decoded(got) != m.want:
		return "with another " + m.header + " than the message has", got
	}
	return "", got
}

// decoded returns the value of a header that may be encoded.
func decoded(value string) string {
	encoded, begins := strings.CutPrefix(value, "=?base64?")
	encoded, ends := strings.CutSuffix(encoded, "?=")
	text, err := base64.StdEncoding.DecodeString(encoded)
	if !begins || !ends || err != nil {
		return value
	}
	return string(text)
}

func mirroredHeader(s *Step, r *Report) {
	x := s.Exchange
	if !s.posted() || x.requests != 1 {
		return
	}
	r.Tried()
	for _, m := range x.mirrors() {
		if what, got := x.broken(m); what != "" {
			r.Add(x.blame(Evidence{Text: "sent a " + x.did() + " " + what, Want: m.want, Got: got}))
		}
	}
}
