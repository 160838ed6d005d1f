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

// A player plays the agent of one recorded connection. It handles the client's messages
// one at a time and, after each, sends all frames that are ready. So its output depends
// only on the order of the messages.
type player struct {
	agent       *Agent
	pace        Pace
	recording   *connectionReader
	protocol    dialect.Protocol
	report      *Report
	recordedCwd string          // of the recorded process
	setupDirs   map[string]bool // directories of the sessions on the tape, relative to recordedCwd

	inbox  *inbox
	out    *outbox
	errOut *outbox
	live   *liveAgent // nil until needed

	watcher Watcher                      // nil: there is none, or the output is dropped
	passed  func(wire.Direction, uint64) // likewise
	matched uint64                       // the recorded frame that matches the client's current line; 0: none

	handOvers []*handOver     // pending hand-overs to the live agent
	known     map[string]bool // all sessions of the tape
	unopened  map[string]bool // those that the client neither opens nor prompts there

	written writtenClock

	lanes
	openOnTape
	lookahead

	sent         dialect.OpenRequests[*agentRequest] // of the agent, not answered by the client
	ids          remap.ClientIDs
	paths        remap.PathMap // of all sessions
	batches      int           // number of batches sent by the client
	capabilities clientCapabilities
}

// lanes are all lanes of a connection.
type lanes struct {
	main       *lane // of the connection itself
	otherLines *lane // of lines that are not frames of the protocol
	sessions   map[string]*lane
	alive      []*lane // lanes that may need more frames from the tape
	active     []*lane // lanes whose next frame may be ready to be sent
}

// openOnTape holds the requests that were read from the tape and whose answers were not.
type openOnTape struct {
	requests dialect.OpenRequests[*agentRequest]    // of the agent
	calls    dialect.OpenRequests[*expectedMessage] // of the client
	recent   []*expectedMessage                     // open calls of MCP, in order
	tokens   dialect.OpenRequests[*lane]            // of open calls of MCP, by progress token
	elicited *lane                                  // of the last elicitation
}

// A lookahead is the state of reading the tape, which may be ahead of playing.
type lookahead struct {
	waiting      map[expectedKey]*queue // messages of the client that have not come
	lastExpected *expectedMessage       // the last required message read; nil if it has come
	lastPending  *lane                  // lane of the last frame, if that is the agent's and pending
	kept         int                    // bytes of frames in memory
	seeking      bool                   // the tape is being searched: nothing is sent
	draining     bool                   // playing has ended: only stderr and other lines are sent
	finished     bool                   // the connection was read to its end
	closing      bool                   // the recorded client's EOF was read
	signal       string                 // the last signal since the client's last message: it may have killed the agent
	endedAlone   bool                   // the recorded agent exited of its own accord
}

// An expectedKey is a key of lookahead.waiting.
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
		watcher:     a.Watcher,
		passed:      a.Passed,
		recording:   newConnectionReader(b, a.Session, info.Connection.Protocol, sessions),
		protocol:    info.Connection.Protocol,
		report:      report,
		recordedCwd: info.Start.Cwd,
		setupDirs:   make(map[string]bool),
		known:       make(map[string]bool),
		unopened:    make(map[string]bool),
		lanes: lanes{
			main:       &lane{kind: ofConnection},
			otherLines: &lane{kind: ofOtherLines},
			sessions:   make(map[string]*lane),
		},
		lookahead: lookahead{waiting: make(map[expectedKey]*queue)},
	}
	for _, one := range sessions {
		p.setupDirs[relative(p.recordedCwd, one.Cwd)] = true
		_, _, turns := one.Total()
		p.known[one.ID], p.unopened[one.ID] = true, one.Cwd == "" && turns == 0
	}
	if p.protocol == dialect.MCP {
		p.paths.Learn(p.recordedCwd, p.agent.Cwd)
		p.main.paths = &p.paths
	}
	return p, nil
}

// play runs until the connection ends. It returns the player that choice has chosen.
func (p *player) play(ctx context.Context, choice *connectionChooser) *player {
	heard := time.Now()
	for {
		due := p.advance()
		p.continueLive()
		p.flush()
		if p.over() {
			return p
		}
		if p.readLive() {
			continue
		}
		line, ok, ended := p.inbox.next()
		if ended {
			if !p.awaitLive(ctx) {
				return p
			}
			continue
		}
		if ok {
			heard = time.Now()
			p = choice.choose(p, line)
			p.handle(line)
			continue
		}
		next := due
		var l *lane
		if due.IsZero() { // everything ready was sent
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
			heard = time.Now() // the client gets its full time to react to what is sent now
		}
	}
}

// readLive handles the live agent's next line or its end. It returns false if there is
// neither.
func (p *player) readLive() bool {
	if p.live == nil || p.live.gone {
		return false
	}
	line, ok, ended := p.live.inbox.next()
	switch {
	case ended:
		why := "the live agent ended"
		p.live.close(p.agent.Patience) // it may have closed only its stdout
		if p.live.left && len(p.live.calls) == 0 {
			p.live.gone = true
			break
		}
		if p.live.err != nil {
			why += ": " + p.live.err.Error()
		}
		p.liveLost(why)
	case ok:
		p.fromLive(line)
	}
	return ok || ended
}

// woken says why wait returned.
type woken uint8

const (
	called    woken = iota // the client or the live agent has sent something
	timeout                // the due time has come
	cancelled              // the context is done
)

// wait blocks until the client or the live agent sends something, or until due if that is
// not zero.
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

// readAhead is the number of frames read before the output is flushed, so that the client
// need not wait until all ready frames have been read.
const readAhead = 256

// advance sends all frames that are ready. due is when the next frame that only its pace
// holds back is ready; zero if there is none.
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

// pop removes the next frame from a lane.
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

// nth returns entry n of a batch, counted from 0.
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

// over reports whether the agent exits now: after a miss that only its exit can report to
// the client, or, if it exited of its own accord on the tape, once all frames were sent
// and all messages have come. Lanes that a miss has ended do not count.
func (p *player) over() bool {
	if p.report.fatal {
		return true
	}
	if !p.finished || !p.endedAlone || len(p.active) > 0 || len(p.handOvers) > 0 {
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

// waits reports whether the lane still has a frame to send or a message to receive.
func (l *lane) waits() bool { return !l.dead && (len(l.pending) > 0 || l.expected.first() != nil) }
