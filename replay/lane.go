package replay

import (
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
)

// A lane is a part of the conversation whose frames keep their order: a session, a call
// that belongs to no turn, the connection's own frames, or lines that are not frames of
// the protocol. Frames of the last two wait for the last client message that precedes
// them on the tape. Otherwise lanes do not wait for each other.
type lane struct {
	kind      laneKind
	session   string
	expected  queue // the client's messages for which the lane's frames wait
	sets      queue // session/set_* calls, which have lanes of their own; the session's frames wait for them too
	pending   []pendingFrame
	open      []*expectedMessage // requests that have come and not been answered
	prompted  uint64             // number of the last prompt that came
	turnEnded uint64             // number of the last frame sent that ended a turn
	cancelled bool               // the part of the tape read so far cancels the open work
	dead      bool               // a miss has ended it
	cutAt     uint64             // frames from this number on are skipped because the session continues live; 0: all are played
	done      bool               // the tape was read to the lane's end
	active    bool               // in player.active
	paths     *remap.PathMap     // of a session; nil until it is set up
	setup     []byte             // of a session: params of the client's request that opened it; JSON, nil until then
	settings  []setting          // what the client has set in the session
	clock     clock
	lastRead  time.Duration // tape time of the frame read last
	eager     uint64        // number of the last prompt or cancel, 0 if a frame of the agent followed: available commands do not wait for it
}

type laneKind uint8

const (
	ofConnection laneKind = iota
	ofSession
	ofCall
	ofOtherLines
)

// running reports whether a turn is open. A client may send a prompt before the previous
// turn has ended.
func (l *lane) running() bool {
	return l.prompted > l.turnEnded || slices.ContainsFunc(l.open, func(exp *expectedMessage) bool { return dialect.Does(exp.method, dialect.Prompts) })
}

// ready reports whether the lane's next frame may be sent, ignoring its pace.
func (p *player) ready(l *lane) bool {
	if len(l.pending) == 0 || l.dead {
		return false
	}
	pf := &l.pending[0]
	if pf.batch != nil && !pf.batch.ready(p) {
		return false
	}
	return !p.blocked(l, pf)
}

// blocked reports whether a frame of a lane waits for another message.
func (p *player) blocked(l *lane, pf *pendingFrame) bool {
	switch {
	case l.expected.before(pf.pos), pf.reply != nil && !pf.reply.came:
		return true
	case pf.after != nil && !pf.after.over(), l.kind == ofOtherLines && pf.slot != nil && !pf.slot.over():
		return true
	}
	return l.kind == ofSession && pf.reply == nil && l.sets.before(pf.pos)
}

// needsMore reports whether an unread frame may be ready. It drops lanes from alive that
// need no more frames.
func (p *player) needsMore() bool {
	if len(p.main.pending) == 0 && p.main.expected.first() == nil && (p.lastExpected == nil || p.lastExpected.over()) {
		return true
	}
	alive := p.alive[:0]
	needs := false
	for _, l := range p.alive {
		if l.dead || l.done || l.kind == ofCall && len(l.open) == 0 && len(l.pending) == 0 {
			continue
		}
		alive = append(alive, l)
		needs = needs || len(l.pending) == 0 && l.expected.first() == nil && l.sets.first() == nil
	}
	clear(p.alive[len(alive):])
	p.alive = alive
	return needs
}

// wake notes that the lane's next frame may be ready.
func (p *player) wake(l *lane) {
	if !l.active && len(l.pending) > 0 && !l.dead {
		l.active = true
		p.active = append(p.active, l)
	}
}

// nextReady returns the lane whose next frame may be sent, or nil. Of several it returns
// the one whose frame comes first on the tape. due is the earliest time at which a frame
// held back only by its pace is ready; zero if there is none.
func (p *player) nextReady() (next *lane, due time.Time) {
	active := p.active[:0]
	first := uint64(math.MaxUint64)
	now := time.Time{}
	if p.pace.Speed > 0 {
		now = time.Now()
	}
	for _, l := range p.active {
		if !p.ready(l) {
			l.active = false
			continue
		}
		active = append(active, l)
		pf := &l.pending[0]
		if at := l.clock.due(p.pace, pf.at); at.After(now) {
			if due.IsZero() || at.Before(due) {
				due = at
			}
			continue
		}
		if pf.seq < first {
			first, next = pf.seq, l
		}
	}
	clear(p.active[len(active):])
	p.active = active
	return next, due
}

// A pendingFrame is a frame of the agent, or a line of its stderr, that was read from the
// tape and not yet sent.
type pendingFrame struct {
	seq     uint64
	pos     uint64 // it waits for messages expected before this number; mostly seq
	at      time.Duration
	raw     []byte           // nil: must be read again
	reply   *expectedMessage // of a response: the request
	request *agentRequest    // of a request
	batch   *agentBatch      // of an entry of a batch
	entry   int              // its index in the batch, from 0; otherwise -1
	method  string
	ends    bool // it ends a turn
	token   bool // it concerns a progress token
	long    bool // raw is only its beginning
	end     wire.LineEnd
	dir     wire.Direction
	after   *expectedMessage // of a frame of the connection or another line: the last client message before it; nil if that has come
	slot    *slot            // of another line: the slot of the preceding frame; of a frame: set if such a line follows
}

// A slot tells the lines after a pending frame whether the frame was sent.
type slot struct {
	lane   *lane
	passed bool
}

// over reports whether the frame was sent or never will be.
func (s *slot) over() bool { return s.passed || s.lane.dead }

func newPendingFrame(f *dialect.Frame) pendingFrame {
	return pendingFrame{
		seq: f.Seq, pos: f.Seq, at: f.At, dir: f.Dir, end: f.End, entry: -1,
		method: f.Method, ends: f.Events.Has(dialect.TurnEnded), long: int64(len(f.Raw)) < f.Size,
	}
}
