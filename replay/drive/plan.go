package drive

import (
	"github.com/acptap/acptap/proxy/dialect"
)

// A plan is what the client did on one recorded connection, and what has to come
// from the agent before it does it again.
type plan struct {
	conn        dialect.Connection
	cwd         string    // where the recorded proxy ran
	threads     []*thread // the connection's own first
	answers     answers   // for the agent's requests
	initialized bool      // an initialize was seen
}

// A thread is what goes on in one session, or in none: its moves are made one
// after the other.
type thread struct {
	session string
	moves   []*move
	awaited []*awaited

	progress progress       // while the plan is read
	offers   offers         // likewise
	turns    []*plannedCall // prompts whose turn is not over, likewise
}

// A move is a message of the client, or a batch.
type move struct {
	seq        uint64
	messages   [][]byte
	batch      bool
	tellsOf    *recordedRequest // the agent's request of whose progress it tells; nil if it is not about one
	method     string           // the first of a batch
	params     []byte           // likewise
	calls      []*plannedCall
	session    string
	checkpoint checkpoint
	offers     offers // what the agent offered then
}

// A plannedCall is a request of the client, and what the agent answered.
type plannedCall struct {
	seq     uint64
	id      string // JSON; the same now as then
	method  string
	session string   // that it is about or makes
	answer  *awaited // nil if there was none
	turn    *awaited // of a prompt whose answer does not end its turn: what does; else nil
	failed  bool
	made    []dialect.Field // ids in the answer that the agent made
}

// An awaited is something that the agent did before the client went on.
type awaited struct {
	seq  uint64
	what string
	turn bool // the end of a turn that is no answer
	come bool
}

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

// ready reports whether all that the client waited for before it made a move of
// the thread has come. What belongs to no session waits for all sessions.
func (p *plan) ready(t *thread, m *move) bool {
	for _, other := range p.threads {
		if (other == t || other.session == "" || t.session == "") && other.waits(m.seq) {
			return false
		}
	}
	return true
}

// waits reports whether something that stood before a frame has not come.
func (t *thread) waits(seq uint64) bool {
	for len(t.awaited) > 0 && t.awaited[0].come {
		t.awaited = t.awaited[1:]
	}
	return len(t.awaited) > 0 && t.awaited[0].seq < seq
}
