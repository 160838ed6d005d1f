package replay

import (
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
	agent       *Agent
	pace        Pace
	recording   *connectionReader
	protocol    dialect.Protocol
	report      *Report
	recordedCwd string          // of the process that was recorded
	setupDirs   map[string]bool // of sessions that are made on the tape, as seen from there

	inbox  *inbox
	out    *outbox
	errOut *outbox
	live   *liveAgent // nil until it is needed

	lanes
	openOnTape
	lookahead

	sent         dialect.OpenRequests[*agentRequest] // of the agent, which the client has not answered
	ids          remap.ClientIDs
	paths        remap.PathMap // of all sessions
	batches      int           // of the client
	capabilities clientCapabilities
}

// lanes are all lanes of a connection.
type lanes struct {
	main       *lane // the connection's own
	otherLines *lane // lines that are no frames of the protocol
	sessions   map[string]*lane
	alive      []*lane // those of which more may be ready to be read
	active     []*lane // those of which something may be ready to be sent
}

// openOnTape has the requests that were read from the tape and whose answers were
// not.
type openOnTape struct {
	requests dialect.OpenRequests[*agentRequest]    // of the agent
	calls    dialect.OpenRequests[*expectedMessage] // of the client
	recent   []*expectedMessage                     // MCP's calls, in order
	tokens   map[string]*lane                       // progress tokens of MCP's calls
	elicited *lane                                  // of the last elicitation
}

// A lookahead is the state of reading the tape, which may be ahead of playing it.
type lookahead struct {
	waiting      map[expectedKey]*queue // messages of the client that have not come
	lastExpected *expectedMessage       // the last that was read and is waited for
	lastPending  *lane                  // if the last frame was the agent's and has not been sent
	kept         int                    // bytes of frames that are kept
	seeking      bool                   // nothing is sent, whatever is read
	draining     bool                   // nothing is played any more
	finished     bool                   // the tape, or this connection on it, was read to its end
	closing      bool                   // the client's EOF was read
	signal       string                 // that was read since the client's last message: it may have ended the agent
	endedAlone   bool                   // the agent ended by itself
}

// An expectedKey is what a message is looked up by.
type expectedKey struct {
	method, session string
}

func newPlayer(a *Agent, b connectionStart, report *Report) (*player, error) {
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
		agent:       a,
		pace:        a.Pace,
		recording:   newConnectionReader(b, a.Session, info.Connection.Protocol, sessions),
		protocol:    info.Connection.Protocol,
		report:      report,
		recordedCwd: info.Start.Cwd,
		setupDirs:   make(map[string]bool),
		lanes: lanes{
			main:       &lane{kind: ofConnection},
			otherLines: &lane{kind: ofOtherLines},
			sessions:   make(map[string]*lane),
		},
		openOnTape: openOnTape{tokens: make(map[string]*lane)},
		lookahead:  lookahead{waiting: make(map[expectedKey]*queue)},
	}
	for _, one := range sessions {
		p.setupDirs[relative(p.recordedCwd, one.Cwd)] = true
	}
	if p.protocol == dialect.MCP {
		p.paths.Learn(p.recordedCwd, p.agent.Cwd)
		p.main.paths = &p.paths
	}
	return p, nil
}

// play runs until the connection is over. It returns the player of the connection
// that was chosen.
func (p *player) play(ctx context.Context, choice *connectionChooser) *player {
	heard := time.Now()
	for {
		due := p.advance()
		p.flush()
		if p.over() {
			return p
		}
		if p.readLive() {
			continue
		}
		line, ok, ended := p.inbox.next()
		if ended {
			return p
		}
		if ok {
			heard = time.Now()
			p = choice.choose(p, line)
			p.handle(line)
			continue
		}
		next := due
		var l *lane
		if due.IsZero() { // all that is ready was sent
			var after time.Duration
			if l, after = p.stalled(choice.agent.Patience); l != nil {
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

// readLive takes the next line of the live agent. It returns false if there is none.
func (p *player) readLive() bool {
	if p.live == nil || p.live.gone {
		return false
	}
	line, ok, ended := p.live.inbox.next()
	switch {
	case ended:
		why := "the live agent ended"
		p.live.close(p.agent.Patience) // it may have closed only its stdout
		if p.live.err != nil {
			why += ": " + p.live.err.Error()
		}
		p.liveLost(why)
	case ok:
		p.fromLive(line)
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

// readAhead is how many frames are read before the output is flushed: the client
// need not wait until all that may be ready has been read.
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
		case !p.needsMore() || !p.readNext():
			return due
		}
	}
}

// release sends the next frame of a lane.
func (p *player) release(l *lane) {
	pf := l.pending[0]
	if pf.batch != nil && pf.batch.together() {
		p.sendBatch(pf.batch)
		return
	}
	p.pop(l)
	raw := pf.raw
	p.kept -= len(raw)
	if raw == nil {
		f, err := p.recording.readAgain(pf.seq)
		if err != nil {
			p.report.note("frame %d cannot be sent: %v", pf.seq, err)
			return
		}
		raw = f.Raw
		if pf.entry >= 0 {
			raw = nth(raw, pf.entry)
		}
	}
	p.send(l, &pf, raw)
}

// pop takes the first frame out of a lane.
func (p *player) pop(l *lane) {
	if s := l.pending[0].slot; s != nil && l != p.otherLines {
		s.passed = true
		p.wake(p.otherLines)
	}
	l.pending[0] = pendingFrame{}
	l.pending = l.pending[1:]
	if len(l.pending) == 0 {
		l.pending = nil
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

// over reports whether the agent ends now by itself, as it did on the tape: once all
// that precedes its end has been sent or has come. Lanes that a miss has ended do
// not count.
func (p *player) over() bool {
	if p.report.fatal {
		return true
	}
	if !p.finished || !p.endedAlone || len(p.active) > 0 {
		return false
	}
	for _, q := range p.waiting {
		for _, exp := range q.messages {
			if !exp.over() && exp.required {
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

// waits reports whether something of the lane has still to be sent or to come.
func (l *lane) waits() bool { return !l.dead && (len(l.pending) > 0 || l.expected.first() != nil) }
