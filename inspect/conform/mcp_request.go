package conform

import (
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Limits on what is remembered about one side's requests.
const (
	maxIDs    = 1 << 16
	maxTokens = 1 << 12
	maxToken  = 1 << 10 // bytes
)

// mcpRequests holds what is known about one side's requests.
type mcpRequests struct {
	ids    hashes
	before hashes // from before initialize, when there was no session yet

	refused hashes // of requests refused over HTTP with an error status, for example because they required a login

	tokens progressTokens
}

// observe handles what the side sent, and the other side's answers to it.
func (q *mcpRequests) observe(s *Step) {
	switch {
	case s.is(wire.Request):
		if id := s.Envelope.ID; len(id) > 0 {
			q.ids.add(maxIDs, string(id))
		}
		q.tokens.asked(s)
	case s.is(wire.Response) && s.Call != nil:
		q.tokens.answered(s)
	}
}

// progressTokens holds the tokens under which a side asked for progress.
type progressTokens struct {
	byToken bounded.Map[string, *progress]
	byTask  bounded.Map[string, *progress] // of requests that run as a task on the other side
	forgot  bool                           // some are unknown or forgotten
}

// A progress holds what was reported under a token.
type progress struct {
	call   *Call  // the request that provided it
	shared bool   // another open request provided it too
	ended  Moment // Seq 0: not yet
	value  []byte // the latest, as JSON; nil: none
	told   uint64 // Seq of that report
}

// tokenOf returns a request's progress token, or nil if it has none.
func tokenOf(s *Step) []byte { return plainNumber(s.Param("_meta", "progressToken")) }

// toldToken returns a progress notification's token, or nil if it has none.
func toldToken(s *Step) []byte { return plainNumber(s.Param("progressToken")) }

// plainNumber returns a token in a form for comparison, or nil for null. 1.0 becomes 1,
// because some languages have only one number type.
func plainNumber(token []byte) []byte {
	if n, ok := wire.Integer(token); ok {
		return strconv.AppendInt(nil, n, 10)
	}
	if !wire.Present(token) {
		return nil
	}
	return token
}

func (t *progressTokens) asked(s *Step) {
	token := tokenOf(s)
	if token == nil || len(token) > maxToken {
		t.forgot = t.forgot || token != nil || s.Kind() == wire.Oversized // a token may follow the part that was read
		return
	}
	old, _ := t.byToken.Get(string(token))
	p := &progress{call: s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)}
	p.shared = old.isOpen(s)
	if p.call != nil {
		p.call.progress = p
	}
	t.byToken.Limit = maxTokens
	_, full := t.byToken.Set(string(token), p)
	t.forgot = t.forgot || full
}

// isOpen reports whether the request that provided the token is still open and not
// cancelled.
func (p *progress) isOpen(s *Step) bool {
	return p != nil && p.call != nil && p.call.Cancelled.Seq == 0 && s.Conn.calls.Find(s.Frame.Dir, p.call.stream, []byte(p.call.ID)) == p.call
}

// answered handles the answer to one of the side's requests. A task continues after the
// answer until it ends.
func (t *progressTokens) answered(s *Step) {
	if p := s.Call.progress; p != nil {
		call := *s.Call
		call.Params = nil
		p.call = &call // it is no longer open
		task := wire.Text(s.Result("task", "taskId"))
		kind := wire.Text(s.Result("resultType"))
		switch {
		case task != "" && len(task) <= maxToken:
			t.byTask.Limit = maxTokens
			t.byTask.Set(task, p)
		case task != "", kind != "" && kind != "complete": // more is to come
		default:
			p.ended = s.Moment()
		}
	}
	switch s.Method {
	case "tasks/get", "tasks/cancel":
		t.status(s, s.Envelope.Result)
	case "tasks/result":
		t.over(s, wire.Text(wire.Get(s.Call.Params, "taskId")))
	}
}

// status handles a task status reported by the other side.
func (t *progressTokens) status(s *Step, task []byte) {
	if dialect.IsFinal(wire.Text(wire.Get(task, "status"))) {
		t.over(s, wire.Text(wire.Get(task, "taskId")))
	}
}

func (t *progressTokens) over(s *Step, task string) {
	if p, _ := t.byTask.Get(task); p != nil && p.ended.Seq == 0 {
		p.ended = s.Moment()
	}
}

// told handles a notification from the other side.
func (t *progressTokens) told(s *Step) {
	switch s.Method {
	case "notifications/progress":
		value := s.Param("progress")
		if p, _ := t.byToken.Get(string(toldToken(s))); p != nil && len(value) <= maxToken {
			p.value, p.told = slices.Clone(value), s.Frame.Seq
		}
	case "notifications/tasks/status":
		t.status(s, s.Envelope.Params)
	}
}

var mcpRequestRules = checks{
	{"MCP108", idAgain},
	{"MCP109", strayProgress},
	{"MCP110", progressFalls},
	{"MCP111", tokenInUse},
	{"MCP112", cancelsNothing},
}

func idAgain(s *Step, r *Report) {
	id := s.Envelope.ID
	if !wire.Present(id) {
		return
	}
	r.Tried()
	open := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, id)
	e := Evidence{Path: "id", Got: string(id)}
	switch {
	case s.requests().refused.has(string(id)):
		return
	case open != nil:
		e.Text, e.Because = "used the id of "+open.Method+" (frame "+number(open.Seq)+"), which is open", []uint64{open.Seq}
	case s.isLegacy() && !s.sessionsHaveIDs() && s.requests().ids.has(string(id)):
		e.Text = "used an id a second time"
	default:
		return
	}
	r.Add(e)
}

// requests returns what is known about the requests of the step's sender.
func (s *Step) requests() *mcpRequests { return &s.Conn.mcp.requests[s.Frame.Dir] }

// asked returns what is known about the other side's requests.
func (s *Step) asked() *mcpRequests { return &s.Conn.mcp.requests[s.Frame.Dir.Opposite()] }

func strayProgress(s *Step, r *Report) {
	token := toldToken(s)
	tokens := &s.asked().tokens
	p, _ := tokens.byToken.Get(string(token))
	if token == nil || p == nil && tokens.forgot {
		return
	}
	r.Tried()
	switch {
	case p == nil:
		r.Add(Evidence{Text: "told of progress under a token that no request gave", Path: "progressToken", Got: string(token)})
	case p.ended.Seq != 0 && !p.shared:
		r.Add(Evidence{
			Text: "told of progress after the end of " + p.call.Method + " (frame " + number(p.ended.Seq) + ")",
			Path: "progressToken", Got: string(token), Because: []uint64{p.call.Seq, p.ended.Seq}, Of: p.call,
		})
	}
}

func progressFalls(s *Step, r *Report) {
	p, _ := s.asked().tokens.byToken.Get(string(toldToken(s)))
	if p == nil || p.shared || p.value == nil || p.ended.Seq != 0 {
		return
	}
	r.Tried()
	value := s.Param("progress")
	before, err := strconv.ParseFloat(string(p.value), 64)
	now, err2 := strconv.ParseFloat(string(value), 64)
	if err != nil || err2 != nil || now > before || now == before && string(value) != string(p.value) {
		return
	}
	r.Add(Evidence{
		Text: "told of no more progress than before (frame " + number(p.told) + ")",
		Path: "progress", Want: "more than " + cut(string(p.value)), Got: string(value), Because: []uint64{p.told}, Of: p.call,
	})
}

func tokenInUse(s *Step, r *Report) {
	token := tokenOf(s)
	if token == nil {
		return
	}
	r.Tried()
	if p, _ := s.requests().tokens.byToken.Get(string(token)); p.isOpen(s) {
		r.Add(Evidence{
			Text: "gave a token that " + p.call.Method + " (frame " + number(p.call.Seq) + ") has, which is open",
			Path: "_meta.progressToken", Got: string(token), Because: []uint64{p.call.Seq}, Of: p.call,
		})
	}
}

func cancelsNothing(s *Step, r *Report) {
	id := s.Param("requestId")
	if !wire.Present(id) || !s.isLegacy() {
		return
	}
	own := s.requests()
	opening := s.Conn.mcp.lifecycle.opening
	initializes := s.From == Client && opening != nil && opening.ID == string(id)
	if !initializes && (own.ids.forgot || own.before.forgot) {
		return
	}
	r.Tried()
	e := Evidence{Path: "requestId", Got: string(id)}
	switch {
	case initializes:
		e.Text, e.Because = "cancelled initialize (frame "+number(opening.Seq)+")", []uint64{opening.Seq}
	case !own.ids.has(string(id)) && !own.before.has(string(id)):
		e.Text = "cancelled a request that it never made"
	default:
		return
	}
	r.Add(e)
}
