package drive

import (
	"github.com/acptap/acptap/proxy/dialect"
)

// A plan is what the client did on one recorded connection, and what the agent must do
// before each step.
type plan struct {
	conn        dialect.Connection
	cwd         string    // the recorded proxy's directory
	threads     []*thread // the first is the connection's own
	answers     answers   // for the agent's requests
	initialized bool      // the tape's initialize was read
}

// A thread is what happens in one session, or outside of sessions. Its moves are made in
// order.
type thread struct {
	session string     // empty: the connection's own thread
	moves   []*move    // remaining moves, in order
	awaited []*awaited // in order; waits drops those at the front that have come

	// Used only while the plan is read:
	progress progress
	offers   offers
	turns    []*plannedCall // prompts whose turn has not ended
}

// A move is a message of the client, or a batch.
type move struct {
	seq        uint64
	messages   [][]byte
	batch      bool
	tellsOf    *recordedRequest // of a notification of progress: the agent's request
	method     string           // of a batch: the method of the first message
	params     []byte           // of a batch: the params of the first message
	calls      []*plannedCall   // its requests
	session    string
	checkpoint checkpoint // the point at which the recorded client made it
	offers     offers     // what the recorded agent offered at the time
}

// A plannedCall is a request of the client and the recorded answer.
type plannedCall struct {
	seq     uint64
	id      string // JSON; sent as recorded
	method  string
	session string          // the session that it concerns or makes
	answer  *awaited        // nil if there was none
	turn    *awaited        // of a prompt whose answer does not end its turn: the end of the turn; otherwise nil
	failed  bool            // the answer is an error
	made    []dialect.Field // ids that the agent made in the answer
}

// An awaited is something that the agent did before the client continued.
type awaited struct {
	seq  uint64
	what string // for the report
	turn bool   // it ends a turn rather than answering a call
	come bool   // it has arrived
}

// thread returns the thread of a session, creating it if necessary.
func (p *plan) thread(session string) *thread {
	for _, t := range p.threads {
		if t.session == session {
			return t
		}
	}
	t := &thread{session: session}
	p.threads = append(p.threads, t)
	return t
}

// ready reports whether everything that precedes a move on the tape, in its thread or
// outside of sessions, has arrived. A move outside of sessions waits for all sessions.
func (p *plan) ready(t *thread, m *move) bool {
	for _, other := range p.threads {
		if (other == t || other.session == "" || t.session == "") && other.waits(m.seq) {
			return false
		}
	}
	return true
}

// waits reports whether something that precedes frame seq on the tape has not arrived.
func (t *thread) waits(seq uint64) bool {
	for len(t.awaited) > 0 && t.awaited[0].come {
		t.awaited = t.awaited[1:]
	}
	return len(t.awaited) > 0 && t.awaited[0].seq < seq
}
