package conform

import (
	"strconv"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A judge follows a tape from one point of view: that of one end of the connection, which
// is then the only one it can blame, or that of both if acptap changed nothing.
type judge struct {
	checker *Checker
	side    Fault // Sender: both

	connections dialect.Connections
	tracker     *dialect.Tracker // determines the dialect
	conn        *connection
	past        past // of earlier connections
	tables      tables
	table       *table
	blind       bool // acptap made a frame, so nothing is judged until the next tape

	step   Step    // the current step; reused, so that a chunk allocates nothing
	params members // of the current step
	update members // of its params.update
	report Report
}

func newJudge(c *Checker, side Fault) *judge {
	j := &judge{checker: c, side: side, past: newPast(), tables: tables{}}
	j.begin()
	return j
}

// begin starts a connection.
func (j *judge) begin() {
	j.connections = dialect.Connections{Protocol: j.checker.options.Protocol}
	j.connect()
}

func (j *judge) connect() {
	j.tracker = dialect.NewTracker(j.checker.options.Protocol)
	j.conn = newConnection(&j.past)
	j.choose()
}

// choose selects the rules for the connection as currently known.
func (j *judge) choose() {
	j.conn.Connection = j.tracker.Connection()
	j.connections.Protocol = j.conn.Protocol
	j.table = j.tables.of(j.checker.options.Rules, &j.conn.Connection, j.conn.settled)
}

// next starts another tape.
func (j *judge) next() {
	j.past.keep(j.conn)
	j.blind = false
	j.begin()
}

// sees reports whether a frame passed this point of view.
func (j *judge) sees(f *dialect.Frame) bool {
	switch j.side {
	case Client:
		return f.AtClient()
	case Agent:
		return f.AtAgent()
	}
	return true
}

func (j *judge) add(f *dialect.Frame, e wire.Envelope) {
	if f.Kind == wire.Stderr || j.blind || !j.sees(f) {
		return
	}
	if j.blind = j.side == Sender && f.Origin != wire.Wire; j.blind {
		j.conn.lose("acptap stood between from frame " + number(f.Seq) + " on")
		return
	}
	if j.connections.StartsNext(f) {
		before := j.conn
		j.end()
		j.past.keep(before)
		j.connect()
		j.conn.replies.expectOf(before)
	}
	if f.Stream != 0 && f.Kind != wire.Mark && !j.stream(f, e) {
		return
	}
	j.meet(f)
	switch f.Kind {
	case wire.Mark:
		j.mark(f)
	case wire.Batch:
		j.batch(f)
	case wire.Body: // no protocol defines its content
	default:
		j.step = Step{Frame: f, Envelope: e, About: &f.Annotation, Entry: -1}
		j.take(&j.step)
	}
}

// meet decides at the first frame whether the tape has the beginning of the connection.
func (j *judge) meet(f *dialect.Frame) {
	c := j.conn
	if c.met || f.Kind == wire.Mark {
		return
	}
	c.met = true
	switch {
	case f.Seq == 1 && j.checker.options.Beginning:
	case f.Kind == wire.Request && (f.Method == "initialize" || f.Method == "server/discover"):
		c.assumed = true
	default:
		c.lose("the beginning of the connection is not on the tape")
	}
}

// batch handles the entries of a batch one by one.
func (j *judge) batch(f *dialect.Frame) {
	whole := Step{Frame: f, About: &f.Annotation, Entry: -1}
	j.prepare(&whole)
	j.run(&whole, wire.Batch)
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		if i == len(f.Entries) {
			j.conn.lose("only the first entries of the batch in frame " + number(f.Seq) + " are read")
			return false
		}
		s := Step{Frame: f, Envelope: wire.Scan(entry), About: &f.Entries[i], Entry: i, entry: entry}
		j.take(&s)
		return true
	})
}

// take shows one message to the rules, then updates the state with it.
func (j *judge) take(s *Step) {
	j.prepare(s)
	kind := s.Kind()
	if kind == wire.Oversized {
		j.oversized(s)
	}
	if kind == wire.Invalid && tornMessage(s.Frame.Raw) {
		j.conn.lose("frame " + number(s.Frame.Seq) + " may be a torn message")
	}
	if j.settle(s) {
		j.choose()
	}
	if j.conn.assumed && j.conn.Protocol == dialect.MCP && s.showsMoreBefore() {
		j.conn.lose("the connection may have begun before initialize")
	}
	if s.showsAnother() {
		j.conn.lose("frame " + number(s.Frame.Seq) + " may be of another client than those before it, as no id told the clients apart")
	}
	j.run(s, kind)
	j.conn.observe(s)
	if s.Frame.Stream != 0 {
		j.observeHTTP(s)
	}
}

// prepare fills in the objects that a step belongs to.
func (j *judge) prepare(s *Step) {
	s.judge, s.Conn, s.From = j, j.conn, faultOf(s.Frame.Dir)
	j.params.known, j.update.known = false, false
	if id, foreign := s.About.Foreign(s.Envelope.Params); foreign && s.Conn.Protocol != dialect.MCP { // judged as a session that the client never set up
		own := *s.About
		own.Session, s.About = id, &own
	}
	row, _ := dialect.LookupUpdate(s.About.Update)
	s.Method, s.Update, s.Entity = s.About.Method, s.About.Update, row.Entity
	if dialect.Wraps(s.Method) {
		s.Update = "" // a message of another connection, which no rule here judges
	}
	if s.is(wire.Response) {
		s.Call = j.conn.calls.Find(s.Frame.Dir.Opposite(), s.Frame.Stream, s.Envelope.ID)
		s.Method = ""
		if s.Call != nil {
			s.Method = s.Call.Method
			j.conn.read[s.From] = max(j.conn.read[s.From], s.Call.Seq)
		}
	}
	s.Session = j.conn.session(s.sessionID())
}

// oversized handles a message whose members could not all be read.
func (j *judge) oversized(s *Step) {
	why := "frame " + number(s.Frame.Seq) + " is too large to be read whole"
	switch {
	case s.Method == "", s.is(wire.Notification) && !isNotification(s): // an id may follow the part that was read
		j.conn.lose(why)
	case s.Session != nil:
		s.Session.lose(why)
	}
	if s.Call != nil {
		s.Call.lost = why
	}
}

// isNotification reports whether a step's method is that of a notification.
func isNotification(s *Step) bool {
	row, ok := dialect.Lookup(s.Conn.Protocol, s.Method)
	return ok && row.Form == dialect.AsNotification
}

// settle shows the Tracker frames that may settle the dialect, and reports whether
// anything new is known. An ACP connection speaks one dialect; in MCP any message may
// reveal a session proposal.
func (j *judge) settle(s *Step) bool {
	if j.conn.settled && j.conn.Protocol == dialect.ACP {
		return false
	}
	f := s.Frame.Frame
	f.Raw, f.Kind = s.raw(), s.Kind()
	a, _ := j.tracker.Observe(&f, s.Envelope)
	settled := j.conn.settled || a.Events.Has(dialect.Initialized)
	changed := settled != j.conn.settled || j.tracker.Connection() != j.conn.Connection
	j.conn.settled = settled
	return changed
}

// run calls the rules that look at a step.
func (j *judge) run(s *Step, kind wire.Kind) {
	for rules := range j.table.wanting(s, kind) {
		for _, a := range rules {
			j.call(a, s)
		}
	}
}

func (j *judge) call(a *active, s *Step) {
	if s.Frame != nil && s.Kind() == wire.Response && (a.rule.Needs == Pair && s.Call == nil || a.results && s.Envelope.Error != nil) {
		return
	}
	j.report = Report{judge: j, step: s, active: a}
	a.rule.Check(s, &j.report)
}

// mark handles an event recorded on the tape.
func (j *judge) mark(f *dialect.Frame) {
	c := j.conn
	switch m := wire.ReadMark(f.Frame); {
	case m.Gap != 0:
		c.gap(strconv.FormatInt(m.Gap, 10) + " bytes are missing at frame " + number(f.Seq))
	case m.Damage != 0, m.Error != "", m.Fault != "":
		c.gap("what came at frame " + number(f.Seq) + " could not be read or recorded")
	case m.Signal != "":
		c.signalled = true
		c.closing.signalled(f, m.Signal)
	case m.HTTP != nil:
		c.guessed = c.guessed || m.HTTP.Guessed
		j.head(f, m.HTTP)
	case m.End != nil:
		j.streamEnd(f, m.End)
	case m.EOF:
		c.closed(f)
	case m.Exit != nil:
		c.exited(f, m.Exit)
		j.end()
	}
}

// end shows the end of the connection to the rules, once and only if the tape shows how
// it ended.
func (j *judge) end() {
	c := j.conn
	if c.over || !c.ended() {
		return
	}
	c.over = true
	s := Step{judge: j, Conn: c, Frame: c.closing.last, About: &dialect.Annotation{}, Entry: -1}
	for _, a := range j.table.last {
		j.call(a, &s)
	}
}
