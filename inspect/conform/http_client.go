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
var httpClientRules = []Rule{
	{
		ID: "MCP401", Name: "post-accept",
		Clauses: append(legacyFrom("2025-03-26", Violation, "MUST", "Transports, Sending Messages to the Server", "basic/transports#sending-messages-to-the-server"),
			modernHTTP("MUST", "Sending Messages", "#sending-messages")),
		Fault: Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "The `Accept` of each POST lists `application/json` and `text/event-stream`: the server chooses in which of them it answers.",
			Finds:  "A POST of a message whose `Accept` lacks one of them, or that has none. It is a warning where a wildcard such as `*/*` stands for them.",
			Spares: "The transport of 2024-11-05, in which answers come on another stream; requests of which only a guess tells the conversation.",
			Do:     "send `Accept: application/json, text/event-stream` with each POST",
		},
		Check: postAccept,
	},
	{
		ID: "MCP402", Name: "listen-accept",
		Clauses: legacyFrom("2025-03-26", Violation, "MUST", "Transports, Listening for Messages from the Server", "basic/transports#listening-for-messages-from-the-server"),
		Fault:   Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "The `Accept` of a GET lists `text/event-stream`.",
			Finds:  "A GET of the conversation without it; a warning where a wildcard stands for it.",
			Spares: "A GET to another path than messages are posted to.",
			Do:     "send `Accept: text/event-stream` with the GET",
		},
		Check: listenAccept,
	},
	{
		ID: "MCP403", Name: "version-header",
		Clauses: append(legacyFrom("2025-06-18", Violation, "MUST", "Transports, Protocol Version Header", "basic/transports#protocol-version-header"),
			modernHTTP("MUST", "Protocol Version Header", "#protocol-version-header")),
		Fault: Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "Each request over HTTP says in `MCP-Protocol-Version` which revision it is made by; up to 2025-11-25 each one after `initialize`.",
			Finds:  "A request without this header. The server takes it for one of 2025-03-26.",
			Spares: "What may have been sent before the client had the answer to `initialize`.",
			Do:     "send `MCP-Protocol-Version` with the version that `initialize` has agreed on, also with GET and DELETE",
		},
		Check: versionHeader,
	},
	{
		ID: "MCP404", Name: "version-differs",
		Clauses: append(legacyFrom("2025-06-18", Warning, "SHOULD", "Transports, Protocol Version Header", "basic/transports#protocol-version-header"),
			modernHTTP("MUST", "Protocol Version Header", "#protocol-version-header")),
		Fault: Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:  "`MCP-Protocol-Version` is the version that `initialize` has agreed on; from 2026-07-28 on the one in the `_meta` of the message.",
			Finds: "Another version in the header.",
			Do:    "send the version of the answer to `initialize`, not the newest that the client knows",
		},
		Check: versionDiffers,
	},
	{
		ID: "MCP405", Name: "session-header",
		Clauses: legacyFrom("2025-03-26", Violation, "MUST", "Transports, Session Management", "basic/transports#session-management"),
		Fault:   Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A client that got an `Mcp-Session-Id` with the answer to `initialize` sends it with each later request.",
			Finds:  "A request without the id, or with another one.",
			Spares: "A further `initialize`, and what may have been sent before the client had the answer.",
			Do:     "keep the id, and send it with each POST, GET and DELETE",
		},
		Check: sessionHeader,
	},
	{
		ID: "MCP411", Name: "mirrored-header",
		Clauses: []Clause{modernHTTP("REQUIRED", "Standard Request Headers", "#standard-request-headers")},
		Fault:   Client, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A POST says in `Mcp-Method` and, for tools, prompts and resources, in `Mcp-Name` what its message asks for.",
			Finds:  "A request without one of these headers, or with another value than the message has.",
			Spares: "Values in Base64, which are compared decoded.",
			Do:     "copy `method`, and `params.name` or `params.uri`, into the headers",
		},
		Check: mirroredHeader,
	},
}

// modernHTTP returns the clause of a section of 2026-07-28 about Streamable HTTP.
func modernHTTP(word, title, section string) Clause {
	return Clause{For: modern, Strength: Violation, Word: word, Source: mcp("2026-07-28", "Streamable HTTP, "+title, "basic/transports/streamable-http"+section)}
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
