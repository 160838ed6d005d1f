package replay

import (
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/replay/internal/remap"
)

// A lane is a part of the conversation that keeps its order: a session, a call that
// belongs to no turn, the connection's own frames, or lines that are not frames of
// the protocol. The latter two are sent after the client messages that precede
// them; otherwise lanes do not wait for each other.
type lane struct {
	kind      laneKind
	session   string
	expected  queue // the client's messages that the agent's wait for
	sets      queue // calls of lanes of their own that this session's updates wait for as well
	pending   []pendingFrame
	open      []*expectedMessage // requests that have come and are not answered
	prompted  uint64             // number of the last prompt that has come
	turnEnded uint64             // number of the last frame sent that ended a turn
	stopped   uint64             // answers recorded before this number may never come: the client has cancelled
	cancelled bool               // on the tape, as far as it was read: the work that is open
	dead      bool               // a miss has ended it
	done      bool               // nothing more of it is on the tape
	active    bool               // in player.active
	paths     *remap.PathMap     // of a session; nil until it is set up
	clock     clock
	lastRead  time.Duration // time on the tape of its last frame that was read
	eager     uint64        // number of a prompt or cancel that was the last frame of the lane: available commands do not wait for it
}

type laneKind uint8

const (
	ofConnection laneKind = iota
	ofSession
	ofCall
	ofOtherLines // nothing waits for it
)

// running reports whether a turn is open. A client may send the next prompt
// before the turn of the last has ended.
func (l *lane) running() bool {
	return l.prompted > l.turnEnded || slices.ContainsFunc(l.open, func(exp *expectedMessage) bool { return exp.method == "session/prompt" })
}

// ready reports whether the lane's next frame may be sent, but for its pace.
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

func (p *player) blocked(l *lane, pf *pendingFrame) bool {
	switch {
	case l.expected.before(pf.pos), pf.reply != nil && !pf.reply.came:
		return true
	case pf.after != nil && !pf.after.over(), l.kind == ofOtherLines && pf.slot != nil && !pf.slot.over():
		return true
	}
	return l.kind == ofSession && pf.reply == nil && l.sets.before(pf.pos)
}

// needsMore reports whether frames that are not read yet may be ready.
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

// wake notes that frames of the lane may be ready.
func (p *player) wake(l *lane) {
	if !l.active && len(l.pending) > 0 && !l.dead {
		l.active = true
		p.active = append(p.active, l)
	}
}

// nextReady returns the lane whose next frame may be sent, nil if there is none. Of
// several it returns the one whose frame comes first on the tape. due is when the
// first frame may be sent that only its pace holds back.
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
