package matrix

import (
	"cmp"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Reader adds the frames of one tape to a Matrix.
type Reader struct {
	matrix  *Matrix
	tape    string // id or file
	name    string // agent's name in the store
	checker *conform.Checker
	judged  int // findings handled so far
	trace   trace.Trace
	ends    trace.TurnEnds

	connections dialect.Connections
	link        link
	last        uint64 // Seq of the last frame
	servers     bool   // it is known which servers the agent started
}

// A link is the current connection with its peer in the Matrix.
type link struct {
	peer   *Peer // nil: unknown so far
	offers []offer
	frames int             // messages not yet counted
	hello  []byte          // the client's params of initialize
	usage  int             // what the agent has reported about its usage
	setUps map[string]bool // by column, whether a capability advertised when a session opens was offered
}

// Read returns a Reader of a tape; evidence refers to the tape by its id or its file.
// name is the agent's name in the store.
func (m *Matrix) Read(id, name string, o conform.Options) *Reader {
	r := &Reader{matrix: m, tape: id, name: name, checker: conform.NewChecker(o), connections: dialect.Connections{Protocol: o.Protocol}}
	r.trace.Brief = true
	if m.Side == dialect.AgentSide {
		r.trace.Side = trace.AgentSide
	}
	return r
}

// Add processes the next frame of the tape, with its bytes.
func (r *Reader) Add(f *dialect.Frame) {
	r.trace.Add(f)
	r.events()
	r.last = f.Seq
	if r.connections.StartsNext(f) {
		r.rest()
		r.judge()
		r.link = link{}
	}
	r.checker.Add(f)
	if !r.sees(f) || !f.Kind.IsMessage() {
		return
	}
	for m, e := range f.Messages {
		r.message(m, e)
	}
	if r.link.frames++; r.link.peer != nil {
		r.link.peer.Frames += r.link.frames
		r.link.frames = 0
	}
}

// End marks the tape as finished.
func (r *Reader) End() {
	r.trace.End()
	r.events()
	r.rest()
	r.checker.End()
	r.judge()
	r.habits()
}

// sees reports whether a frame crossed the peer's end of the connection.
func (r *Reader) sees(f *dialect.Frame) bool {
	if r.matrix.Side == dialect.AgentSide {
		return f.AtAgent()
	}
	return f.AtClient()
}

func (r *Reader) message(f *dialect.Frame, e wire.Envelope) {
	r.usage(f, e)
	switch f.Kind {
	case wire.Request:
		r.request(f, e)
	case wire.Notification:
		r.used(f.Method, Cell{Worked: 1}, f.Seq)
		r.used(f.Update, Cell{Worked: 1}, f.Seq)
	case wire.Response:
		r.response(f, e)
	}
}

func (r *Reader) request(f *dialect.Frame, e wire.Envelope) {
	if f.Does(dialect.Initializes) || r.link.hello == nil && f.Dir == wire.ClientToAgent { // without initialize, every request contains it
		r.link.hello = append(r.link.hello[:0], e.Params...)
	}
}

func (r *Reader) response(f *dialect.Frame, e wire.Envelope) {
	if f.Events.Has(dialect.Initialized) || f.Does(dialect.Discovers) && e.Error == nil {
		r.meet(e, f.Method)
	}
	if r.link.peer == nil || sideOf(f.Dir) != r.matrix.Side {
		return
	}
	outcome := Cell{Worked: 1}
	if e.Error != nil {
		code := wire.Get(e.Error, "code")
		r.link.peer.failed(string(code))
		outcome = Cell{Failed: 1}
		if n, _ := wire.Integer(code); n == wire.MethodNotFound {
			outcome = Cell{Missing: 1}
		}
	}
	r.used(f.Method, outcome, f.Seq)
	if e.Error == nil && f.Events.Has(dialect.SessionOpened) {
		r.setUp(e.Result, f.Seq)
	}
}

// meet finds the peer and its offers when the answer to a method settles the dialect. A
// server of the revision without initialize lists its offers only in the answer to
// server/discover.
func (r *Reader) meet(e wire.Envelope, method string) {
	c := r.checker.ConnectionOf(faultOf(r.matrix.Side))
	if r.link.offers != nil {
		return
	}
	name, version, said := cmp.Or(c.Agent, r.name), c.AgentVersion, e.Result
	if r.matrix.Side == dialect.ClientSide {
		name, version, said = cmp.Or(c.Client, "unnamed"), c.ClientVersion, r.link.hello
	}
	p := r.matrix.peer(c.Protocol, name, version)
	if p == nil {
		return
	}
	r.link.peer = p
	if p.tape != r.tape {
		p.tape = r.tape
		p.Tapes++
	}
	if c.Dialect == dialect.MCPModern && r.matrix.Side == dialect.AgentSide && !dialect.Does(method, dialect.Discovers) {
		return
	}
	r.link.offers = offers(c.Dialect, r.matrix.Side, said)
	seen := make(map[string]bool)
	count := func(column string, offered bool) {
		cell := p.cell(column)
		if !seen[column] {
			cell.Connections++
		}
		if seen[column] = seen[column] || offered; offered {
			cell.Offered++
		}
	}
	for _, o := range r.link.offers {
		count(o.column, o.offered)
	}
	if c.Protocol == dialect.ACP && r.matrix.Side == dialect.AgentSide {
		for _, q := range required {
			if !seen[q.name] {
				count(q.name, true)
			}
			r.link.offers = append(r.link.offers, offer{dialect.Capability{Side: dialect.AgentSide, Allows: []string{q.method}}, q.name, true})
		}
	}
}

// setUp notes what the answer that opens a session offers. It counts once for a
// connection with many sessions.
func (r *Reader) setUp(result []byte, seq uint64) {
	for _, c := range dialect.Capabilities(r.checker.ConnectionOf(faultOf(r.matrix.Side)).Dialect) {
		if c.Side != dialect.AgentSide || c.Form != dialect.AtSetup {
			continue
		}
		name := columnName(c)
		cell := r.link.peer.cell(name)
		was, met := r.link.setUps[name]
		if !met {
			cell.Connections++
			r.link.offers = append(r.link.offers, offer{c, name, true})
		}
		v := wire.Get(result, c.Path)
		offers := wire.Present(v)
		if offers && !was {
			cell.Offered++
			cell.shows(Unused, Where{r.tape, seq})
		}
		if r.link.setUps == nil {
			r.link.setUps = make(map[string]bool)
		}
		r.link.setUps[name] = was || offers
	}
}

// used adds the outcome of using a method or a variant of session/update to the
// capability that allows it: if there are several, the first offered one.
func (r *Reader) used(name string, outcome Cell, seq uint64) {
	if name == "" || r.link.peer == nil {
		return
	}
	c := r.link.allowing(name)
	if c == nil {
		return
	}
	cell := r.link.peer.cell(c.column)
	cell.Worked += outcome.Worked
	cell.Missing += outcome.Missing
	cell.Failed += outcome.Failed
	mark := Works
	if outcome.Missing > 0 {
		mark = Broken
	}
	cell.shows(mark, Where{r.tape, seq})
}

// allowing returns the capability that allows a method or variant.
func (l *link) allowing(name string) (found *offer) {
	for i := range l.offers {
		for _, allowed := range l.offers[i].Allows {
			if allowed == name && (found == nil || !found.offered && l.offers[i].offered) {
				found = &l.offers[i]
			}
		}
	}
	return found
}

func sideOf(dir wire.Direction) dialect.Side {
	if dir == wire.ClientToAgent {
		return dialect.ClientSide
	}
	return dialect.AgentSide
}
