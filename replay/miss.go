package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// ErrDiverged means that the client did something other than the recorded client.
var ErrDiverged = errors.New("the client left the tape")

// A Miss is something that the client did and the tape lacks, or that is on the tape and
// the client did not do. It contains no secret that an export would remove.
type Miss struct {
	Text     string       // what arrived, or failed to arrive
	Expected Expected     // the recorded message closest to what arrived, or the one that never arrived
	Differs  []Difference // from that
	New      bool         // the tape has nothing in its place: a live agent could have served it (ModeNew)
}

// An Expected names a recorded message of the client. The zero value names none.
type Expected struct {
	Seq    uint64 `json:"seq"`
	Method string `json:"method"` // of an answer: the method of its request
}

func (e Expected) String() string {
	if e.Seq == 0 {
		return "nothing like it is on the tape"
	}
	return fmt.Sprintf("the tape has %s in frame %d", e.Method, e.Seq)
}

// String returns the miss as one line.
func (m Miss) String() string {
	var b strings.Builder
	b.WriteString(m.Text)
	if len(m.Differs) > 0 || m.Expected.Seq > 0 {
		b.WriteString("; ")
		b.WriteString(m.Expected.String())
	}
	for i, d := range m.Differs {
		if i == 3 {
			fmt.Fprintf(&b, ", and %d more", len(m.Differs)-i)
			break
		}
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s is %s, not %s", d.Path, shown(d.Got), shown(d.Want))
	}
	return b.String()
}

func shown(value string) string {
	if value == "" {
		return "missing"
	}
	return shorten(value)
}

// shorten cuts text that is too long for a line of a report. It returns valid UTF-8.
func shorten(text string) string {
	const limit = 100
	text = strings.ToValidUTF8(text, "\ufffd")
	n := 0
	for i := range text {
		if n == limit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// MarshalJSON returns the value of data.acptap in the error that the client gets.
func (m Miss) MarshalJSON() ([]byte, error) {
	data := struct {
		Miss     string           `json:"miss"`
		Expected *Expected        `json:"expected,omitempty"`
		Differs  []jsonDifference `json:"differs,omitempty"`
		New      bool             `json:"new,omitempty"`
	}{Miss: m.Text, New: m.New}
	if m.Expected.Seq > 0 {
		data.Expected = &m.Expected
	}
	for _, d := range m.Differs {
		data.Differs = append(data.Differs, jsonDifference{d.Path, value(d.Want), value(d.Got)})
	}
	return json.Marshal(data)
}

type jsonDifference struct {
	Path string `json:"path"`
	Want any    `json:"want"` // null: there is none
	Got  any    `json:"got"`
}

// value returns a field's value for an error: as JSON, or its beginning as text if it is
// long.
func value(field string) any {
	const limit = 4096
	switch {
	case field == "":
		return nil
	case len(field) > limit || !json.Valid([]byte(field)):
		return strings.ToValidUTF8(field[:min(limit, len(field))], "")
	}
	return json.RawMessage(field)
}

// miss reports a request or notification that is not on the tape. It answers a request with
// an error, and ends the lane of a notification.
func (p *player) miss(m *arrival, near *expectedMessage, differs []Difference) {
	what := "was sent, and is not on the tape"
	if len(differs) > 0 {
		what = "is not the recorded one"
	} else if near == nil {
		if near = p.nextExpected(m); near != nil {
			what = "is not what comes next on the tape"
		}
	}
	miss := Miss{Text: m.method + " " + what, Differs: hidden(m.method, differs), New: m.kind == wire.Request && p.isNew(m)}
	if near != nil {
		miss.Expected = Expected{near.seq, near.method}
	}
	p.report.miss(miss)
	if m.kind == wire.Request {
		p.refuse(m.id, &miss)
		return
	}
	p.end(p.laneFor(m, near), miss)
}

// missAnswer reports an answer that is not the recorded one, and ends the lane of the
// request. near is the recorded answer, or nil if no such request is open.
func (p *player) missAnswer(m *arrival, near *expectedMessage, differs []Difference) {
	if near == nil {
		p.report.miss(Miss{Text: fmt.Sprintf("an answer came to a request %s that is not open", shorten(string(m.id)))})
		return
	}
	miss := Miss{
		Text:     fmt.Sprintf("%s, frame %d, was answered otherwise", near.method, near.request.seq),
		Expected: Expected{near.seq, near.method},
		Differs:  hidden(near.method, differs),
	}
	p.report.miss(miss)
	p.end(near.lane, miss)
}

// nextExpected returns the message expected instead of m: the next one of its session,
// otherwise the first on the tape with the same method, otherwise the first of all; nil
// if there is none.
func (p *player) nextExpected(m *arrival) *expectedMessage {
	if l := p.sessions[m.session]; l != nil {
		if exp := l.expected.first(); exp != nil {
			return exp
		}
	}
	var near *expectedMessage
	for key, q := range p.waiting {
		exp := q.first()
		if exp == nil {
			continue
		}
		same := key.method == m.method
		if near == nil || same && near.method != m.method || same == (near.method == m.method) && exp.compare(near) < 0 {
			near = exp
		}
	}
	return near
}

func (p *player) laneFor(m *arrival, near *expectedMessage) *lane {
	if near != nil {
		return near.lane
	}
	if l := p.sessions[m.session]; l != nil {
		return l
	}
	return p.main
}

// end ends a lane and answers its open requests with an error. If there are none, only
// the agent's exit can tell the client.
func (p *player) end(l *lane, miss Miss) {
	l.dead = true
	if len(l.open) == 0 {
		p.report.fatal = true
	}
	for _, exp := range l.open {
		p.refuse(exp.live, &miss)
	}
	l.open, l.pending = nil, nil
	p.wake(p.main)
	p.wake(p.otherLines)
}

// refuse answers a request with the error that reports a miss. It uses the code of an
// internal error: other codes make some clients log in, or do without a seemingly missing
// method or session.
func (p *player) refuse(id []byte, miss *Miss) {
	data, err := json.Marshal(map[string]*Miss{"acptap": miss})
	if err != nil {
		panic("replay: " + err.Error()) // acptap made the value
	}
	p.fail(id, wire.InternalError, miss.String(), data)
}

// fail answers a request with an error that names acptap as its source. data is JSON,
// or nil.
func (p *player) fail(id []byte, code int, why string, data []byte) {
	p.out.Write(append(wire.NewFailure(id, code, "acptap replay: "+why, data), '\n'))
	p.told(0, id)
}

// stalled returns a lane that cannot continue until the client acts, and how long to wait
// for the client. Of several it returns the one with the shortest wait. It returns nil if
// there is none.
func (p *player) stalled(patience time.Duration) (stuck *lane, after time.Duration) {
	try := func(l *lane) {
		if l.dead || len(l.open) == 0 && !l.running() {
			return
		}
		wait := patience
		if exp := l.awaited(); exp != nil {
			wait = max(wait, 3*exp.gap)
		} else if !p.finished || len(l.open) == 0 {
			return
		}
		if stuck == nil || cmp.Or(cmp.Compare(wait, after), cmp.Compare(l.awaits(), stuck.awaits()), cmp.Compare(l.session, stuck.session)) < 0 {
			stuck, after = l, wait
		}
	}
	for _, l := range p.sessions {
		try(l)
	}
	for _, l := range p.alive {
		if l.kind == ofCall {
			try(l)
		}
	}
	return stuck, after
}

// awaited returns the first message that a lane waits for.
func (l *lane) awaited() *expectedMessage {
	exp := l.expected.first()
	if s := l.sets.first(); s != nil && (exp == nil || s.seq < exp.seq) {
		exp = s
	}
	return exp
}

// awaits returns the number of the frame that a lane waits for, or 0.
func (l *lane) awaits() uint64 {
	if exp := l.awaited(); exp != nil {
		return exp.seq
	}
	return 0
}

// stall ends a lane whose message from the client did not come in time.
func (p *player) stall(l *lane) {
	miss := Miss{Text: "the tape ends before the answer"}
	if exp := l.awaited(); exp != nil {
		what := exp.method
		if exp.kind == wire.Response {
			what = "the answer to " + what
		}
		miss = Miss{Text: what + " did not come", Expected: Expected{exp.seq, exp.method}}
	}
	p.report.miss(miss)
	p.end(l, miss)
}

// hidden returns differences without their secrets. method is the messages' method.
func hidden(method string, differs []Difference) []Difference {
	list := make([]Difference, len(differs))
	for i, d := range differs {
		list[i] = Difference{d.Path, rpc.HideSecrets(method, d.Path, d.Want), rpc.HideSecrets(method, d.Path, d.Got)}
	}
	return list
}
