package conform

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// rpcRules concern JSON-RPC messages in both protocols.
var rpcRules = checks{
	{"RPC005", jsonrpcMember},
	{"RPC006", messageKind},
	{"RPC007", paramsShape},
	{"RPC008", idType},
	{"RPC009", idInUse},
	{"RPC010", unknownResponse},
	{"RPC011", resultOrError},
	{"RPC012", errorShape},
	{"RPC014", nullID},
	{"RPC015", methodName},
	{"RPC016", wrongSide},
	{"RPC017", requestOrNotification},
	{"RPC018", unanswered},
	{"RPC025", repeatedMember},
}

func idInUse(s *Step, r *Report) {
	if string(s.Envelope.ID) == "null" {
		return
	}
	r.Tried()
	if open := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID); open != nil {
		r.Add(Evidence{Text: "used the id of its open request in frame " + number(open.Seq), Path: "id", Got: string(s.Envelope.ID), Because: []uint64{open.Seq}})
	}
}

func resultOrError(s *Step, r *Report) {
	r.Tried()
	switch e := s.Envelope; {
	case e.Result != nil && e.Error != nil:
		r.Add(Evidence{Text: "answered with a result and an error", Path: "error", Got: string(e.Error)})
	case e.Result == nil && e.Error == nil:
		r.Add(Evidence{Text: "answered without a result and without an error"})
	}
}

func wrongSide(s *Step, r *Report) {
	row, ok := specified(s)
	if !ok {
		return
	}
	r.Tried()
	if isWrongSide(s, &row) && !(s.Conn.Dialect == dialect.MCPModern && s.is(wire.Request) && s.From == Agent) { // it must not ask for anything: MCP114
		r.Add(Evidence{Text: "sent " + s.Method + ", which it has to serve", Path: "method"})
	}
}

func requestOrNotification(s *Step, r *Report) {
	row, ok := specified(s)
	if !ok || isWrongSide(s, &row) {
		return
	}
	r.Tried()
	switch {
	case row.Form == dialect.AsRequest && s.is(wire.Notification):
		r.Add(Evidence{Text: "sent " + s.Method + " without an id", Path: "id", Want: "a string or an integer"})
	case row.Form == dialect.AsNotification && s.is(wire.Request):
		r.Add(Evidence{Text: "sent " + s.Method + " with an id", Path: "id", Got: string(s.Envelope.ID)})
	}
}

func repeatedMember(s *Step, r *Report) {
	r.Tried()
	if !s.Envelope.Repeats {
		return
	}
	first := wire.Repeats(s.raw())[0]
	r.Add(Evidence{Text: "wrote the member " + strconv.Quote(cut(first.Name)) + " twice in one object", Want: "each name once", Got: strings.TrimRight(string(s.raw()[first.Start:first.End]), ", \t\r\n")})
}

func jsonrpcMember(s *Step, r *Report) {
	r.Tried()
	if bytes.HasPrefix(s.raw(), []byte(`{"jsonrpc":"2.0",`)) {
		return
	}
	switch v := wire.Get(s.raw(), "jsonrpc"); {
	case v == nil:
		r.Add(Evidence{Text: "left jsonrpc out", Path: "jsonrpc", Want: `"2.0"`})
	case wire.Text(v) != "2.0":
		r.Add(Evidence{Text: "wrote another jsonrpc than 2.0", Path: "jsonrpc", Want: `"2.0"`, Got: string(v)})
	}
}

func messageKind(s *Step, r *Report) {
	e := s.Envelope
	if s.Kind() != wire.Invalid {
		r.Tried()
		if e.Method != nil && (e.Result != nil || e.Error != nil) {
			r.Add(Evidence{Text: "sent a method beside a result or an error", Path: "method", Got: string(e.Method)})
		}
		return
	}
	if flawOf(s) != noMessage {
		return
	}
	if method := wire.Get(s.raw(), "method"); method != nil {
		r.Add(Evidence{Text: "sent a method that is no text", Path: "method", Want: "a string", Got: string(method)})
		return
	}
	r.Add(Evidence{Text: "sent an object that is no message", Want: "method, result or error", Got: string(s.raw())})
}

func paramsShape(s *Step, r *Report) {
	params := s.Envelope.Params
	if len(params) == 0 {
		return
	}
	r.Tried()
	if params[0] == '{' {
		return
	}
	e := Evidence{Text: "sent params that are no object", Path: "params", Want: "an object", Got: string(params[:min(len(params), maxGot+1)])}
	if _, known := dialect.Lookup(s.Conn.Protocol, s.Method); params[0] == '[' && !known {
		return
	}
	if string(params) == "null" {
		e.Strength = Note
	}
	r.Add(e)
}

func idType(s *Step, r *Report) {
	r.Tried()
	id := s.Envelope.ID
	if _, ok := wire.Integer(id); ok || len(id) == 0 || id[0] == '"' || len(bytes.Trim(id, "-0123456789")) == 0 {
		return
	}
	e := Evidence{Text: "made a request whose id is no string or integer", Path: "id", Want: "a string or an integer", Got: string(id)}
	switch {
	case s.Conn.Protocol == dialect.MCP:
	case string(id) == "null":
		e.Text, e.Strength = "made a request whose id is null", Note
	case s.Conn.Protocol == dialect.AnyProtocol && strings.ContainsAny(string(id[:1]), "-0123456789"):
		e.Strength = Warning // JSON-RPC itself says SHOULD NOT
	}
	r.Add(e)
}

func unknownResponse(s *Step, r *Report) {
	if !wire.Present(s.Envelope.ID) {
		return
	}
	reply, before := s.Conn.replies.of(s.Frame.Dir.Opposite(), s.Envelope.ID)
	if s.Call == nil && (reply.due > 0 || s.Conn.replies.forgot) {
		return
	}
	r.Tried()
	switch {
	case s.Call != nil:
	case before && reply.Seq != 0:
		r.Add(Evidence{Text: "answered a request again, after frame " + number(reply.Seq), Path: "id", Got: string(s.Envelope.ID), Because: []uint64{reply.Seq}})
	default:
		r.Add(Evidence{Text: "answered a request that nobody made", Path: "id", Got: string(s.Envelope.ID)})
	}
}

func errorShape(s *Step, r *Report) {
	value := s.Envelope.Error
	if value == nil || s.Envelope.Result != nil {
		return
	}
	r.Tried()
	if value[0] != '{' {
		r.Add(Evidence{Text: "answered with an error that is no object", Path: "error", Want: "an object", Got: string(value)})
		return
	}
	c, message := wire.Get(value, "code"), wire.Get(value, "message")
	n, ok := wire.Integer(c)
	if !ok || s.Conn.Protocol == dialect.ACP && (n < math.MinInt32 || n > math.MaxInt32) {
		r.Add(Evidence{Text: "answered with an error without an integer code", Path: "error.code", Want: "an integer", Got: string(c)})
	}
	if !isString(message) {
		r.Add(Evidence{Text: "answered with an error without a message", Path: "error.message", Want: "a string", Got: string(message)})
	}
}

func nullID(s *Step, r *Report) {
	id := s.Envelope.ID
	switch {
	case id == nil:
		r.Add(Evidence{Text: "answered without an id", Path: "id", Want: "the id of the request"})
		return
	case string(id) != "null":
		return
	}
	r.Tried()
	if c := code(s.Envelope.Error); s.Call == nil && c != wire.ParseError && c != wire.InvalidRequest {
		r.Add(Evidence{Text: "answered with the id null", Path: "id", Want: "the id of the request", Got: "null"})
	}
}

func methodName(s *Step, r *Report) {
	if _, ok := dialect.Lookup(dialect.ACP, s.Method); ok && s.Method != "" {
		return
	}
	method := string(s.Envelope.Method)
	r.Tried()
	e := Evidence{Text: "sent " + cut(method) + ", which the protocol does not have (as of " + Date + ")", Path: "method", Got: method}
	switch {
	case strings.HasPrefix(method, "_"):
		return
	case strings.HasPrefix(method, "$/"):
		e.Strength = Note
	case isOfACP(method) && s.Conn.Dialect == dialect.ACPv1:
		e.Strength = Warning
	case isOfACP(method):
		e.Strength = Note // the draft changes every week
	}
	r.addUnlessProposed(e, dialect.ACP, method)
}

// addUnlessProposed adds e, which calls something unknown. If a proposal has it
// (dialect.LookupProposed), e becomes a note, or nothing if the receiver said that it knows
// the proposal.
func (r *Report) addUnlessProposed(e Evidence, p dialect.Protocol, name string) {
	if found, ok := dialect.LookupProposed(p, name); ok {
		receiver := r.step.Conn.hello.client
		if r.step.From == Client {
			receiver = r.step.Conn.hello.agent
		}
		for _, path := range found.Offers {
			if wire.Present(wire.Get(receiver, strings.Split(path, ".")...)) {
				return
			}
		}
		e.Strength = Note
		e.Text = "sent " + cut(name) + ", a proposal, not yet of the protocol (" + found.Title + ", " + found.Month + ", " + found.Source + ")"
	}
	r.Add(e)
}

// isOfACP reports whether a method name starts like one of ACP's, such as session/.
func isOfACP(method string) bool {
	space, _, ok := strings.Cut(method, "/")
	if !ok {
		return false
	}
	for _, m := range dialect.Methods() {
		if m.Protocol() == dialect.ACP && strings.HasPrefix(m.Name, space+"/") {
			return true
		}
	}
	return false
}

// specified returns the row for a step's method if any version of the protocol has it
// outside of drafts.
func specified(s *Step) (dialect.Method, bool) {
	if s.Conn.Protocol == dialect.AnyProtocol {
		return dialect.Method{}, false
	}
	row, ok := dialect.Lookup(s.Conn.Protocol, s.Method)
	return row, ok && row.Stable|row.Removed != 0
}

// isWrongSide reports whether the message was sent by the side that must serve its
// method.
func isWrongSide(s *Step, row *dialect.Method) bool {
	return row.From == dialect.ClientSide && s.From == Agent || row.From == dialect.AgentSide && s.From == Client
}

func unanswered(s *Step, r *Report) {
	for call := range s.Conn.calls.All() {
		side := Client + Agent - call.From
		if !s.Conn.EndedItself(side) || !s.Conn.closing.leftTimeSince(call.Moment, side, s.judge.checker.options.Grace) {
			continue
		}
		row, _ := dialect.Lookup(s.Conn.Protocol, call.Method)
		if row.Ends == dialect.AtClose || row.Role.Is(dialect.AwaitsExit) || call.Cancelled.Seq != 0 { // ACP446 covers those of ACP
			continue
		}
		if s.Conn.Dialect == dialect.MCPModern && call.From == Agent {
			continue // a client must not answer (MCP114)
		}
		r.Add(Evidence{Text: "did not answer " + call.Method, Seq: call.Seq, Of: call, By: side})
	}
}

// replies holds recent answers, and answers that may still come although no request is
// open: two requests shared an ID, or one was open when the connection restarted.
type replies struct {
	byID   bounded.Map[requestKey, reply]
	forgot bool // an answer that may still be due
}

type requestKey struct {
	dir wire.Direction // of the request
	id  string
}

type reply struct {
	Moment     // of the latest answer; Seq 0: none
	due    int // number of answers that may still come
}

// maxReplies limits the answers remembered; a second answer comes soon.
const maxReplies = 4096

func (p *replies) of(dir wire.Direction, id []byte) (reply, bool) {
	return p.byID.Get(requestKey{dir, dialect.IDKey(id)})
}

// observe records a response.
func (p *replies) observe(s *Step) {
	reply, _ := p.of(s.Frame.Dir.Opposite(), s.Envelope.ID)
	if s.Call == nil && reply.due > 0 {
		reply.due--
	}
	reply.Moment = s.Moment()
	p.set(s.Frame.Dir.Opposite(), string(s.Envelope.ID), reply)
}

// expect records that an answer may still come to a request that is no longer open.
func (p *replies) expect(call *Call) {
	dir := wire.ClientToAgent
	if call.From == Agent {
		dir = wire.AgentToClient
	}
	reply, _ := p.of(dir, []byte(call.ID))
	reply.due++
	p.set(dir, call.ID, reply)
}

// expectOf expects the answers to requests left open on the previous connection.
func (p *replies) expectOf(before *connection) {
	p.forgot = before.lost != ""
	for call := range before.calls.All() {
		p.expect(call)
	}
}

func (p *replies) set(dir wire.Direction, id string, r reply) {
	p.byID.Limit = maxReplies
	gone := r
	if len(id) <= maxReplyID {
		gone, _ = p.byID.Set(requestKey{dir, dialect.IDKey([]byte(id))}, r)
	}
	p.forgot = p.forgot || gone.due > 0
}

// maxReplyID limits the bytes remembered of an id.
const maxReplyID = 256
