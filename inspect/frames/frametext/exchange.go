package frametext

import (
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// exchanges remembers the heads of the open streams. It receives the frames of one tape
// in order. The zero value is empty.
type exchanges struct {
	open    map[uint64]*exchange
	guessed bool // an earlier head already said that its connection is a guess
}

// An exchange is a request over HTTP and its response, or a WebSocket.
type exchange struct {
	method string
	status int
	form   string // of the response: json, sse, or its content type
	told   [2]bool
}

// observe processes the next frame. It returns what the frame's line says about its
// stream, such as `POST 3` or `POST 3 → 200 sse`. ordinary reports whether the line can
// be left out: the frame is the mark of an ordinary exchange, which other lines already
// show.
func (e *exchanges) observe(f *dialect.Frame) (text string, ordinary bool) {
	if f.Stream == 0 {
		return "", false
	}
	x := e.open[f.Stream]
	if x == nil {
		x = &exchange{}
		if e.open == nil {
			e.open = map[uint64]*exchange{}
		}
		e.open[f.Stream] = x
	}
	if f.Kind != wire.Mark {
		return x.first(f), f.Kind == wire.Body && f.Origin == wire.Wire && x.status == 202 && f.Size <= shortBody
	}
	switch m := wire.ReadMark(f.Frame); {
	case m.HTTP != nil && f.Dir == wire.ClientToAgent:
		x.method = m.HTTP.Method
		first := m.HTTP.Guessed && !e.guessed
		e.guessed = e.guessed || first
		return "", x.method == "POST" && f.Origin == wire.Wire && !first
	case m.HTTP != nil:
		x.status, x.form = m.HTTP.Status, form(m.HTTP.Headers)
		return "", f.Origin == wire.Wire && x.ordinary()
	case m.End != nil:
		if f.Dir == wire.AgentToClient {
			delete(e.open, f.Stream)
		}
		unread := x.status == 202 && m.End.By == wire.ByClient && m.End.Bytes == 0 // clients that expect no body close early
		return "", len(m.End.Trailers) == 0 && (m.End.Error == "" && m.End.By != wire.ByAcptap || unread)
	}
	return "", false
}

// shortBody is the size up to which the body of a 202 carries no further information,
// such as the Accepted sent by MCP's TypeScript SDK.
const shortBody = 32

// ordinary reports whether the response is an ordinary one: 202 to a message that needs
// no answer, or 200 with frames, the first of which shows it.
func (x *exchange) ordinary() bool {
	return x.status == 202 && x.method == "POST" || x.status == 200 && (x.form == "sse" || x.form == "json")
}

// first returns what to say about the heads at the first frame in a direction.
func (x *exchange) first(f *dialect.Frame) string {
	if f.Dir > wire.AgentToClient || x.told[f.Dir] || x.method == "" || x.status == 101 {
		return ""
	}
	x.told[f.Dir] = true
	text := termtext.Piece(x.method) + " " + strconv.FormatUint(f.Stream, 10)
	if f.Dir == wire.AgentToClient {
		text += " → " + x.answer()
	}
	return text
}

// answer returns text such as `200 sse`.
func (x *exchange) answer() string {
	return termtext.Spaced(strconv.Itoa(x.status), termtext.Piece(x.form))
}

// form returns the form of a body according to its headers: json, sse, or its content
// type.
func form(headers []wire.Header) string {
	switch kind, _, _ := mime.ParseMediaType(wire.HeaderValue(headers, "Content-Type")); kind {
	case "application/json":
		return "json"
	case "text/event-stream":
		return "sse"
	default:
		return kind
	}
}

// streamSummary summarizes a stream's mark; it returns "" for any other mark.
func streamSummary(f *dialect.Frame, m wire.Marked) string {
	switch {
	case m.HTTP != nil:
		return headSummary(f.Stream, m.HTTP)
	case m.End != nil:
		return endSummary(f, m.End)
	case m.SSE != nil:
		return eventSummary(m.SSE)
	case m.Close != nil:
		text := "closed by client: "
		if f.Dir == wire.AgentToClient {
			text = "closed by server: "
		}
		text += strconv.Itoa(m.Close.Code)
		if name := closeCodes[m.Close.Code]; name != "" {
			text += ", " + name
		}
		if m.Close.Reason != "" {
			text += ": " + termtext.Piece(m.Close.Reason)
		}
		return text
	case m.Framing != 0:
		return termtext.Grouped(m.Framing) + " bytes without a message, such as comments and pings"
	case m.Closed != "":
		return "connection ended: " + termtext.Piece(m.Closed)
	}
	return ""
}

// headSummary returns text such as `POST 3 /mcp`, or `3 → 404 json` for a response.
func headSummary(stream uint64, h *wire.HTTP) string {
	if stream == 0 {
		stream = h.Stream
	}
	number := strconv.FormatUint(stream, 10)
	if h.Status == 0 {
		text := termtext.Spaced(termtext.Piece(h.Method), number, termtext.Piece(h.Target))
		if h.Guessed {
			text += " · no id: guessed to be of this connection"
		}
		return text + headers(h.Headers, "Last-Event-ID")
	}
	x := exchange{status: h.Status, form: form(h.Headers)}
	return number + " → " + x.answer() + headers(h.Headers, "Location", "WWW-Authenticate", "Allow", "Retry-After")
}

// headers returns text such as ` · allow POST` for each header that has one of the names.
func headers(all []wire.Header, names ...string) (text string) {
	for _, name := range names {
		for _, h := range all {
			if strings.EqualFold(h.Name, name) && h.Value != "" {
				text += " · " + strings.ToLower(name) + " " + termtext.Piece(h.Value)
			}
		}
	}
	return text
}

func endSummary(f *dialect.Frame, e *wire.StreamEnd) string {
	what := "request"
	if f.Dir == wire.AgentToClient {
		what = "response"
	}
	text := fmt.Sprintf("%s %d ended", what, e.Stream)
	if e.By != "" {
		text += " by " + termtext.Piece(string(e.By))
	}
	if e.Error != "" {
		text += ": " + termtext.Piece(e.Error)
	}
	for _, h := range e.Trailers {
		text += " · trailer " + termtext.Spaced(strings.ToLower(termtext.Piece(h.Name)), termtext.Piece(h.Value))
	}
	return text
}

// eventSummary returns text such as `event endpoint: /messages?session=1`.
func eventSummary(e *wire.SSE) string {
	text := "event"
	if e.Cut {
		text = "event cut off"
	}
	text = termtext.Spaced(text, termtext.Piece(e.Event))
	if e.ID != "" {
		text += " · id " + termtext.Piece(e.ID)
	}
	if e.Retry != "" {
		text += " · retry " + termtext.Piece(e.Retry) + " ms"
	}
	if e.Data != "" {
		text += ": " + termtext.Piece(e.Data)
	}
	return text
}

// closeCodes are the codes of RFC 6455, section 7.4.1.
var closeCodes = map[int]string{
	1000: "normal", 1001: "going away", 1002: "protocol error", 1003: "unsupported data", 1005: "no code", 1006: "no close frame",
	1007: "invalid text", 1008: "policy violation", 1009: "message too big", 1010: "extension missing", 1011: "internal error", 1012: "restart", 1013: "try again later",
}
