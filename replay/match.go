package replay

import (
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A Matching says what to compare between a message of the client and a recorded one.
type Matching uint8

// The ways to match. Ids made by the client are never compared. Paths inside the
// session's directories are compared relative to those directories.
const (
	MatchContent Matching = iota // the fields that dialect.MatchFields returns
	MatchMethod                  // the method and the session, and nothing of answers
	MatchExact                   // every value
)

var matchingNames = [...]string{"content", "method", "exact"}

// String returns content, method or exact.
func (m Matching) String() string { return wire.Name(matchingNames[:], uint8(m)) }

// UnmarshalText parses a name that String returns.
func (m *Matching) UnmarshalText(text []byte) error {
	return wire.ParseName(matchingNames[:], "matching", text, (*uint8)(m))
}

// index makes a request or notification available to candidates.
func (p *player) index(exp *expectedMessage) {
	key := expectedKey{exp.method, exp.session}
	q := p.waiting[key]
	if q == nil {
		q = &queue{}
		p.waiting[key] = q
	}
	q.add(exp)
}

// unindex removes a message that has come. It compacts the queue once half of its messages
// have come.
func (p *player) unindex(exp *expectedMessage) {
	key := expectedKey{exp.method, exp.session}
	q := p.waiting[key]
	if q == nil {
		return
	}
	if q.used++; 2*q.used < len(q.messages) {
		return
	}
	q.messages, q.used = slices.DeleteFunc(q.messages, func(exp *expectedMessage) bool { return exp.came }), 0
	if len(q.messages) == 0 {
		delete(p.waiting, key)
	}
}

// candidates calls try with the messages that have a key and have not come, in tape
// order, until try returns true. It reads further on the tape while more returns true.
func (p *player) candidates(key expectedKey, more func() bool, try func(exp *expectedMessage) bool) {
	p.seeking = true
	defer func() { p.seeking = false }()
	for i := 0; ; i++ {
		q := p.waiting[key]
		for q == nil || i >= len(q.messages) {
			if !more() || !p.readNext() {
				return
			}
			q = p.waiting[key]
		}
		if exp := q.messages[i]; !exp.came && !exp.lane.dead && try(exp) {
			return
		}
	}
}

// find returns the recorded message that matches m. Otherwise found is nil, near is the
// message with the fewest differences (the first such on the tape), and differs holds
// those differences. For methods that must come in recorded order, find considers only
// the next message. A session/new that matches none gets the first.
func (p *player) find(m *arrival) (found, near *expectedMessage, differs []Difference) {
	key := expectedKey{m.method, m.session}
	more := p.moreOf(m)
	try := func(exp *expectedMessage) bool {
		d := p.differences(exp, m)
		switch {
		case len(d) == 0:
			found = exp
		case near == nil || len(d) < len(differs):
			near, differs = exp, d
		}
		return found != nil || inOrder(m.method)
	}
	if m.kind == wire.Request && dialect.Does(m.method, dialect.Creates) && p.protocol != dialect.MCP {
		try = p.sameDir(m, try, &more)
	}
	p.candidates(key, more, try)
	if found == nil && dialect.Does(m.method, dialect.Creates) {
		p.candidates(key, p.always, func(exp *expectedMessage) bool {
			found = exp
			return true
		})
	}
	return found, near, differs
}

// sameDir wraps try for session/new, so that it accepts only a session whose directory,
// relative to the recorded process, is the client's directory relative to ours. If the
// tape has no such session, sameDir also sets more so that find stops reading the tape.
func (p *player) sameDir(m *arrival, try func(*expectedMessage) bool, more *func() bool) func(*expectedMessage) bool {
	dir := relative(p.agent.Cwd, m.e.Params.Get("cwd").Text())
	if !p.setupDirs[dir] {
		*more = func() bool { return false }
	}
	return func(exp *expectedMessage) bool {
		then := wire.ValueAt(wire.Scan(p.bytesOf(exp)).Params, "cwd").Text()
		return relative(p.recordedCwd, then) == dir && try(exp)
	}
}

// inOrder reports whether messages of a method must come in recorded order within their
// session.
func inOrder(method string) bool {
	return dialect.RoleOf(dialect.ACP, method).Is(dialect.Prompts | dialect.Restores | dialect.Closes)
}

// moreOf returns the more function with which candidates finds m.
func (p *player) moreOf(m *arrival) func() bool {
	switch {
	case m.kind == wire.Notification && optional(m.method), dialect.Does(m.method, dialect.Pings):
		near := 256 // frames: finding a match is not important
		return func() bool {
			near--
			return near >= 0
		}
	case dialect.Does(m.method, dialect.CancelsTurns):
		return func() bool { // it belongs to the open turn
			l := p.sessions[m.session]
			if l == nil || l.done || !l.running() {
				return false
			}
			q := p.waiting[expectedKey{dialect.Prompt, m.session}]
			return q == nil || q.first() == nil
		}
	case m.session != "":
		return func() bool {
			l := p.sessions[m.session]
			return l == nil || !l.done
		}
	}
	return p.always
}

func (p *player) always() bool { return true }

// bytesOf returns a recorded message of the client. It is valid until the next
// call.
func (p *player) bytesOf(exp *expectedMessage) []byte {
	if exp.raw != nil {
		return exp.raw
	}
	f, err := p.recording.readAgain(exp.seq)
	if err != nil {
		p.report.note("frame %d cannot be compared: %v", exp.seq, err)
		return nil
	}
	if exp.entry >= 0 {
		return nth(f.Raw, exp.entry)
	}
	return f.Raw
}

// A Difference is one value that differs between a message of the client and the recorded
// one.
type Difference struct {
	Path string // below params or result
	Want string // JSON; empty if the recorded message has no such value
	Got  string // JSON; empty if the client's message has none
}

// differences returns the differences between m and a recorded message.
func (p *player) differences(exp *expectedMessage, m *arrival) []Difference {
	if p.agent.Matching == MatchMethod {
		return nil
	}
	recorded := p.bytesOf(exp)
	recorded = remap.Apply(recorded, p.ids.ClientEdits(exp.method, recorded, m.raw))
	recorded = p.pathsOf(exp.lane).Rewrite(recorded)
	then := wire.Scan(recorded)
	if exp.long {
		then = wire.ScanPrefix(recorded)
	}
	want, got := p.comparedFields(exp, then), p.comparedFields(exp, m.e)
	if dialect.Does(exp.method, dialect.Initializes) && exp.kind == wire.Request {
		return p.compareInitialize(exp, want, got)
	}
	return difference(want, got, exp.long && m.e.Kind == wire.Oversized)
}

// comparedFields returns the fields of a message that the matching compares.
func (p *player) comparedFields(exp *expectedMessage, e wire.Envelope) []dialect.Field {
	answer := exp.kind == wire.Response
	switch {
	case p.agent.Matching == MatchExact && answer && e.Error == nil:
		return dialect.AllMatchFields(e.Result)
	case p.agent.Matching == MatchExact && answer:
		return dialect.AllMatchFields(e.Error)
	case p.agent.Matching == MatchExact:
		return dialect.AllMatchFields(e.Params)
	case answer:
		return dialect.ResponseMatchFields(exp.method, e)
	}
	return dialect.MatchFields(exp.method, e.Params)
}

// compareInitialize compares the protocol version, and with MatchExact the rest. A client
// that offers a newer version than the agreed one can speak that one too.
func (p *player) compareInitialize(exp *expectedMessage, want, got []dialect.Field) []Difference {
	for !exp.answered && p.readNext() {
	}
	enough := exp.version
	pick := func(fields []dialect.Field) string {
		for _, f := range fields {
			if f.Path == "protocolVersion" {
				return f.Value
			}
		}
		return ""
	}
	if enough == "" {
		enough = pick(want) // initialize failed on the tape
	}
	if have := pick(got); have != pick(want) && !reaches(have, enough) { // the agent may have answered with a newer version than the client offered
		return []Difference{{"protocolVersion", enough, have}}
	}
	if p.agent.Matching != MatchExact {
		return nil
	}
	return difference(want, got, false)
}

// reaches reports whether version have is no older than enough. Versions are numbers in
// ACP and dates in MCP.
func reaches(have, enough string) bool {
	a, errA := strconv.Atoi(have)
	b, errB := strconv.Atoi(enough)
	if errA == nil && errB == nil {
		return a >= b
	}
	return have >= enough
}

// difference compares fields by path. cut means that only the beginnings of the messages
// are known: their last values may be cut off, so they are not compared.
func difference(want, got []dialect.Field, cut bool) []Difference {
	if cut {
		want, got = want[:max(len(want)-1, 0)], got[:max(len(got)-1, 0)]
	}
	if rpc.FieldsFit(want, got, rpc.AnyString) {
		return nil
	}
	have := make(map[string]string, len(got))
	for _, f := range got {
		have[f.Path] = f.Value
	}
	var d []Difference
	for _, f := range want {
		value, ok := have[f.Path]
		delete(have, f.Path)
		if !ok || !rpc.Fits(f.Value, value, rpc.AnyString) {
			d = append(d, Difference{f.Path, f.Value, value})
		}
	}
	for _, f := range got {
		if value, left := have[f.Path]; left {
			d = append(d, Difference{f.Path, "", value})
			delete(have, f.Path)
		}
	}
	return d
}
