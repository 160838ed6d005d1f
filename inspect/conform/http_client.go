package conform

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// httpClientRules are about the heads of a client of the Model Context Protocol over
// Streamable HTTP.
var httpClientRules = checks{
	{"MCP401", postAccept},
	{"MCP402", listenAccept},
	{"MCP403", versionHeader},
	{"MCP404", versionDiffers},
	{"MCP405", sessionHeader},
	{"MCP411", mirroredHeader},
}

// posted reports whether the exchange is a message that was posted to a server of the
// connection's revision. Of a guess, another client may have posted it: that is judged
// only where the message itself says by which revision it is made.
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

// listens reports whether the exchange is a GET of the conversation.
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

// did names an exchange, such as "POST of tools/call".
func (x *exchange) did() string {
	if x.asked.Method == "" {
		return x.request.Method
	}
	return x.request.Method + " of " + x.asked.Method
}

// blame returns the evidence against the head of the request.
func (x *exchange) blame(text string) Evidence {
	return Evidence{Text: text, Seq: x.asked.Seq, Of: x.asked}
}

// admits says how an Accept takes a type: by its name, by a wildcard, or not at all.
func admits(accept, kind string) (byName, byWildcard bool) {
	family, _, _ := strings.Cut(kind, "/")
	for entry := range strings.SplitSeq(accept, ",") {
		entry, _, _ = mime.ParseMediaType(strings.TrimSpace(entry))
		byName = byName || entry == kind
		byWildcard = byWildcard || entry == "*/*" || entry == family+"/*"
	}
	return byName, byWildcard
}

// accepts judges the Accept of an exchange.
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
	if len(missing) == 0 {
		return
	}
	e := x.blame("sent a " + x.did() + " whose Accept does not list " + strings.Join(missing, " and "))
	e.Want, e.Got = strings.Join(kinds, ", "), accept
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
		r.Tried()
		s.Exchange.accepts(r, applicationJSON, eventStream)
	}
}

func listenAccept(s *Step, r *Report) {
	if s.listens() {
		r.Tried()
		s.Exchange.accepts(r, eventStream)
	}
}

func versionHeader(s *Step, r *Report) {
	x := s.Exchange
	if s.Conn.Dialect == dialect.MCPModern && !s.posted() || s.Conn.Dialect != dialect.MCPModern && !s.isLater() {
		return
	}
	r.Tried()
	if _, ok := x.request.Field("MCP-Protocol-Version"); !ok {
		e := x.blame("sent a " + x.did() + " without MCP-Protocol-Version")
		e.Want = s.Conn.Version
		r.Add(e)
	}
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
	r.Tried()
	if version != want {
		e := x.blame("sent a " + x.did() + " with another MCP-Protocol-Version " + where)
		e.Want, e.Got = want, version
		r.Add(e)
	}
}

func sessionHeader(s *Step, r *Report) {
	x := s.Exchange
	if x.session == "" || !s.isLater() {
		return
	}
	r.Tried()
	switch id, ok := x.request.Field("Mcp-Session-Id"); {
	case !ok:
		r.Add(x.blame("sent a " + x.did() + " without the Mcp-Session-Id that it had got"))
	case id != x.session:
		r.Add(x.blame("sent a " + x.did() + " with another Mcp-Session-Id than it had got"))
	}
}

// A mirror is a header that says what the message does.
type mirror struct{ header, want string }

// mirrors returns the headers that the request has to have.
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
	const begins, ends = "=?base64?", "?="
	if len(value) < len(begins+ends) || !strings.HasPrefix(value, begins) || !strings.HasSuffix(value, ends) {
		return value
	}
	text, err := base64.StdEncoding.DecodeString(value[len(begins) : len(value)-len(ends)])
	if err != nil {
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
			e := x.blame("sent a " + x.did() + " " + what)
			e.Want, e.Got = m.want, got
			r.Add(e)
		}
	}
}
