package replay

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
)

// A lane is a part of the conversation whose order is kept: a session, one call
// that belongs to no turn, what is the connection's own, or lines that are no
// frames of the protocol. The latter two keep their place behind what the client
// said; else lanes do not wait for each other.
type lane struct {
	kind      laneKind
	session   string
	wants     queue // the client's messages that the agent's wait for
	sets      queue // calls of lanes of their own that this session's updates wait for as well
	held      []held
	open      []*cue         // requests that have come and are not answered
	prompted  uint64         // number of the last prompt that has come
	rested    uint64         // number of the last frame sent that ended a turn
	stopped   uint64         // answers recorded before this number may never come: the client has cancelled
	cancelled bool           // on the tape, as far as it was read: the work that is open
	dead      bool           // a miss has ended it
	done      bool           // nothing more of it is on the tape
	active    bool           // in player.active
	paths     *remap.PathMap // of a session; nil until it is set up
	clock     clock
	seen      time.Duration // time on the tape of its last frame that was read
	eager     uint64        // a prompt or cancel that was the last of its frames, for which commands do not wait
}

type laneKind uint8

const (
	ofConnection laneKind = iota
	ofSession
	ofCall
	aside // nothing waits for it
)

// running reports whether a turn is open. A client may send the next prompt
// before the turn of the last has ended.
func (l *lane) running() bool {
	return l.prompted > l.rested || slices.ContainsFunc(l.open, func(c *cue) bool { return c.method == "session/prompt" })
}

// A cue is a message of the client on the tape.
type cue struct {
	seq      uint64
	entry    int       // of a batch, from 0; else -1
	kind     wire.Kind // Request, Response or Notification
	method   string    // of an answer: its request's
	session  string
	id       string // of a request, as recorded; JSON
	lane     *lane
	asked    *ask // of an answer: the agent's request
	required bool
	token    string        // of progress, as recorded; JSON
	version  string        // of initialize: that of the answer; JSON
	at       time.Duration // on the tape
	gap      time.Duration // since the frame before in its lane
	raw      []byte        // kept; nil: to be read again
	long     bool          // the tape gives only its beginning

	used     bool   // it has come
	live     []byte // its id now
	array    int    // which of the client's batches of now it came in; 0: none
	answered bool   // its response was read
}

// compare orders messages as they stand on the tape.
func (c *cue) compare(o *cue) int {
	return cmp.Or(cmp.Compare(c.seq, o.seq), cmp.Compare(c.entry, o.entry))
}

// An ask is a request of the agent.
type ask struct {
	seq       uint64
	id        string // JSON, the same now as recorded
	method    string
	lane      *lane
	cue       *cue // the recorded answer; nil: not read yet, or there is none
	lost      bool // there is none: the agent has used the id again, or the tape ends
	cancelled bool // by the agent
}

// A held is a frame of the agent, or a line on its stderr, that has been read and
// not sent.
type held struct {
	seq    uint64
	pos    uint64 // it waits for what is wanted before this number; seq in most cases
	at     time.Duration
	raw    []byte // kept; nil: to be read again
	reply  *cue   // of a response: the request
	ask    *ask   // of a request
	array  *array // of an entry in an array
	entry  int    // its place there, from 0; else -1
	method string
	ends   bool // a turn
	token  bool // it is about a progress token
	long   bool // the tape gives only its beginning
	end    wire.LineEnd
	dir    wire.Direction
	behind *cue  // of what belongs to no session: the client's last message before it, if that is waited for
	slot   *slot // where it stands, if a line follows; of such a line where the frame before it does, if that was not sent
}

// A slot is where a frame stands that has not been sent.
type slot struct {
	lane   *lane
	passed bool
}

// A queue is client messages in the order of the tape.
type queue struct {
	cues []*cue
	used int // how many of them have come, as far as that is counted
}

func (q *queue) add(c *cue) { q.cues = append(q.cues, c) }

// first returns the first message that has not come and is still waited for.
func (q *queue) first() *cue {
	for len(q.cues) > 0 && q.cues[0].over() {
		q.cues[0] = nil
		q.cues = q.cues[1:]
	}
	if len(q.cues) == 0 {
		return nil
	}
	return q.cues[0]
}

// over reports whether nothing waits for c.
func (c *cue) over() bool { return c.used || c.lane.dead }

// before reports whether a message that is waited for stands before pos.
func (q *queue) before(pos uint64) bool {
	c := q.first()
	return c != nil && c.seq < pos
}

// ready reports whether the lane's next frame may be sent, but for its pace.
func (p *player) ready(l *lane) bool {
	if len(l.held) == 0 || l.dead {
		return false
	}
	h := &l.held[0]
	if h.array != nil && !h.array.ready(p) {
		return false
	}
	return !p.blocked(l, h)
}

func (p *player) blocked(l *lane, h *held) bool {
	switch {
	case l.wants.before(h.pos), h.reply != nil && !h.reply.used:
		return true
	case h.behind != nil && !h.behind.over(), l.kind == aside && h.slot != nil && !h.slot.over():
		return true
	}
	return l.kind == ofSession && h.reply == nil && l.sets.before(h.pos)
}

// over reports whether nothing stands there any more.
func (s *slot) over() bool { return s.passed || s.lane.dead }

// hungry reports whether frames that are not read yet may be ready.
func (p *player) hungry() bool {
	if len(p.main.held) == 0 && p.main.wants.first() == nil && (p.newest == nil || p.newest.over()) {
		return true
	}
	alive := p.alive[:0]
	hungry := false
	for _, l := range p.alive {
		if l.dead || l.done || l.kind == ofCall && len(l.open) == 0 && len(l.held) == 0 {
			continue
		}
		alive = append(alive, l)
		hungry = hungry || len(l.held) == 0 && l.wants.first() == nil && l.sets.first() == nil
	}
	clear(p.alive[len(alive):])
	p.alive = alive
	return hungry
}

// wake notes that frames of the lane may be ready.
func (p *player) wake(l *lane) {
	if !l.active && len(l.held) > 0 && !l.dead {
		l.active = true
		p.active = append(p.active, l)
	}
}

// nextReady returns the lane whose next frame may be sent and is the first of
// all such on the tape, nil if there is none. due is when the first of those
// that only their pace holds back may be sent.
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
		h := &l.held[0]
		if at := l.clock.due(p.pace, h.at); at.After(now) {
			if due.IsZero() || at.Before(due) {
				due = at
			}
			continue
		}
		if h.seq < first {
			first, next = h.seq, l
		}
	}
	clear(p.active[len(active):])
	p.active = active
	return next, due
}
