package conform

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// httpServerRules are about the responses of a server of the Model Context Protocol over
// Streamable HTTP, and about what should be JSON in either direction.
var httpServerRules = []Rule{
	{
		ID: "MCP406", Name: "session-id-form",
		Clauses: legacyFrom("2025-03-26", Violation, "MUST", "Transports, Session Management", "basic/transports#session-management"),
		Fault:   Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:  "The id of a session has visible characters of ASCII only, 0x21 to 0x7E.",
			Finds: "An `Mcp-Session-Id` beside the answer to `initialize` that is empty or has other characters, such as blanks.",
			Do:    "give a UUID, or other random bytes in hexadecimal",
		},
		Check: sessionIDForm,
	},
	{
		ID: "MCP407", Name: "notification-answer",
		Clauses: append(legacyFrom("2025-03-26", Violation, "MUST", "Transports, Sending Messages to the Server", "basic/transports#sending-messages-to-the-server"),
			modernHTTP("MUST", "Sending Messages", "#sending-messages")),
		Fault: Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A server that takes a POST with notifications or responses answers with the status 202 and no body.",
			Finds:  "Another status of success, or a body.",
			Spares: "Redirections and errors.",
			Do:     "answer `202 Accepted` with `Content-Length: 0`",
		},
		Check: notificationAnswer,
	},
	{
		ID: "MCP408", Name: "request-answer",
		Clauses: append(legacyFrom("2025-03-26", Violation, "MUST", "Transports, Sending Messages to the Server", "basic/transports#sending-messages-to-the-server"),
			modernHTTP("MUST", "Sending Messages", "#sending-messages")),
		Fault: Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A POST with a request is answered with `application/json` or `text/event-stream`.",
			Finds:  "A status of success, and another `Content-Type` or none.",
			Spares: "Redirections and errors; the transport of 2024-11-05.",
			Do:     "set the `Content-Type` of the response",
		},
		Check: requestAnswer,
	},
	{
		ID: "MCP409", Name: "listen-answer",
		Clauses: legacyFrom("2025-03-26", Violation, "MUST", "Transports, Listening for Messages from the Server", "basic/transports#listening-for-messages-from-the-server"),
		Fault:   Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A GET is answered with a `text/event-stream`, or with the status 405 by a server that has none.",
			Finds:  "A status of success without an event stream: a client waits there for messages.",
			Spares: "Redirections and errors.",
			Do:     "answer GET with 405 unless you send events",
		},
		Check: listenAnswer,
	},
	{
		ID: "MCP410", Name: "answer-on-listen",
		Clauses: legacyFrom("2025-03-26", Violation, "MUST NOT", "Transports, Listening for Messages from the Server", "basic/transports#listening-for-messages-from-the-server"),
		Fault:   Agent, Needs: Frame,
		On: []On{{Responses, "", dialect.AgentSide}},
		Text: Text{
			Asks:   "The answer to a request comes with the POST of the request, not on the stream of a GET.",
			Finds:  "A response on the stream of a GET.",
			Spares: "A GET with `Last-Event-ID`, which goes on with another stream; the transport of 2024-11-05.",
			Do:     "write the response to the stream of its request",
		},
		Check: answerOnListen,
	},
	{
		ID: "MCP412", Name: "mismatch-accepted",
		Clauses: []Clause{modernHTTP("MUST", "Server Validation", "#server-validation")},
		Fault:   Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A server refuses a request whose headers do not say what its message says, with the status 400 and error -32020: others decide by the headers.",
			Finds:  "Success for a request whose `Mcp-Method`, `Mcp-Name` or `MCP-Protocol-Version` is missing or differs from the message.",
			Spares: "A server that has not shown that it knows this revision; a request without `MCP-Protocol-Version`, which a server may take for one of 2025-03-26.",
			Do:     "compare the headers with the message before you act",
		},
		Check: mismatchAccepted,
	},
	{
		ID: "MCP413", Name: "version-accepted",
		Clauses: legacyFrom("2025-06-18", Violation, "MUST", "Transports, Protocol Version Header", "basic/transports#protocol-version-header"),
		Fault:   Agent, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "A server answers a request with an `MCP-Protocol-Version` that it does not support with the status 400.",
			Finds:  "Success for a request with the version that the client had offered in `initialize`, and that the server has answered with another: so it does not support it.",
			Spares: "Any other version in the header: nobody knows what the server supports.",
			Do:     "answer 400 to versions that you do not support",
		},
		Check: versionAccepted,
	},
	{
		ID: "MCP414", Name: "unknown-method-status",
		Clauses: []Clause{modernHTTP("MUST", "Protocol Version Header", "#protocol-version-header")},
		Fault:   Agent, Needs: Frame,
		On: []On{{Responses, "", dialect.AgentSide}},
		Text: Text{
			Asks:   "A server answers a method that it does not have with the status 404 and error -32601.",
			Finds:  "Error -32601 with a status of success.",
			Spares: "A server that has not shown that it knows this revision.",
			Do:     "set the status before you write the error",
		},
		Check: unknownMethodStatus,
	},
	{
		ID: "RPC024", Name: "body-not-json",
		Clauses: []Clause{
			{For: legacy, Since: "2025-03-26", Strength: Violation, Word: "MUST", Source: mcp("2025-11-25", "Transports, Sending Messages to the Server", "basic/transports#sending-messages-to-the-server")},
			modernHTTP("MUST", "Sending Messages", "#sending-messages"),
			{For: allOfACP, Strength: Warning, Source: Source{"RFC 8259, Security Considerations of application/json", "https://www.rfc-editor.org/rfc/rfc8259#section-11"}},
		},
		Fault: Sender, Needs: Frame,
		On: []On{{Kinds: Exchanges}},
		Text: Text{
			Asks:   "What is posted is a message, and a body of the type `application/json` is JSON.",
			Finds:  "A body that is no JSON, though its `Content-Type` says so.",
			Spares: "Redirections and errors, whose bodies may come from a gateway; bodies that broke off; other paths than that of the messages.",
			Do:     "write JSON, or another `Content-Type`",
		},
		Check: bodyNotJSON,
	},
}

// wrong returns the evidence against the head of the response.
func (x *exchange) wrong(text string) Evidence {
	return Evidence{Text: text, Seq: x.answered.Seq, Of: x.answered, Because: []uint64{x.asked.Seq}}
}

func sessionIDForm(s *Step, r *Report) {
	x := s.Exchange
	id, ok := x.response.Field("Mcp-Session-Id")
	if !ok || !x.accepted() || !s.posted() || x.asked.Method != "initialize" {
		return
	}
	r.Tried()
	if id == "" || strings.ContainsFunc(id, func(c rune) bool { return c < 0x21 || c > 0x7e }) {
		r.Add(x.wrong("gave an Mcp-Session-Id that has other characters than the visible ones of ASCII"))
	}
}

func notificationAnswer(s *Step, r *Report) {
	x := s.Exchange
	posts := x.request.Method == http.MethodPost && s.Conn.http.endpoint == x.path && !x.request.Guessed
	if !posts || x.messages == 0 || x.requests > 0 || !x.accepted() {
		return
	}
	r.Tried()
	switch {
	case x.response.Status != http.StatusAccepted:
		e := x.wrong("answered a " + x.did() + " with another status than 202")
		e.Want, e.Got = "202", fmt.Sprint(x.response.Status)
		r.Add(e)
	case x.length > 0:
		r.Add(x.wrong(fmt.Sprintf("answered a %s with a body of %d bytes", x.did(), x.length)))
	}
}

func requestAnswer(s *Step, r *Report) {
	x := s.Exchange
	if !s.posted() || x.requests == 0 || !x.accepted() {
		return
	}
	r.Tried()
	if kind := x.contentType(); kind != applicationJSON && kind != eventStream {
		e := x.wrong("answered a " + x.did() + " with neither JSON nor an event stream")
		e.Want = applicationJSON + " or " + eventStream
		e.Got, _ = x.response.Field("Content-Type")
		r.Add(e)
	}
}

func listenAnswer(s *Step, r *Report) {
	x := s.Exchange
	accept, _ := x.request.Field("Accept")
	if byName, _ := admits(accept, eventStream); !byName || !s.listens() || !x.accepted() {
		return
	}
	r.Tried()
	if x.contentType() != eventStream {
		e := x.wrong("answered a GET with " + fmt.Sprint(x.response.Status) + " and no event stream")
		e.Want = eventStream
		e.Got, _ = x.response.Field("Content-Type")
		r.Add(e)
	}
}

func answerOnListen(s *Step, r *Report) {
	x, _ := s.Conn.http.open.Get(s.Frame.Stream)
	if x == nil || x.request.Method != http.MethodGet || x.path != s.Conn.http.endpoint || x.response == nil || x.contentType() != eventStream {
		return
	}
	r.Tried()
	if _, resumes := x.request.Field("Last-Event-ID"); !resumes {
		r.Add(Evidence{Text: "answered on the stream of a GET (frame " + number(x.asked.Seq) + ")", Because: []uint64{x.asked.Seq}})
	}
}

func mismatchAccepted(s *Step, r *Report) {
	x := s.Exchange
	if !s.posted() || x.requests != 1 || !x.accepted() || !s.Conn.mcp.lifecycle.modern {
		return
	}
	r.Tried()
	for _, m := range append(x.mirrors(), mirror{"MCP-Protocol-Version", x.version}) {
		what, _ := x.broken(m)
		if _, there := x.request.Field(m.header); what == "" || !there && m.header == "MCP-Protocol-Version" {
			continue
		}
		r.Add(x.wrong("accepted a " + x.did() + " " + what))
		return
	}
}

func versionAccepted(s *Step, r *Report) {
	x := s.Exchange
	version, ok := x.request.Field("MCP-Protocol-Version")
	offered := text(get(s.Conn.hello.client, "protocolVersion"))
	if !ok || !s.isLater() || version == s.Conn.Version || offered == "" || version != offered {
		return
	}
	r.Tried()
	if x.accepted() {
		e := x.wrong("accepted a " + x.did() + " with the version that it had not agreed to")
		e.Want, e.Got = "status 400", fmt.Sprint(x.response.Status)
		r.Add(e)
	}
}

func unknownMethodStatus(s *Step, r *Report) {
	x, _ := s.Conn.http.open.Get(s.Frame.Stream)
	if code, _ := wire.Integer(get(s.Envelope.Error, "code")); x == nil || code != -32601 || x.response == nil || !s.Conn.mcp.lifecycle.modern {
		return
	}
	if !x.asks(s.Envelope.ID) || x.version != s.Conn.Version {
		return
	}
	r.Tried()
	if x.accepted() {
		r.Add(Evidence{
			Text: fmt.Sprintf("answered %s with error -32601 and the status %d (frame %d)", x.asked.Method, x.response.Status, x.answered.Seq),
			Want: "status 404", Because: []uint64{x.answered.Seq},
		})
	}
}

func bodyNotJSON(s *Step, r *Report) {
	x := s.Exchange
	if x.path != s.Conn.http.endpoint || !x.accepted() && (x.flaw == nil || x.flaw.call.From == Agent) {
		return
	}
	r.Tried()
	if x.flaw != nil {
		r.Add(Evidence{Text: "sent a body that is no JSON", Got: x.flaw.got, Seq: x.flaw.call.Seq, Of: &x.flaw.call})
	}
}
