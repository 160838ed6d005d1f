package replay

import (
	"bytes"
	"path"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// An arrival is a message that the client has sent.
type arrival struct {
	raw     []byte
	e       wire.Envelope
	kind    wire.Kind
	method  string
	session string
	id      []byte
	batch   int // number of the batch that contained it; 0: none
}

func newArrival(raw []byte, e wire.Envelope, batch int) *arrival {
	return &arrival{raw: raw, e: e, kind: e.MessageKind(), method: string(e.Method), session: dialect.NamedSession(string(e.Method), e), id: bytes.Clone(e.ID), batch: batch}
}

// handle handles a line of the client.
func (p *player) handle(line []byte) {
	p.matched = 0
	p.receiveLine(line)
	if p.passed != nil {
		p.passed(wire.ClientToAgent, p.matched)
	}
}

// receiveLine handles the messages of a line.
func (p *player) receiveLine(line []byte) {
	e := rpc.Scan(line)
	if e.Kind != wire.Batch {
		p.receive(line, e, 0)
		return
	}
	p.batches++
	n := 0
	wire.Entries(line, func(_ int, entry []byte) bool {
		n++
		p.receive(entry, wire.Scan(entry), p.batches)
		return true
	})
	if n == 0 {
		p.report.note("an empty batch came")
		p.fail([]byte("null"), wire.InvalidRequest, "empty batch", nil)
	}
}

// receive handles one message of the client.
func (p *player) receive(raw []byte, e wire.Envelope, batch int) {
	m := newArrival(raw, e, batch)
	p.report.Received++
	if h := p.handOverOf(m); h != nil {
		p.hold(h, m)
		return
	}
	if p.live.takes(m) {
		p.live.give(m)
		return
	}
	switch m.kind {
	case wire.Request:
		p.request(m)
	case wire.Notification:
		p.notification(m)
	case wire.Response:
		p.answer(m)
	default:
		if len(bytes.TrimSpace(raw)) > 0 {
			p.report.note("a line came that is no message: %s", shorten(rpc.HideSecrets("", "", string(raw))))
		}
	}
}

func (p *player) request(m *arrival) {
	exp, near, differs := p.find(m)
	switch {
	case exp != nil:
		p.match(exp, m)
	case dialect.Does(m.method, dialect.Pings):
		p.out.Write(append(wire.NewResult(m.id, []byte("{}")), '\n'))
		p.told(0, m.id)
	case p.mayAskLive(m):
		p.toLive(m)
	case p.mayHandOver(m):
		p.handOver(m)
	default:
		p.miss(m, near, differs)
	}
}

func (p *player) notification(m *arrival) {
	if dialect.Does(m.method, dialect.CancelsTurns) && p.protocol != dialect.MCP {
		p.cancel(m)
		return
	}
	exp, near, differs := p.find(m)
	switch {
	case exp != nil:
		p.match(exp, m)
	case optional(m.method):
		p.report.note("%s came, which is not on the tape", m.method)
	case cancelsMCP(m.method) && near == nil:
		p.report.note("%s came when the tape has none", m.method)
	default:
		p.miss(m, near, differs)
	}
}

// cancel handles session/cancel of ACP. It matches the recorded cancel before the next
// prompt. A cancel that is not on the tape changes nothing, and is merely noted if the
// turn needs nothing more from the client.
func (p *player) cancel(m *arrival) {
	exp, _, _ := p.find(m)
	l := p.sessions[m.session]
	next := p.waiting[expectedKey{dialect.Prompt, m.session}]
	var prompt *expectedMessage
	if next != nil {
		prompt = next.first()
	}
	switch {
	case exp != nil && (prompt == nil || exp.seq < prompt.seq):
		p.match(exp, m)
	case l == nil || !l.running():
		p.report.note("a cancel came when no turn was open")
	case l.expected.first() == nil || prompt != nil && l.expected.first() == prompt:
		p.report.note("a cancel came that the tape does not have, and changed nothing")
	default:
		p.miss(m, nil, nil)
	}
}

// answer handles the answer to a request of the agent.
func (p *player) answer(m *arrival) {
	a := p.sent.Answer(wire.ClientToAgent, 0, m.id)
	if a == nil {
		p.missAnswer(m, nil, nil)
		return
	}
	m.method = a.method
	p.seeking = true
	for a.answer == nil && !a.lost && !a.lane.done && p.readNext() {
	}
	p.seeking = false
	switch {
	case a.lane.dead:
		return
	case a.answer == nil:
		p.report.note("frame %d, %s, was answered, which it was not on the tape", a.seq, a.method)
		return
	}
	if d := p.differences(a.answer, m); len(d) > 0 {
		p.missAnswer(m, a.answer, d)
		return
	}
	p.match(a.answer, m)
}

// match notes that the recorded message exp has come as m.
func (p *player) match(exp *expectedMessage, m *arrival) {
	l := exp.lane
	recorded := p.bytesOf(exp)
	p.ids.LearnFrom(exp.method, recorded, m.raw)
	if exp.kind == wire.Request {
		p.ids.Learn(dialect.RequestID, exp.id, m.id)
		if !exp.refused {
			l.open = append(l.open, exp)
		}
		p.begin(exp, m, recorded)
		if p.watcher != nil {
			p.watcher.Matched(exp.seq, m.id)
		}
	}
	exp.came, exp.live, exp.batch = true, m.id, m.batch
	p.matched = exp.seq
	if exp.kind != wire.Response {
		p.unindex(exp)
	}
	p.kept -= len(exp.raw)
	exp.raw = nil
	p.report.Matched++
	if cancelsMCP(exp.method) && l.kind == ofCall {
		l.done = true
	}
	if p.pace.Speed > 0 {
		now := time.Now()
		l.clock.tick(exp.at, now)
		if exp == p.leader() {
			p.main.clock.tick(exp.at, now)
		}
	}
	p.wake(l)
	p.wake(p.main)
	p.wake(p.otherLines)
	if s := p.sessions[exp.session]; s != nil {
		p.wake(s)
	}
}

// leader returns the message that the next frame of the connection's own lane waits for,
// or nil.
func (p *player) leader() *expectedMessage {
	if len(p.main.pending) > 0 {
		return p.main.pending[0].after
	}
	return p.lastExpected
}

// begin applies the effects of a request that has come.
func (p *player) begin(exp *expectedMessage, m *arrival, recorded []byte) {
	l := exp.lane
	if l.kind == ofCall {
		p.alive = append(p.alive, l)
	}
	if s := p.sessions[exp.session]; s != nil && dialect.Does(exp.method, dialect.Sets) {
		s.noteSetting(m)
	}
	switch role := dialect.RoleOf(p.protocol, exp.method); {
	case role.Is(dialect.Prompts):
		l.prompted = exp.seq
	case role.Is(dialect.Initializes):
		p.capabilities.initialized(m.e.Params)
	case role.Is(dialect.Opens):
		if p.protocol == dialect.MCP {
			p.capabilities.added = append(p.capabilities.added, bytes.Clone(m.e.Params)) // SEP-1364 has the capabilities here
			break
		}
		l.setup = bytes.Clone(m.e.Params)
		p.learnPaths(l, wire.Scan(recorded).Params, m.e.Params)
	}
}

// learnPaths maps a session's directories, from the params of the recorded setup and of
// the live one.
func (p *player) learnPaths(l *lane, recorded, live []byte) {
	r := &remap.PathMap{}
	r.Learn(wire.ValueAt(recorded, "cwd").Text(), wire.ValueAt(live, "cwd").Text())
	then, now := wire.ValueAt(recorded, "additionalDirectories").Array(), wire.ValueAt(live, "additionalDirectories").Array()
	for i := range min(len(then), len(now)) {
		r.Learn(then[i].Text(), now[i].Text())
	}
	if l.kind == ofSession {
		l.paths = r
	}
	p.paths.Join(r)
}

// relative returns to relative to the directory from, for comparison. It returns to
// unchanged if from is empty or to does not begin with a slash or backslash.
func relative(from, to string) string {
	from, to = strings.ReplaceAll(from, `\`, "/"), strings.ReplaceAll(to, `\`, "/")
	if from == "" || !strings.HasPrefix(to, "/") {
		return to
	}
	up := ""
	for dir := path.Clean(from); ; dir = path.Dir(dir) {
		if rest, ok := strings.CutPrefix(path.Clean(to)+"/", strings.TrimSuffix(dir, "/")+"/"); ok {
			return up + rest
		}
		if dir == "/" || dir == "." {
			return to
		}
		up += "../"
	}
}
