package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/jsonrpc"
	"github.com/acptap/acptap/replay/internal/lines"
	"github.com/acptap/acptap/replay/internal/redacted"
	"github.com/acptap/acptap/replay/internal/remap"
)

// A liveAgent is a real agent that serves what the tape lacks: whole sessions, and
// calls of MCP. It cannot continue a recorded session, since it does not know what
// was said before.
type liveAgent struct {
	input  *lines.Queue
	inbox  *inbox
	stop   context.CancelFunc
	ended  chan struct{} // closed when the process has ended
	err    error         // how it ended; valid after ended is closed
	gone   bool          // it has ended or refused initialize
	silent bool          // it gets no notifications/initialized, which ACP does not have

	initialized bool                   // it has answered initialize
	waiting     [][]byte               // lines to send after that
	calls       []liveCall             // open requests of the client, in the order in which they came
	sessions    map[string]bool        // its sessions
	requests    map[string]liveRequest // its open requests, by the ids that the client sees
	lastID      int
}

// A liveCall is a request of the client to the live agent.
type liveCall struct {
	id    string // JSON
	makes bool   // a session
}

// A liveRequest is a request of the live agent.
type liveRequest struct {
	id    []byte // JSON; as the agent sent it
	token string // progress token; JSON, empty if there is none
}

// initializeID is the id of our own initialize. A client is unlikely to use it.
const initializeID = `"acptap-initialize"`

// startLiveAgent starts the live agent and sends it the params of the client's
// initialize.
func startLiveAgent(p *player) *liveAgent {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	live := &liveAgent{
		input: lines.NewQueue(inW), inbox: newInbox(outR, p.inbox.more, true), stop: stop, ended: make(chan struct{}),
		silent:   p.protocol != dialect.MCP,
		sessions: make(map[string]bool), requests: make(map[string]liveRequest),
	}
	run := proxy.Proxy{Command: p.agent.Live, In: inR, Out: outW, Err: p.errOut.w, Journal: p.agent.Journal}
	go func() {
		defer close(live.ended)
		live.err = run.Run(ctx)
		outW.Close()
		inR.Close()
	}()
	offered := p.capabilities.initialize
	if offered == nil {
		offered = []byte("{}")
	}
	live.input.Send(jsonrpc.Request([]byte(initializeID), "initialize", offered))
	return live
}

// close ends the agent and waits until it has ended. It may be called twice.
func (live *liveAgent) close(patience time.Duration) {
	live.input.Close()
	live.inbox.close()
	select {
	case <-live.ended:
	case <-time.After(patience):
	}
	live.stop()
	<-live.ended
	<-live.input.Written()
}

// takes reports whether a message of the client is for the live agent.
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

// call returns the index of an open call, -1 if there is none with that id.
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
	line := bytes.Clone(m.raw)
	switch m.kind {
	case wire.Request:
		kind, _ := dialect.Lookup(dialect.AnyProtocol, m.method)
		live.calls = append(live.calls, liveCall{string(m.id), kind.MakesSession()})
		if m.session != "" {
			live.sessions[m.session] = true
		}
	case wire.Response:
		line = remap.Apply(line, remap.IDEdit(line, live.requests[string(m.id)].id))
		delete(live.requests, string(m.id))
	}
	if live.initialized {
		live.input.Send(line)
	} else {
		live.waiting = append(live.waiting, line)
	}
}

// mayAskLive reports whether a request that is not on the tape can go to the live
// agent, which knows nothing of the tape.
func (p *player) mayAskLive(m *arrival) bool {
	if len(p.agent.Live) == 0 || p.live != nil && p.live.gone {
		return false
	}
	kind, _ := dialect.Lookup(p.protocol, m.method)
	if p.protocol == dialect.MCP {
		return kind.Effect != dialect.Initializes
	}
	return kind.Effect == dialect.Opens && kind.Session != dialect.FromParams
}

// toLive sends a request to the live agent, and starts that if necessary.
func (p *player) toLive(m *arrival) {
	if p.live == nil {
		p.live = startLiveAgent(p)
	}
	p.report.Live++
	p.live.give(m)
}

// fromLive handles a line of the live agent.
func (p *player) fromLive(line []byte) {
	live := p.live
	e := lines.Scan(line)
	switch e.MessageKind() {
	case wire.Response:
		if string(e.ID) == initializeID {
			p.liveInitialized(e)
			return
		}
		if i := live.call(string(e.ID)); i >= 0 {
			if live.calls[i].makes {
				live.sessions[gjson.GetBytes(line, "result.sessionId").Str] = true // of a long line, e has no result
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
	p.out.Write(append(line, '\n'))
}

// renamed returns a notification of the agent. If it names a request of the agent's
// own, the id is replaced by the one that the client sees.
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

// liveInitialized handles the answer to our initialize.
func (p *player) liveInitialized(e wire.Envelope) {
	live := p.live
	if e.Error != nil {
		p.liveLost("the live agent refused initialize: " + shorten(redacted.Value("initialize", "", string(e.Error))))
		return
	}
	live.initialized = true
	if !live.silent {
		live.input.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	}
	for _, line := range live.waiting {
		live.input.Send(line)
	}
	live.waiting = nil
}

// liveLost answers with an error all requests that the live agent left open.
func (p *player) liveLost(why string) {
	p.live.gone = true
	miss := Miss{Text: why}
	p.report.miss(miss)
	for _, c := range p.live.calls {
		p.refuse([]byte(c.id), &miss)
	}
	p.live.calls = nil
}

// A sharedWriter is written to by several goroutines.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
