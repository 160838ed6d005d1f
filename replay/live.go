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
	"github.com/acptap/acptap/replay/internal/lines"
	"github.com/acptap/acptap/replay/internal/messages"
	"github.com/acptap/acptap/replay/internal/redacted"
	"github.com/acptap/acptap/replay/internal/remap"
)

// An understudy is a real agent that takes over what the tape lacks: whole
// sessions, and calls of MCP. In the middle of a recorded session it would not
// know what was said before.
type understudy struct {
	feed   *lines.Queue
	said   *inbox
	stop   context.CancelFunc
	ended  chan struct{} // closed when it has
	err    error         // how; valid then
	gone   bool
	silent bool // it was not told that it is initialized, as it need not be in ACP

	greeted  bool       // it has answered initialize
	waiting  [][]byte   // what is sent then
	calls    []liveCall // open requests of the client, in the order in which they came
	sessions map[string]bool
	asks     map[string]liveAsk // its open requests by the ids that the client sees
	asked    int
}

// A liveCall is a request of the client.
type liveCall struct {
	id    string // JSON
	makes bool   // a session
}

// A liveAsk is a request of the agent.
type liveAsk struct {
	id    []byte // JSON
	token string // of progress; JSON, empty if there is none
}

// greeting is the id of our own initialize. No client is likely to use it.
const greeting = `"acptap-initialize"`

// newUnderstudy starts an agent and initializes it as the client did that of the
// tape.
func newUnderstudy(p *player) *understudy {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	u := &understudy{
		feed: lines.NewQueue(inW), said: newInbox(outR, p.inbox.more, true), stop: stop, ended: make(chan struct{}),
		silent:   p.protocol != dialect.MCP,
		sessions: make(map[string]bool), asks: make(map[string]liveAsk),
	}
	run := proxy.Proxy{Command: p.agent.Live, In: inR, Out: outW, Err: p.errOut.w, Journal: p.agent.Journal}
	go func() {
		defer close(u.ended)
		u.err = run.Run(ctx)
		outW.Close()
		inR.Close()
	}()
	offered := p.offered
	if offered == nil {
		offered = []byte("{}")
	}
	u.feed.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"initialize","params":%s}`, greeting, offered))
	return u
}

// close ends the agent, and waits for that. It may be called twice.
func (u *understudy) close(patience time.Duration) {
	u.feed.Close()
	u.said.close()
	select {
	case <-u.ended:
	case <-time.After(patience):
	}
	u.stop()
	<-u.ended
	<-u.feed.Written()
}

// takes reports whether a message belongs to what went live before.
func (u *understudy) takes(m *arrival) bool {
	switch {
	case u == nil || u.gone:
		return false
	case m.kind == wire.Response:
		_, ok := u.asks[string(m.id)]
		return ok
	case m.session != "" && u.sessions[m.session]:
		return true
	case m.kind == wire.Notification:
		id, _ := dialect.NamedID(m.method, dialect.RequestID, wire.ClientToAgent, m.e.Params)
		token, _ := dialect.NamedID(m.method, dialect.ProgressToken, wire.ClientToAgent, m.e.Params)
		return u.call(string(id)) >= 0 || u.wants(token)
	}
	return false
}

// call returns the index of an open request, -1 if there is none of that id.
func (u *understudy) call(id string) int {
	return slices.IndexFunc(u.calls, func(c liveCall) bool { return c.id == id })
}

// wants reports whether a token is of an open request of the agent.
func (u *understudy) wants(token []byte) bool {
	for _, a := range u.asks {
		if token != nil && a.token == string(token) {
			return true
		}
	}
	return false
}

// give sends a message of the client to the agent.
func (u *understudy) give(m *arrival) {
	line := bytes.Clone(m.raw)
	switch m.kind {
	case wire.Request:
		u.calls = append(u.calls, liveCall{string(m.id), messages.MakesSession(m.method)})
		if m.session != "" {
			u.sessions[m.session] = true
		}
	case wire.Response:
		line = remap.Apply(line, remap.IDEdit(line, u.asks[string(m.id)].id))
		delete(u.asks, string(m.id))
	}
	if u.greeted {
		u.feed.Send(line)
	} else {
		u.waiting = append(u.waiting, line)
	}
}

// mayGoLive reports whether a request that the tape lacks can be handed to an
// agent that knows nothing of the tape.
func (p *player) mayGoLive(m *arrival) bool {
	if len(p.agent.Live) == 0 || p.live != nil && p.live.gone {
		return false
	}
	kind, _ := dialect.Lookup(p.protocol, m.method)
	if p.protocol == dialect.MCP {
		return kind.Effect != dialect.Initializes
	}
	return kind.Effect == dialect.Opens && kind.Session != dialect.FromParams
}

// goLive hands a request to the live agent.
func (p *player) goLive(m *arrival) {
	if p.live == nil {
		p.live = newUnderstudy(p)
	}
	p.report.Live++
	p.live.give(m)
}

// hear takes a line of the live agent.
func (p *player) hear(line []byte) {
	u := p.live
	e := lines.Scan(line)
	switch messages.Kind(e) {
	case wire.Response:
		if string(e.ID) == greeting {
			p.greet(e)
			return
		}
		if i := u.call(string(e.ID)); i >= 0 {
			if u.calls[i].makes {
				u.sessions[gjson.GetBytes(line, "result.sessionId").Str] = true // of a long line, e has no result
			}
			u.calls = slices.Delete(u.calls, i, i+1)
		}
	case wire.Request:
		u.asked++
		id := fmt.Sprintf(`"acptap-live-%d"`, u.asked)
		u.asks[id] = liveAsk{bytes.Clone(e.ID), string(dialect.MadeID(string(e.Method), dialect.ProgressToken, e.Params))}
		line = remap.Apply(line, remap.IDEdit(line, []byte(id)))
	case wire.Notification:
		line = u.renamed(line, e)
	}
	p.out.Write(append(line, '\n'))
}

// renamed gives a notification of the agent the id that the client sees, if it
// names a request of the agent's own.
func (u *understudy) renamed(line []byte, e wire.Envelope) []byte {
	own, by := dialect.NamedID(string(e.Method), dialect.RequestID, wire.AgentToClient, e.Params)
	if own == nil || by != wire.AgentToClient {
		return line
	}
	for seen, a := range u.asks {
		if bytes.Equal(a.id, own) {
			line = wire.Set(line, []byte(seen), "params", "requestId")
		}
	}
	return line
}

// greet takes the answer to our initialize.
func (p *player) greet(e wire.Envelope) {
	u := p.live
	if e.Error != nil {
		p.lose("the live agent refused initialize: " + shorten(redacted.Value("initialize", "", string(e.Error))))
		return
	}
	u.greeted = true
	if !u.silent {
		u.feed.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	}
	for _, line := range u.waiting {
		u.feed.Send(line)
	}
	u.waiting = nil
}

// lose answers all that is open with an error, as the live agent does not any
// more.
func (p *player) lose(why string) {
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
