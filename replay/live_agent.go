package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A liveAgent is a real agent that serves what the tape lacks: sessions, the continuation
// of a recorded session, and MCP calls.
type liveAgent struct {
	input  *proxy.Pipe
	inbox  *inbox
	memory *sessionMemory // nil for MCP, or if making it failed
	stop   context.CancelFunc
	ended  chan struct{} // closed when the process has ended
	err    error         // how it ended; valid after ended is closed
	gone   bool          // it has ended, or has refused initialize
	left   bool          // its input was closed to end it
	silent bool          // it gets no notifications/initialized: ACP does not have it

	journal     *record.Recorder                 // may be nil
	initialized bool                             // it has answered initialize
	waiting     []*arrival                       // messages for it that wait for its answer to initialize
	calls       []liveCall                       // open requests of the client, in order
	own         map[string]func(e wire.Envelope) // handle the answers to the player's own requests, by id
	sessions    map[string]bool                  // its sessions
	requests    map[string]liveRequest           // its open requests, by the ids that the client knows
	lastID      int
}

// A liveCall is a request of the client to the live agent.
type liveCall struct {
	id    string // JSON
	makes bool   // the request makes a session
}

// A liveRequest is a request of the live agent.
type liveRequest struct {
	id    []byte // JSON; the agent's id
	token string // progress token; JSON, empty if there is none
}

// initializeID is the id of the player's own initialize. Clients are unlikely to use it.
const initializeID = `"acptap-initialize"`

// startLiveAgent starts the live agent and sends it the params of the client's
// initialize.
func startLiveAgent(p *player) *liveAgent {
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	live := &liveAgent{
		input: proxy.NewPipe(), inbox: newInbox(outR, p.inbox.more, true), stop: stop, ended: make(chan struct{}),
		silent:  p.protocol != dialect.MCP,
		journal: p.agent.Journal,
		own:     make(map[string]func(e wire.Envelope)), sessions: make(map[string]bool), requests: make(map[string]liveRequest),
	}
	if info, err := p.recording.tape.Info(); err == nil {
		live.lastID = int(info.Lines) // requests that an earlier run added to the tape have lower ids
	}
	run := proxy.Proxy{Command: p.agent.Live, In: live.input, Out: outW, Err: p.errOut.w}
	if live.journal != nil {
		run.Err = io.MultiWriter(stderrTap{live.journal}, p.errOut.w)
	}
	if p.protocol != dialect.MCP {
		var err error
		if live.memory, err = newSessionMemory(p); err == nil {
			run.Prepare = live.memory.prepare
		} else {
			p.report.note("the live agent can continue no session of the tape: %v", err)
		}
	}
	go func() {
		defer close(live.ended)
		live.err = run.Run(ctx)
		outW.Close()
		live.input.Close()
	}()
	offered := p.capabilities.initialize
	if offered == nil {
		offered = []byte("{}")
	}
	live.own[initializeID] = p.liveInitialized
	hello := wire.NewRequest([]byte(initializeID), dialect.Initialize, offered)
	live.record(wire.ClientToAgent, hello)
	live.input.PutLine(hello)
	return live
}

// record records a line that client and live agent exchange, with the ids that the client
// knows, so that a replay looks the same to the client. Of the player's own messages it
// records only initialize, without which a tape says little.
func (live *liveAgent) record(dir wire.Direction, line []byte) {
	if live.journal != nil {
		live.journal.Append(dir, wire.Wire, append(bytes.Clone(line), '\n')) // the journal itself keeps any error
	}
}

// A stderrTap records everything written to it as the agent's stderr.
type stderrTap struct{ journal *record.Recorder }

func (s stderrTap) Write(b []byte) (int, error) {
	s.journal.Append(wire.AgentStderr, wire.Wire, b)
	return len(b), nil
}

// close stops the agent and waits for its exit. It may be called twice.
func (live *liveAgent) close(patience time.Duration) {
	live.input.End()
	live.inbox.close()
	select {
	case <-live.ended:
	case <-time.After(patience):
	}
	live.stop()
	<-live.ended
	if live.memory != nil {
		live.memory.close()
	}
}

// takes reports whether a message of the client goes to the live agent.
func (live *liveAgent) takes(m *arrival) bool {
	switch {
	case live == nil || live.gone:
		return false
	case m.kind == wire.Response:
		_, ok := live.requests[string(m.id)]
		return ok
	case m.session != "" && live.sessions[m.session]:
		return true
	case m.kind == wire.Notification:
		id, _ := dialect.NamedID(m.method, dialect.RequestID, wire.ClientToAgent, m.e.Params)
		token, _ := dialect.NamedID(m.method, dialect.ProgressToken, wire.ClientToAgent, m.e.Params)
		return live.call(string(id)) >= 0 || live.ownsToken(token)
	}
	return false
}

// call returns the index of an open call, or -1 if there is none with that id.
func (live *liveAgent) call(id string) int {
	return slices.IndexFunc(live.calls, func(c liveCall) bool { return c.id == id })
}

// ownsToken reports whether an open request of the agent has a progress token.
func (live *liveAgent) ownsToken(token []byte) bool {
	for _, a := range live.requests {
		if token != nil && a.token == string(token) {
			return true
		}
	}
	return false
}

// give sends a message of the client to the agent.
func (live *liveAgent) give(m *arrival) {
	if m.kind == wire.Request {
		kind, _ := dialect.Lookup(dialect.AnyProtocol, m.method)
		live.calls = append(live.calls, liveCall{string(m.id), kind.Role.Is(dialect.MakesSession)})
		if m.session != "" {
			live.sessions[m.session] = true
		}
	}
	if live.initialized {
		live.pass(m)
	} else {
		live.waiting = append(live.waiting, m)
	}
}

// pass sends a message to an initialized agent.
func (live *liveAgent) pass(m *arrival) {
	line := bytes.Clone(m.raw)
	live.record(wire.ClientToAgent, line)
	if m.kind == wire.Response {
		line = remap.Apply(line, remap.IDEdit(line, live.requests[string(m.id)].id))
		delete(live.requests, string(m.id))
	}
	live.input.PutLine(line)
}

// ask sends the agent one of the player's own requests. answered is called with the
// response.
func (live *liveAgent) ask(method string, params []byte, answered func(e wire.Envelope)) {
	live.lastID++
	id := fmt.Sprintf(`"acptap-own-%d"`, live.lastID)
	live.own[id] = answered
	live.input.PutLine(wire.NewRequest([]byte(id), method, params))
}

// mayAskLive reports whether a request that is not on the tape can go to the live agent
// even though that agent knows nothing of the tape.
func (p *player) mayAskLive(m *arrival) bool {
	if len(p.agent.Live) == 0 || p.live != nil && p.live.gone {
		return false
	}
	return p.isApart(m) || p.agent.Journal == nil && p.isReopened(m)
}

// isApart reports whether a request that is not on the tape has nothing to do with it: it
// opens a session that the tape lacks, or is an MCP call.
func (p *player) isApart(m *arrival) bool {
	kind, _ := dialect.Lookup(p.protocol, m.method)
	if p.protocol == dialect.MCP {
		return !kind.Role.Is(dialect.Initializes)
	}
	return kind.Role.Is(dialect.Opens) && kind.Session != dialect.FromParams && !p.known[m.session]
}

// isReopened reports whether a request that is not on the tape loads or resumes a session
// that is. The recorded part of the session would have to be played first, so the live
// agent serves such a request only where nothing is recorded.
func (p *player) isReopened(m *arrival) bool {
	kind, _ := dialect.Lookup(p.protocol, m.method)
	return p.protocol != dialect.MCP && kind.Role.Is(dialect.Opens) && kind.Session == dialect.InParams && p.known[m.session] && !p.isOpen(m.session)
}

// toLive sends a request to the live agent, starting the agent if necessary.
func (p *player) toLive(m *arrival) {
	if p.live == nil {
		p.live = startLiveAgent(p)
	}
	p.report.Live++
	if p.known[m.session] && p.live.memory != nil {
		l := p.session(m.session)
		p.cut(l, 1)
		if err := p.live.memory.remember(p, l, 0); err != nil {
			p.report.note("the live agent does not learn of session %s: %v", m.session, err)
		}
	}
	p.live.give(m)
}

// fromLive handles a line of the live agent.
func (p *player) fromLive(line []byte) {
	live := p.live
	e := rpc.Scan(line)
	switch e.MessageKind() {
	case wire.Response:
		if answered := live.own[string(e.ID)]; answered != nil {
			delete(live.own, string(e.ID))
			if string(e.ID) == initializeID {
				live.record(wire.AgentToClient, line)
			}
			answered(e)
			return
		}
		if i := live.call(string(e.ID)); i >= 0 {
			if live.calls[i].makes {
				live.sessions[wire.ValueAt(line, "result.sessionId").Text()] = true // e of a long line has no result
			}
			live.calls = slices.Delete(live.calls, i, i+1)
		}
	case wire.Request:
		live.lastID++
		id := fmt.Sprintf(`"acptap-live-%d"`, live.lastID)
		live.requests[id] = liveRequest{bytes.Clone(e.ID), string(dialect.MadeID(string(e.Method), dialect.ProgressToken, e.Params))}
		line = remap.Apply(line, remap.IDEdit(line, []byte(id)))
	case wire.Notification:
		line = live.renamed(line, e)
	}
	live.record(wire.AgentToClient, line)
	p.out.Write(append(line, '\n'))
	p.told(0, nil)
}

// renamed returns a notification of the agent. If it names a request of the agent,
// renamed replaces the id with the one that the client knows.
func (live *liveAgent) renamed(line []byte, e wire.Envelope) []byte {
	own, by := dialect.NamedID(string(e.Method), dialect.RequestID, wire.AgentToClient, e.Params)
	if own == nil || by != wire.AgentToClient {
		return line
	}
	for seen, a := range live.requests {
		if bytes.Equal(a.id, own) {
			line = wire.Set(line, []byte(seen), "params", "requestId")
		}
	}
	return line
}

// liveInitialized handles the answer to the player's initialize.
func (p *player) liveInitialized(e wire.Envelope) {
	live := p.live
	if e.Error != nil {
		p.liveLost("the live agent refused initialize: " + shorten(rpc.HideSecrets(dialect.Initialize, "", string(e.Error))))
		return
	}
	live.initialized = true
	if !live.silent {
		live.input.PutLine([]byte(`{"jsonrpc":"2.0","method":"` + dialect.NowInitialized + `"}`))
	}
	for _, m := range live.waiting {
		live.pass(m)
	}
	live.waiting = nil
	p.continueLive()
}

// liveLost answers all requests that the live agent left open with an error.
func (p *player) liveLost(why string) {
	p.live.gone = true
	miss := Miss{Text: why}
	p.report.miss(miss)
	for _, c := range p.live.calls {
		p.refuse([]byte(c.id), &miss)
	}
	p.live.calls = nil
	for _, h := range slices.Clone(p.handOvers) {
		p.giveUp(h, miss)
	}
}

// liveSilence limits how long the live agent may be silent once the client has closed its
// end.
const liveSilence = 30 * time.Second

// awaitLive waits for the live agent after the client has closed its end. The agent's
// input ends too, and the agent may finish its work, as it would without a tape.
// awaitLive returns false if nothing more will come.
func (p *player) awaitLive(ctx context.Context) bool {
	for _, h := range slices.Clone(p.handOvers) {
		if !h.ready() {
			p.giveUp(h, Miss{Text: "the client left before the turn on the tape had ended"})
		}
	}
	busy := len(p.handOvers) > 0
	if p.live == nil || p.live.gone || !busy && len(p.live.calls) == 0 {
		return false
	}
	if !busy && p.live.initialized {
		p.live.left = true
		p.live.input.End()
	}
	switch p.wait(ctx, time.Now().Add(liveSilence)) {
	case cancelled:
		return false
	case timeout:
		p.liveLost("the live agent did not answer")
		p.flush()
		return false
	}
	return true
}

// A sharedWriter lets several goroutines write to w.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
