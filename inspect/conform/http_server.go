package conform

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// httpServerRules judge an MCP server's responses over Streamable HTTP, and bodies in
// either direction that should be JSON.
var httpServerRules = checks{
	{"MCP406", sessionIDForm},
	{"MCP407", notificationAnswer},
	{"MCP408", requestAnswer},
	{"MCP409", listenAnswer},
	{"MCP410", answerOnListen},
	{"MCP412", mismatchAccepted},
	{"MCP413", versionAccepted},
	{"MCP414", unknownMethodStatus},
	{"RPC024", bodyNotJSON},
}

// wrong returns evidence against the response's head.
func (x *exchange) wrong(e Evidence) Evidence {
	e.Seq, e.Of, e.Because = x.answered.Seq, x.answered, []uint64{x.asked.Seq}
	return e
}

// isVisible reports whether a text is non-empty and consists of visible ASCII characters.
func isVisible(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool { return c < 0x21 || c > 0x7e })
}

func sessionIDForm(s *Step, r *Report) {
	x := s.Exchange
	id, ok := x.response.Field("Mcp-Session-Id")
	if !ok || !x.accepted() || !s.posted() || x.asked.Method != "initialize" {
		return
	}
	r.Judge(!isVisible(id), x.wrong(Evidence{Text: "gave an Mcp-Session-Id that has other characters than the visible ones of ASCII"}))
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
		r.Add(x.wrong(Evidence{Text: "answered a " + x.did() + " with another status than 202", Want: "202", Got: fmt.Sprint(x.response.Status)}))
	case x.length > 0:
		r.Add(x.wrong(Evidence{Text: fmt.Sprintf("answered a %s with a body of %d bytes", x.did(), x.length)}))
	}
}

func requestAnswer(s *Step, r *Report) {
	x := s.Exchange
	if !s.posted() || x.requests == 0 || !x.accepted() {
		return
	}
	x.answersWith(r, "answered a "+x.did()+" with neither JSON nor an event stream", applicationJSON, eventStream)
}

// answersWith judges the type of the response's body.
func (x *exchange) answersWith(r *Report, text string, kinds ...string) {
	kind, _ := x.response.Field("Content-Type")
	r.Judge(!slices.Contains(kinds, x.contentType()), x.wrong(Evidence{Text: text, Want: strings.Join(kinds, " or "), Got: kind}))
}

func listenAnswer(s *Step, r *Report) {
	x := s.Exchange
	accept, _ := x.request.Field("Accept")
	if byName, _ := admits(accept, eventStream); !byName || !s.listens() || !x.accepted() {
		return
	}
	x.answersWith(r, "answered a GET with "+fmt.Sprint(x.response.Status)+" and no event stream", eventStream)
}

func answerOnListen(s *Step, r *Report) {
	x, _ := s.Conn.http.open.Get(s.Frame.Stream)
	if x == nil || x.request.Method != http.MethodGet || x.path != s.Conn.http.endpoint || x.response == nil || x.contentType() != eventStream {
		return
	}
	_, resumes := x.request.Field("Last-Event-ID")
	r.Judge(!resumes, Evidence{Text: "answered on the stream of a GET (frame " + number(x.asked.Seq) + ")", Because: []uint64{x.asked.Seq}})
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
		r.Add(x.wrong(Evidence{Text: "accepted a " + x.did() + " " + what}))
		return
	}
}

func versionAccepted(s *Step, r *Report) {
	x := s.Exchange
	version, ok := x.request.Field("MCP-Protocol-Version")
	offered := wire.Text(wire.Get(s.Conn.hello.client, "protocolVersion"))
	if !ok || !s.isLater() || version == s.Conn.Version || offered == "" || version != offered {
		return
	}
	r.Judge(x.accepted(), x.wrong(Evidence{Text: "accepted a " + x.did() + " with the version that it had not agreed to", Want: "status 400", Got: fmt.Sprint(x.response.Status)}))
}

func unknownMethodStatus(s *Step, r *Report) {
	x, _ := s.Conn.http.open.Get(s.Frame.Stream)
	if x == nil || !isMissing(s) || x.response == nil || !s.Conn.mcp.lifecycle.modern || !x.asks(s.Envelope.ID) || x.version != s.Conn.Version {
		return
	}
	r.Judge(x.accepted(), Evidence{
		Text: fmt.Sprintf("answered %s with error -32601 and the status %d (frame %d)", x.asked.Method, x.response.Status, x.answered.Seq),
		Want: "status 404", Because: []uint64{x.answered.Seq},
	})
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
