package drive

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// readPlans reads the plans of all connections on tapes.
func readPlans(tapes []*record.Tape, session string, anew bool) ([]*plan, error) {
	var plans []*plan
	r := planReader{made: make(map[string]bool), chosen: rpc.Chosen{Session: session}, anew: anew}
	for _, t := range tapes {
		more, err := r.read(t)
		if err != nil {
			return nil, err
		}
		plans = append(plans, more...)
	}
	if len(plans) == 0 {
		return nil, errors.New("there is no message of a client to replay")
	}
	return plans, nil
}

// A planReader reads the plans of some tapes.
type planReader struct {
	made   map[string]bool // sessions made so far
	anew   bool            // as Client.AsNew
	chosen rpc.Chosen

	// Of the tape that is being read:
	tape  *record.Tape
	found bool // the tape has a message of the chosen session

	// Of the connection:
	plan     *plan
	trace    trace.Trace
	calls    dialect.OpenRequests[*plannedCall]     // of the client
	requests dialect.OpenRequests[*recordedRequest] // of the agent
	tokens   dialect.OpenRequests[*recordedRequest] // of the agent, by progress token
}

// read reads the plans of the connections on a tape.
func (r *planReader) read(t *record.Tape) ([]*plan, error) {
	r.tape, r.chosen.Made, r.found = t, make(map[uint64]string), false
	for f, err := range t.Rows(1) {
		if err != nil {
			return nil, err
		}
		for _, a := range append([]dialect.Annotation{f.Annotation}, f.Entries...) {
			if a.Events.Has(dialect.SessionOpened) && a.Request != 0 {
				r.chosen.Made[a.Request] = a.Session
			}
		}
	}
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	var plans []*plan
	begin := func() {
		r.plan = &plan{cwd: info.Start.Cwd}
		r.plan.thread("")
		r.trace = trace.Trace{}
		r.trace.Next(dialect.Connection{Protocol: info.Connection.Protocol})
		r.calls = dialect.OpenRequests[*plannedCall]{}
		r.requests, r.tokens = dialect.OpenRequests[*recordedRequest]{}, dialect.OpenRequests[*recordedRequest]{}
	}
	begin()
	end := func() {
		r.plan.conn = r.trace.Runs[0]
		if slices.ContainsFunc(r.plan.threads, func(t *thread) bool { return len(t.moves) > 0 }) {
			plans = append(plans, r.plan)
		}
	}
	connections := dialect.Connections{Protocol: info.Connection.Protocol}
	for f, err := range t.Frames(1) {
		if err != nil {
			return nil, err
		}
		if connections.StartsNext(&f) {
			end()
			begin()
		}
		if !f.AtClient() {
			continue
		}
		if err := r.frame(&f); err != nil {
			return nil, err
		}
	}
	end()
	if !r.found && r.chosen.Session != "" {
		return nil, fmt.Errorf("the tape has nothing of session %s", r.chosen.Session)
	}
	return plans, nil
}

// frame adds the next frame to the plan. All messages of the client in one frame form one
// move.
func (r *planReader) frame(f *dialect.Frame) error {
	r.trace.Add(f)
	var m *move
	for f, e := range f.Messages {
		if !r.chosen.Has(f.Seq, &f.Annotation) {
			continue
		}
		r.found = r.found || f.Session == r.chosen.Session
		switch {
		case f.Kind != wire.Oversized:
		case f.Dir == wire.AgentToClient:
			e = rpc.Envelope(r.tape, f)
		default:
			if err := r.complete(f, &e); err != nil {
				return err
			}
		}
		switch {
		case f.Dir == wire.AgentToClient && e.Method == nil:
			r.agentAnswer(f, e)
		case f.Dir == wire.AgentToClient:
			r.agentSays(f, e)
		case e.Method == nil:
			r.clientAnswer(f, e)
		default:
			var err error
			if m, err = r.clientSays(m, f, e); err != nil {
				return err
			}
		}
		r.plan.thread(f.Session).progress.observe(f, e)
	}
	if m != nil {
		m.batch = f.Kind == wire.Batch
	}
	return nil
}

// complete reads the rest of a message that is cut off in its frame.
func (r *planReader) complete(f *dialect.Frame, e *wire.Envelope) error {
	var b bytes.Buffer
	if err := r.tape.WriteFrame(&b, f.Seq); err != nil {
		return err
	}
	f.Raw = b.Bytes()
	if id := wire.ValueAt(f.Raw, "id"); id.Exists() {
		e.ID = []byte(id.Raw())
	}
	return nil
}

// clientSays adds a request or notification to a move. m is the move begun by earlier
// messages of the same batch, or nil.
func (r *planReader) clientSays(m *move, f *dialect.Frame, e wire.Envelope) (*move, error) {
	session := f.Session
	opened, opens := r.chosen.Made[f.Seq]
	initializes := f.Does(dialect.Initializes) && !r.plan.initialized // everything waits for initialize, even if it makes a session
	r.plan.initialized = r.plan.initialized || initializes
	if opens && session == "" && !f.Does(dialect.Copies) && !initializes { // a fork belongs to the session that it copies
		session = opened
	}
	t := r.plan.thread(session)
	if m == nil {
		m = &move{seq: f.Seq, method: f.Method, session: session, checkpoint: t.progress.checkpoint(), offers: t.offers}
		if token, by := dialect.NamedID(f.Method, dialect.ProgressToken, f.Dir, e.Params); by == wire.AgentToClient {
			m.tellsOf = r.tokens.Find(by, f.Stream, token)
		}
		m.params = slices.Clone(e.Params)
		t.moves = append(t.moves, m)
	}
	raw := slices.Clone(f.Raw)
	kind, _ := dialect.Lookup(dialect.ACP, f.Method)
	if asks := e.Params.Get("sessionId").Text(); opens && (kind.Role.Is(dialect.Restores) || f.Does(dialect.Copies) && r.anew) && !r.made[asks] {
		if !r.anew {
			return m, fmt.Errorf("%w: frame %d asks for session %s", ErrUnmade, f.Seq, asks)
		}
		raw = asNew(raw)
		m.method = dialect.NewSession
	}
	if opens {
		r.made[opened] = true
	}
	m.messages = append(m.messages, raw)
	if e.ID != nil {
		c := &plannedCall{seq: f.Seq, id: string(e.ID), method: f.Method, session: session}
		m.calls = append(m.calls, c)
		r.calls.Ask(f.Dir, f.Stream, e.ID, c)
		if f.Does(dialect.Prompts) {
			t.turns = append(t.turns, c)
		}
	}
	return m, nil
}

// asNew turns a request that loads, resumes or forks a session into session/new.
func asNew(raw []byte) []byte {
	raw = wire.Set(raw, wire.Quote(dialect.NewSession), "method")
	raw = wire.Delete(raw, "params", "sessionId")
	return wire.Delete(raw, "params", "replayFrom")
}

// agentAnswer adds a response of the agent.
func (r *planReader) agentAnswer(f *dialect.Frame, e wire.Envelope) {
	c := r.calls.Answer(f.Dir, f.Stream, e.ID)
	if c == nil {
		return
	}
	c.failed = f.Failed
	c.made = remap.MadeByAgent(c.method, f.Raw)
	c.answer = &awaited{seq: f.Seq, what: fmt.Sprintf("the answer to %s (frame %d)", c.method, c.seq)}
	t := r.plan.thread(c.session)
	t.awaited = append(t.awaited, c.answer)
	t.offers.answered(e)
	if f.Session != "" && f.Session != c.session { // a fork
		made := r.plan.thread(f.Session)
		made.awaited = append(made.awaited, c.answer)
		r.made[f.Session] = true
	}
	if f.Failed || f.Events.Has(dialect.TurnEnded) {
		t.turns = slices.DeleteFunc(t.turns, func(p *plannedCall) bool { return p == c })
	}
}

// agentSays adds a request or notification of the agent.
func (r *planReader) agentSays(f *dialect.Frame, e wire.Envelope) {
	t := r.plan.thread(f.Session)
	if e.ID != nil {
		a := newRecordedRequest(f, e, &r.trace)
		r.plan.answers.add(a)
		r.requests.Ask(f.Dir, f.Stream, e.ID, a)
		if token := dialect.MadeID(f.Method, dialect.ProgressToken, e.Params); token != nil {
			r.tokens.Ask(f.Dir, f.Stream, token, a)
			a.openCalls = slices.Collect(r.calls.All())
		}
		return
	}
	t.offers.updated(e)
	if f.Events.Has(dialect.TurnEnded) {
		end := &awaited{seq: f.Seq, what: fmt.Sprintf("the end of the turn (frame %d)", f.Seq), turn: true}
		t.awaited = append(t.awaited, end)
		for _, c := range t.turns {
			c.turn = end
		}
		t.turns = nil
	}
}

// clientAnswer adds a response of the client.
func (r *planReader) clientAnswer(f *dialect.Frame, e wire.Envelope) {
	a := r.requests.Answer(f.Dir, f.Stream, e.ID)
	if a == nil {
		return
	}
	a.answer, a.failed = slices.Clone(f.Raw), f.Failed
	moves := r.plan.thread(a.session).moves
	if n := len(moves); n > 0 && moves[n-1].seq > a.seq {
		a.after = moves[n-1].seq
	}
}
