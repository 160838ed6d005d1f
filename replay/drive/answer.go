package drive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A recordedRequest is a request of the recorded agent together with the client's answer.
type recordedRequest struct {
	seq       uint64
	method    string
	session   string
	params    []byte
	subject   []byte         // of a permission: what it is for, as JSON
	options   []trace.Option // of a permission
	answer    []byte         // the client's response; nil if there was none
	failed    bool           // the answer is an error
	after     uint64         // Seq of the last message that the client sent between the request and the answer; 0: none
	used      bool           // the live agent got its answer
	openCalls []*plannedCall // of a request with a progress token: the client's calls that were open at the time
}

// passed reports whether the agent will no longer make this request because the calls it
// was working on are answered.
func (a *recordedRequest) passed() bool {
	return len(a.openCalls) > 0 && !slices.ContainsFunc(a.openCalls, func(c *plannedCall) bool { return c.answer != nil && !c.answer.come })
}

func newRecordedRequest(f *dialect.Frame, e wire.Envelope, t *trace.Trace) *recordedRequest {
	a := &recordedRequest{seq: f.Seq, method: f.Method, session: f.Session, params: slices.Clone(e.Params)}
	if f.Does(dialect.AsksPermission) {
		a.subject, a.options = permissionOf(t, f.Session, f.Seq)
	}
	return a
}

// permissionOf returns the subject of a permission request as JSON, merged from
// everything that the agent has said about it, without ids. For a tool call with a raw
// input, it leaves out title, locations and content. subject is nil if it is only partly
// known.
func permissionOf(t *trace.Trace, session string, seq uint64) (subject []byte, options []trace.Option) {
	var fields struct {
		Kind      string
		RawInput  json.RawMessage   `json:",omitempty"`
		Title     string            `json:",omitempty"`
		Command   string            `json:",omitempty"`
		Locations []json.RawMessage `json:",omitempty"`
		Content   []json.RawMessage `json:",omitempty"`
	}
	p, call := permissionIn(t, session, seq)
	if p == nil {
		return nil, nil
	}
	fields.Title, fields.Command = p.Title, p.Command
	if call != nil {
		fields.Kind, fields.RawInput = call.Kind, call.RawInput
		if call.RawInput == nil {
			fields.Title, fields.Locations, fields.Content = call.Title, call.Locations, call.Content
		}
	}
	subject, err := json.Marshal(fields)
	if err != nil || bytes.Contains(subject, []byte(trace.Cut)) {
		subject = nil // it is only partly known
	}
	return subject, p.Options
}

// permissionIn returns the permission that a request asks for, and its tool call. Either
// may be nil.
func permissionIn(t *trace.Trace, session string, seq uint64) (*trace.Permission, *trace.ToolCall) {
	for _, s := range t.Sessions {
		if s.ID != session {
			continue
		}
		for _, e := range slices.Backward(s.Conversation.Entities) {
			list := []*trace.Permission{e.Permission}
			if e.ToolCall != nil {
				list = e.ToolCall.Permissions
			}
			for _, p := range list {
				if p != nil && p.Request == seq {
					return p, e.ToolCall
				}
			}
		}
	}
	return nil, nil
}

// answers finds the recorded answers to the agent's requests: by path for files, by
// command and id for terminals, and by the fields of the request otherwise.
type answers struct {
	byMethod  map[string][]*recordedRequest
	files     files
	terminals terminals
}

func (a *answers) add(q *recordedRequest) {
	if a.byMethod == nil {
		a.byMethod = make(map[string][]*recordedRequest)
	}
	a.byMethod[q.method] = append(a.byMethod[q.method], q)
	switch role := dialect.RoleOf(dialect.ACP, q.method); {
	case role.Is(dialect.UsesFile):
		a.files.recorded = append(a.files.recorded, q)
	case role.Is(dialect.UsesTerminal):
		a.terminals.add(q)
	}
}

// A question is a request of the live agent.
type question struct {
	id      []byte // JSON
	method  string
	session string // its recorded id
	params  []byte
	subject []byte         // as in recordedRequest
	options []trace.Option // as in recordedRequest
	paths   *remap.PathMap // maps recorded paths to live ones
}

// A reply is the answer to a question.
type reply struct {
	message []byte
	after   uint64           // send it after this client message; 0: at once
	note    string           // for the report; empty if the answer is as recorded
	silent  bool             // no answer, because the recorded client gave none
	as      *recordedRequest // the recorded request that it answers; nil: it is not from the tape
}

func (q *question) fail(code int, format string, args ...any) reply {
	why := fmt.Sprintf(format, args...)
	return reply{message: wire.NewFailure(q.id, code, "acptap replay: "+why, nil), note: q.method + ": " + why}
}

func (q *question) result(value any) reply {
	result, err := json.Marshal(value)
	if err != nil {
		panic("replay: " + err.Error()) // acptap made the value
	}
	return reply{message: wire.NewResult(q.id, result)}
}

// as replies the way the recorded client answered a.
func (q *question) as(a *recordedRequest) reply {
	a.used = true
	if a.answer == nil {
		return reply{silent: true, as: a}
	}
	message := remap.Apply(slices.Clone(a.answer), remap.IDEdit(a.answer, q.id))
	return reply{message: q.paths.Rewrite(message), after: a.after, as: a}
}

// to returns the reply to a question.
func (a *answers) to(q *question) reply {
	role := dialect.RoleOf(dialect.AnyProtocol, q.method)
	switch {
	case role.Is(dialect.Pings):
		return q.result(struct{}{})
	case role.Is(dialect.AsksPermission):
		return a.permit(q)
	case role.Is(dialect.ReadsFile):
		return a.files.read(q)
	case role.Is(dialect.WritesFile):
		return a.files.write(q)
	case role.Is(dialect.UsesTerminal):
		return a.terminals.answer(q)
	}
	list := a.byMethod[q.method]
	if list == nil {
		return q.fail(wire.MethodNotFound, "the tape has no such request")
	}
	next := -1
	for i, c := range list {
		if c.used || c.session != q.session {
			continue
		}
		if q.same(c) {
			return q.as(c)
		}
		if next < 0 {
			next = i
		}
	}
	if next < 0 {
		return q.fail(wire.InternalError, "the tape has no answer left")
	}
	if role.Is(dialect.AsksInput) { // another question's input would be a wrong answer
		return q.fail(wire.InternalError, "the tape has no answer to that question")
	}
	r := q.as(list[next])
	r.note = fmt.Sprintf("%s: answered as frame %d, which is not the same", q.method, list[next].seq)
	return r
}

// same reports whether a recorded request has the same match fields as q.
func (q *question) same(a *recordedRequest) bool {
	then := rpc.Lasting(dialect.MatchFields(a.method, q.paths.Rewrite(a.params)))
	return rpc.FieldsFit(then, rpc.Lasting(dialect.MatchFields(q.method, q.params)), rpc.AnyString)
}

// permit answers a request for permission. It grants only what the recorded client granted.
func (a *answers) permit(q *question) reply {
	var match *recordedRequest
	for _, c := range a.byMethod[q.method] {
		if !c.used && c.session == q.session && q.sameSubject(c) {
			match = c
			break
		}
	}
	if match == nil {
		return q.refuse("the tape has no answer for that")
	}
	r := q.as(match)
	if match.failed || r.silent {
		return r
	}
	chosen := chosenOption(match)
	if chosen == nil {
		return r // cancelled, or another outcome that names no option
	}
	now := optionLike(*chosen, q.options)
	if now == nil {
		return q.refuse("nothing is offered like " + chosen.ID + ", which was chosen")
	}
	if now.ID != chosen.ID {
		r.message = wire.Set(r.message, wire.Quote(now.ID), "result", "outcome", "optionId")
	}
	return r
}

// sameSubject reports whether a recorded request asks for the same permission as q.
func (q *question) sameSubject(a *recordedRequest) bool {
	return a.subject != nil && rpc.FieldsFit(dialect.AllMatchFields(q.paths.Rewrite(a.subject)), dialect.AllMatchFields(q.subject), rpc.AnyToken)
}

// refuse chooses the option that rejects once. If there is none, it answers that the
// request is cancelled.
func (q *question) refuse(why string) reply {
	type outcome struct {
		Outcome  string `json:"outcome"`
		OptionID string `json:"optionId,omitempty"`
	}
	answer := outcome{Outcome: "cancelled"}
	for _, o := range q.options {
		if o.Kind == "reject_once" {
			answer = outcome{"selected", o.ID}
			break
		}
	}
	r := q.result(map[string]outcome{"outcome": answer})
	r.note = q.method + ": refused: " + why
	return r
}

// chosenOption returns the option that the recorded client chose, or nil.
func chosenOption(a *recordedRequest) *trace.Option {
	id := wire.ValueOf(wire.Get(a.answer, "result", "outcome", "optionId"))
	if !id.Exists() {
		return nil
	}
	for i := range a.options {
		if a.options[i].ID == id.Text() {
			return &a.options[i]
		}
	}
	return &trace.Option{ID: id.Text()} // it was not offered
}

// optionLike returns the live option that corresponds to a recorded one: the one with the
// same id and kind, otherwise the only one of the same kind, otherwise the only one with
// the same name. A rejecting option never corresponds to an allowing one. An option that
// always allows never corresponds by name alone.
func optionLike(then trace.Option, now []trace.Option) *trace.Option {
	allows := func(o *trace.Option) bool { return !strings.HasPrefix(o.Kind, "reject_") }
	fits := []func(o *trace.Option) bool{
		func(o *trace.Option) bool { return o.ID == then.ID && o.Kind == then.Kind },
		func(o *trace.Option) bool { return o.Kind == then.Kind },
		func(o *trace.Option) bool {
			return o.Name != "" && o.Name == then.Name && allows(o) == allows(&then) && o.Kind != "allow_always"
		},
	}
	for _, fit := range fits {
		if o := only(now, fit); o != nil {
			return o
		}
	}
	return nil
}
