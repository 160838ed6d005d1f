package conform

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A toolKey identifies a session's tool call by its toolCallId.
type toolKey struct {
	session uint32
	id      uint64 // hash
}

// A toolCall holds what is known about a tool call.
type toolCall struct {
	of       *session
	seq      uint64   // of the frame in which it was first seen
	known    toolSeen // how
	updated  bool     // by a tool_call_update
	rejected bool     // by the user, or its question was cancelled
	asking   int      // number of open questions to the user
	resent   resent   // resent.go
	first    *Call    // the update in which it was first seen, before it was announced; its ID is the tool call's. nil: none
}

// A toolSeen is how a tool call became known.
type toolSeen uint8

const (
	announced toolSeen = iota // by a tool_call
	asked                     // by a session/request_permission
	updated                   // by a tool_call_update
)

// Limits on what is remembered about tool calls.
const (
	maxTools = 1 << 15 // over all sessions
	maxOpen  = 256     // unfinished ones per session
)

// tools holds the tool calls of a version 1 connection.
type tools struct {
	known bounded.Map[toolKey, *toolCall]
}

// find returns a session's tool call with the given ID, or nil if it is unknown. ok is
// false if id is not an ID.
func (t *tools) find(x *session, id []byte) (key toolKey, call *toolCall, ok bool) {
	if x == nil || !isString(id) {
		return key, nil, false
	}
	key = toolKey{x.number, maphash.Bytes(seed, id)}
	call, _ = t.known.Get(key)
	return key, call, true
}

// observe updates the state with a step.
func (t *tools) observe(s *Step) {
	switch {
	case s.Entity == dialect.ToolCall:
		t.update(s)
	case s.Method != "session/request_permission" || s.Session == nil:
	case s.Kind() == wire.Request:
		t.ask(s)
	case s.Call != nil && s.Call.tool != nil:
		t.answer(s, s.Call.tool)
	}
}

func (t *tools) update(s *Step) {
	x := s.Session
	key, call, ok := t.find(x, s.EntityID())
	if !ok {
		return
	}
	announces := s.Update == "tool_call"
	switch {
	case call == nil:
		call = t.add(key, x, s)
		call.known = updated
		if !announces && len(x.early) < maxOpen {
			call.first = s.asCall()
			call.first.ID = string(s.EntityID())
			x.early = append(x.early, call)
		}
	case announces && !slices.Contains(x.unfinished, call):
		call.seq, call.rejected, call.resent = s.Frame.Seq, false, resent{} // some agents restart their numbering
	default:
		if now, ok := s.resends(call); ok {
			now.told = now.told || now.isResent()
			call.resent = now
		}
	}
	if announces {
		call.known = announced
		x.early = slices.DeleteFunc(x.early, func(c *toolCall) bool { return c == call })
	} else {
		call.updated = true
	}
	status := wire.Text(s.Param("update", "status"))
	switch {
	case status != "" && status != "pending" && status != "in_progress": // an unknown status may be an end, too
		x.finished(call)
	case announces || call.seq == s.Frame.Seq:
		x.begun(call)
	}
}

func (t *tools) ask(s *Step) {
	x := s.Session
	key, call, ok := t.find(x, s.Param("toolCall", "toolCallId"))
	asking := s.Conn.calls.Find(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID)
	if !ok || asking == nil {
		return
	}
	if call == nil {
		call = t.add(key, x, s)
		call.known = asked
		x.begun(call)
	}
	call.asking++
	asking.tool = call
}

func (t *tools) answer(s *Step, call *toolCall) {
	call.asking--
	if !s.Succeeded() || wire.Text(s.Result("outcome", "outcome")) != "selected" || s.About.Events.Has(dialect.PermissionRefused) {
		call.rejected = true
	}
}

// add adds a tool call. If that makes it forget another, the other's session is no longer
// completely known.
func (t *tools) add(key toolKey, x *session, s *Step) *toolCall {
	call := &toolCall{of: x, seq: s.Frame.Seq}
	if forgotten, full := t.known.Set(key, call); full {
		forgotten.of.lose("there are more tool calls than are remembered")
	}
	return call
}

// begun records a tool call that must finish within the turn.
func (x *session) begun(call *toolCall) {
	if len(x.turn.prompts) > 0 && len(x.unfinished) < maxOpen && !slices.Contains(x.unfinished, call) {
		x.unfinished = append(x.unfinished, call)
	}
}

func (x *session) finished(call *toolCall) {
	if i := slices.Index(x.unfinished, call); i >= 0 {
		x.unfinished = slices.Delete(x.unfinished, i, i+1)
	}
}

// toolRules judge the reports about tool calls.
var toolRules = checks{
	{"ACP401", neverAnnounced},
	{"ACP402", announcedAgain},
	{"ACP404", leftUnfinished},
	{"ACP409", askedNotAnnounced},
	{"ACP412", outputResent},
}

func neverAnnounced(s *Step, r *Report) {
	switch {
	case s.Update != "":
		x := r.Session()
		if x == nil {
			return
		}
		_, call, ok := s.Conn.tools.find(x, s.EntityID())
		if !ok || x.setup.method != "session/new" {
			return
		}
		r.Tried()
		if s.Update == "tool_call" && slices.Contains(x.early, call) {
			r.addEarly(x, call, "updated a tool call before it announced it (frame "+number(s.Frame.Seq)+")")
		}
	case s.Method == "session/prompt":
		if x := r.Session(); x != nil && len(x.turn.prompts) <= 1 {
			r.addUnannounced(x)
		}
	default:
		for _, x := range s.Conn.sessions.All() {
			r.addUnannounced(x)
		}
	}
}

// addUnannounced adds a session's tool calls that were updated but never announced.
func (r *Report) addUnannounced(x *session) {
	for _, call := range x.early {
		r.addEarly(x, call, "updated a tool call that it never announced")
	}
}

// addEarly reports what is wrong with a tool call's first update. In a loaded or resumed
// session, the tool call may be older than the load.
func (r *Report) addEarly(x *session, call *toolCall, text string) {
	if x.setup.method == "session/new" {
		r.Add(Evidence{Text: text, Path: "update.toolCallId", Got: call.first.ID, Seq: call.seq, Of: call.first, In: x})
	}
}

func announcedAgain(s *Step, r *Report) {
	x := r.Session()
	if x == nil || x.replays() {
		return
	}
	_, call, ok := s.Conn.tools.find(x, s.EntityID())
	if !ok {
		return
	}
	r.Tried()
	if call != nil && call.known == announced {
		r.Add(Evidence{
			Text: "announced the tool call of frame " + number(call.seq) + " again", Path: "update.toolCallId",
			Got: string(s.EntityID()), Because: []uint64{call.seq},
		})
	}
}

func leftUnfinished(s *Step, r *Report) {
	x := r.Session()
	if x == nil || s.Call == nil || len(x.turn.prompts) != 1 || x.turn.prompts[0] != s.Call {
		return
	}
	if x.turn.cancel.Seq > s.Call.Seq || s.Call.Cancelled.Seq != 0 || wire.Text(s.Result("stopReason")) == "cancelled" {
		return
	}
	r.Tried()
	var frames []uint64
	for _, call := range x.unfinished {
		if !call.rejected && call.asking == 0 {
			frames = append(frames, call.seq)
		}
	}
	switch len(frames) {
	case 0:
	case 1:
		r.Add(Evidence{Text: "ended the turn while the tool call of frame " + number(frames[0]) + " was not finished", Because: frames})
	default:
		r.Add(Evidence{Text: "ended the turn while tool calls were not finished: those of the frames " + list(frames), Because: frames})
	}
}

// list names frames; if there are many, only the first.
func list(frames []uint64) string {
	const most = 8
	var names []string
	for _, seq := range frames[:min(len(frames), most)] {
		names = append(names, number(seq))
	}
	if len(frames) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

func askedNotAnnounced(s *Step, r *Report) {
	x := r.Session()
	if x == nil {
		return
	}
	_, call, _ := s.Conn.tools.find(x, s.EntityID())
	if call == nil {
		return
	}
	r.Tried()
	if call.known == asked && !call.updated {
		r.Add(Evidence{
			Text: "updated a tool call that is known only from its permission request (frame " + number(call.seq) + ")",
			Path: "update.toolCallId", Got: string(s.EntityID()), Because: []uint64{call.seq},
		})
	}
}

// isRelative reports whether a JSON value is a string with a relative path.
func isRelative(value []byte) bool {
	return isString(value) && !dialect.IsAbsolute(wire.Text(value))
}

// pathRules concern the paths in reports about tool calls.
var pathRules = checks{
	{"ACP405", relativePath},
	{"ACP407", foreignTerminal},
	{"ACP411", replayedTerminal},
}

func relativePath(s *Step, r *Report) {
	p := pathFinder{r: r}
	switch {
	case s.Update == "terminal_update":
		p.look(s.Param("update", "cwd"), "update.cwd")
	case s.Update == "tool_call_content_chunk":
		p.item(s.Param("update", "content"), "update.content")
	case s.Update != "":
		p.call(s.Param("update", "locations"), s.Param("update", "content"), "update")
	default:
		call, subject := s.Param("toolCall"), s.Param("subject", "toolCall")
		p.call(wire.Get(call, "locations"), wire.Get(call, "content"), "toolCall")
		p.call(wire.Get(subject, "locations"), wire.Get(subject, "content"), "subject.toolCall")
		p.look(s.Param("subject", "cwd"), "subject.cwd")
	}
}

// A pathFinder looks for the first relative path in a message.
type pathFinder struct {
	r     *Report
	found bool
}

// look checks a path, which may be absent.
func (p *pathFinder) look(value []byte, at string) {
	if !isString(value) || p.found {
		return
	}
	p.r.Tried()
	if p.found = isRelative(value); p.found {
		p.r.Add(Evidence{Text: "sent a path that is not absolute", Path: at, Want: "an absolute path", Got: string(value)})
	}
}

// call checks a tool call's locations and content.
func (p *pathFinder) call(locations, content []byte, at string) {
	for i, location := range wire.Elements(locations) {
		p.look(wire.Get(location, "path"), dialect.ElementPath(at+".locations", i)+".path")
	}
	for i, item := range wire.Elements(content) {
		p.item(item, dialect.ElementPath(at+".content", i))
	}
}

// item checks an item of a tool call's content, which has paths if it is a diff.
func (p *pathFinder) item(value []byte, at string) {
	if wire.Text(wire.Get(value, "type")) != "diff" {
		return
	}
	p.look(wire.Get(value, "path"), at+".path")
	for i, change := range wire.Elements(wire.Get(value, "changes")) {
		at := dialect.ElementPath(at+".changes", i)
		p.look(wire.Get(change, "path"), at+".path")
		p.look(wire.Get(change, "oldPath"), at+".oldPath")
	}
}

func foreignTerminal(s *Step, r *Report) {
	if x := s.Session; x != nil && !x.replays() {
		r.judgeTerminals(x, "showed a terminal that the client did not make")
	}
}

func replayedTerminal(s *Step, r *Report) {
	if x := s.Session; x != nil && x.replays() {
		r.judgeTerminals(x, "showed a terminal that was not created on this connection")
	}
}

// judgeTerminals reports, with the given text, a tool call that shows a terminal not in its
// session.
func (r *Report) judgeTerminals(x *session, text string) {
	s := r.step
	if x.setup.method == "session/fork" || s.Conn.terminals.forgot || !bytes.Contains(s.Frame.Raw, []byte("terminalId")) { // a fork shows those of its origin
		return
	}
	if bytes.Contains(wire.Get(s.Conn.hello.client, "clientCapabilities", "_meta"), []byte("terminal")) ||
		bytes.Contains(s.Param("update", "_meta"), []byte("terminal")) { // the agent has its own terminals
		return
	}
	for i, item := range wire.Elements(s.Param("update", "content")) {
		id := wire.Get(item, "terminalId")
		if wire.Text(wire.Get(item, "type")) != "terminal" || !isString(id) {
			continue
		}
		r.Judge(s.Conn.terminals.of(x.id, wire.Text(id)) == nil, Evidence{Text: text, Path: dialect.ElementPath("update.content", i) + ".terminalId", Got: string(id)})
	}
}
