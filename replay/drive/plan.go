package drive

import (
	"github.com/acptap/acptap/proxy/dialect"
)

// A plan is what the client did on one recorded connection, and what must come from the
// agent before each step.
type plan struct {
	conn        dialect.Connection
	cwd         string    // where the recorded proxy ran
	threads     []*thread // that of the connection itself first
	answers     answers   // for the agent's requests
	initialized bool      // an initialize was read
}

// A thread is what happens in one session, or outside of sessions. Its moves are made
// one after the other.
type thread struct {
	session string     // empty: none
	moves   []*move    // not made yet, in order
	awaited []*awaited // in order; those that have come are removed at the front

	// While the plan is read:
	progress progress
	offers   offers
	turns    []*plannedCall // prompts whose turn is not over
}

// A move is a message of the client, or a batch.
type move struct {
	seq        uint64
	messages   [][]byte
	batch      bool
	tellsOf    *recordedRequest // of a notification of progress: the agent's request
	method     string           // of a batch: that of the first message
	params     []byte           // of a batch: those of the first message
	calls      []*plannedCall   // its requests
	session    string
	checkpoint checkpoint // at which the recorded client made it
	offers     offers     // what the recorded agent offered then
}

// A plannedCall is a request of the client and the recorded answer.
type plannedCall struct {
	seq     uint64
	id      string // JSON; sent as recorded
	method  string
	session string          // the one that it is about or makes
	answer  *awaited        // nil if there was none
	turn    *awaited        // of a prompt whose answer does not end its turn: the end of the turn; else nil
	failed  bool            // the answer is an error
	made    []dialect.Field // ids in the answer that the agent made
}

// An awaited is something that the agent did before the client went on.
type awaited struct {
	seq  uint64
	what string // for the report
	turn bool   // it is the end of a turn that is not an answer
	come bool   // it has come
}

// thread returns the thread of a session, which it makes if necessary.
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

// ready reports whether everything has come that precedes a move of a thread on the
// tape, in the thread itself or outside of sessions. A move outside of sessions waits for
// all sessions.
func (p *plan) ready(t *thread, m *move) bool {
	for _, other := range p.threads {
		if (other == t || other.session == "" || t.session == "") && other.waits(m.seq) {
			return false
		}
	}
	return true
}

// waits reports whether something that precedes frame seq on the tape has not come.
func (t *thread) waits(seq uint64) bool {
	for len(t.awaited) > 0 && t.awaited[0].come {
		t.awaited = t.awaited[1:]
	}
	return len(t.awaited) > 0 && t.awaited[0].seq < seq
}
