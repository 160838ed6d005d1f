package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/remap"
)

// A player plays the agent of one connection. It handles one message of the
// client after the other, and sends all that is then ready before it looks at
// the next, so what it sends depends on the order of the messages only.
type player struct {
	agent    *Agent
	pace     Pace
	script   *script
	protocol dialect.Protocol
	report   *Report
	taped    string // the directory of the process that was recorded

	inbox  *inbox
	out    *outbox
	errOut *outbox
	live   *understudy // nil until it is needed

	backlog
	calendar
	past
}

// A backlog is what was read of the tape and not played.
type backlog struct {
	main     *lane // the connection's own
	aside    *lane // lines that are no frames of the protocol
	sessions map[string]*lane
	alive    []*lane // those of which more may be ready to be read
	active   []*lane // those of which something may be ready to be sent
	waiting  map[cueKey]*queue
	asks     map[string]*ask  // by id; their answers were not read yet
	calls    map[string]*cue  // by id; likewise
	recent   []*cue           // MCP's calls whose answers were not read yet
	tokens   map[string]*lane // of MCP's calls, likewise
	elicited *lane            // of the last elicitation
	newest   *cue             // the last message of the client that was read and is waited for
	lastHeld *lane            // if the last frame was the agent's and is held
	kept     int              // bytes of those frames that are kept
	seeking  bool             // nothing is sent, whatever is read
	draining bool             // nothing is played any more
	finished bool             // the tape, or this connection on it, was read to its end
	closing  bool             // the client's EOF was read
	signal   string           // that was read since the client's last message: it may have ended the agent
	sudden   bool             // the agent ended by itself
}

// A calendar is what is known of the tape's sessions before it is read.
type calendar struct {
	made    map[uint64]string // session by the number of the request that made it
	homes   map[string]bool   // places of sessions that are made on the tape, as seen from its directory
	endings []ending
}

// A past is what has passed now.
type past struct {
	sent    map[string]*ask // requests of the agent that are not answered
	ids     remap.ClientIDs
	paths   remap.PathMap   // of all sessions
	arrays  int             // batches of the client
	offered []byte          // params of the client's initialize
	takes   map[string]bool // methods of the agent that the client has advertised; false: it has not, and that was said
}

// A cueKey is what a message is looked up by.
type cueKey struct {
	method, session string
}

// An ending is the last frame of a session on the tape.
type ending struct {
	session string
	last    uint64
}

func newPlayer(a *Agent, b beginning, report *Report) (*player, error) {
	info, err := b.tape.Info()
	if err != nil {
		return nil, err
	}
	sessions, err := b.tape.Sessions()
	switch {
	case err != nil:
		return nil, err
	case info.Lines == 0 && len(a.Live) == 0:
		return nil, errors.New("there is nothing on the tape that could be replayed")
	case a.Session != "" && !slices.ContainsFunc(sessions, func(one record.SessionInfo) bool { return one.ID == a.Session }):
		return nil, fmt.Errorf("the tape has nothing of session %s", a.Session)
	}
	p := &player{
		agent:    a,
		pace:     a.Pace,
		script:   newScript(b, a.Session, info.Connection.Protocol),
		protocol: info.Connection.Protocol,
		report:   report,
		taped:    info.Start.Cwd,
		backlog: backlog{
			main:     &lane{kind: ofConnection},
			aside:    &lane{kind: aside},
			sessions: make(map[string]*lane),
			waiting:  make(map[cueKey]*queue),
			asks:     make(map[string]*ask),
			calls:    make(map[string]*cue),
			tokens:   make(map[string]*lane),
		},
		calendar: calendar{made: make(map[uint64]string), homes: make(map[string]bool)},
		past:     past{sent: make(map[string]*ask), takes: make(map[string]bool)},
	}
	for _, one := range sessions {
		run := one.Runs[0]
		p.made[run.First] = one.ID
		p.endings = append(p.endings, ending{one.ID, run.Last})
		p.homes[relative(p.taped, one.Cwd)] = true
	}
	p.script.made = p.made
	slices.SortFunc(p.endings, func(a, b ending) int { return cmp.Compare(a.last, b.last) })
	if p.protocol == dialect.MCP {
		p.paths.Learn(p.taped, p.agent.Cwd)
		p.main.paths = &p.paths
	}
	return p, nil
}

// play runs until the connection is over, and returns the player that was
// picked.
func (p *player) play(ctx context.Context, k *casting) *player {
	heard := time.Now()
	for {
		due := p.advance()
		p.flush()
		if p.over() {
			return p
		}
		if p.overheard() {
			continue
		}
		line, ok, ended := p.inbox.take()
		if ended {
			return p
		}
		if ok {
			heard = time.Now()
			p = k.pick(p, line)
			p.handle(line)
			continue
		}
		next := due
		var l *lane
		if due.IsZero() { // all that is ready was sent
			var after time.Duration
			if l, after = p.stalled(k.agent.Patience); l != nil {
				next = heard.Add(after)
			}
		}
		switch p.wait(ctx, next) {
		case cancelled:
			return p
		case timeout:
			if l != nil {
				p.stall(l)
			}
			heard = time.Now() // from now on the client knows what it has to react to
		}
	}
}

// overheard takes what the live agent has said, if there is one and it has.
func (p *player) overheard() bool {
	if p.live == nil || p.live.gone {
		return false
	}
	line, ok, ended := p.live.said.take()
	switch {
	case ended:
		why := "the live agent ended"
		p.live.close(p.agent.Patience) // it may have closed only its stdout
		if p.live.err != nil {
			why += ": " + p.live.err.Error()
		}
		p.lose(why)
	case ok:
		p.hear(line)
	}
	return ok || ended
}

type woken uint8

const (
	called    woken = iota // something came
	timeout                // something is due
	cancelled              // the context is done
)

// wait waits for the client, or until a time that is not zero.
func (p *player) wait(ctx context.Context, due time.Time) woken {
	var alarm <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(time.Until(due))
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-p.inbox.more:
		return called
	case <-alarm:
		return timeout
	case <-ctx.Done():
		return cancelled
	}
}

// readAhead is how many frames are read before what was sent leaves: the client
// does not wait until all is read that may be ready.
const readAhead = 256

// advance sends all that is ready. It returns when the next frame is due, if
// only its pace holds it back.
func (p *player) advance() (due time.Time) {
	for n := 1; ; n++ {
		if n%readAhead == 0 {
			p.flush()
		}
		l, due := p.nextReady()
		switch {
		case l != nil:
			p.release(l)
		case !p.hungry() || !p.take():
			return due
		}
	}
}

// release sends the next frame of a lane.
func (p *player) release(l *lane) {
	h := l.held[0]
	if h.array != nil && h.array.together() {
		p.sendArray(h.array)
		return
	}
	p.pop(l)
	raw := h.raw
	p.kept -= len(raw)
	if raw == nil {
		f, err := p.script.again(h.seq)
		if err != nil {
			p.report.note("frame %d cannot be sent: %v", h.seq, err)
			return
		}
		raw = f.Raw
		if h.entry >= 0 {
			raw = nth(raw, h.entry)
		}
	}
	p.send(l, &h, raw)
}

// pop takes the first frame out of a lane.
func (p *player) pop(l *lane) {
	if s := l.held[0].slot; s != nil && l != p.aside {
		s.passed = true
		p.wake(p.aside)
	}
	l.held[0] = held{}
	l.held = l.held[1:]
	if len(l.held) == 0 {
		l.held = nil
	}
}

// nth returns an entry of a batch.
func nth(batch []byte, n int) (entry []byte) {
	wire.Entries(batch, func(i int, b []byte) bool {
		entry = b
		return i < n
	})
	return entry
}

func (p *player) flush() {
	p.out.flush()
	p.errOut.flush()
}

// over reports whether the agent ends here by itself: it did so on the tape, and
// all that stood before that has passed. What a dead lane lacks does not pass
// any more, and the client is told by the miss.
func (p *player) over() bool {
	if p.report.fatal {
		return true
	}
	if !p.finished || !p.sudden || len(p.active) > 0 {
		return false
	}
	for _, q := range p.waiting {
		for _, c := range q.cues {
			if !c.over() && c.required {
				return false
			}
		}
	}
	for _, l := range p.sessions {
		if l.waits() {
			return false
		}
	}
	return !p.main.waits() && !slices.ContainsFunc(p.alive, (*lane).waits)
}

// waits reports whether something of the lane has not passed.
func (l *lane) waits() bool { return !l.dead && (len(l.held) > 0 || l.wants.first() != nil) }
