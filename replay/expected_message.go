package replay

import (
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// An expectedMessage is a recorded message of the client and its state: has the live
// client sent it?
type expectedMessage struct {
	seq      uint64
	entry    int       // of a batch, from 0; otherwise -1
	kind     wire.Kind // Request, Response or Notification
	method   string    // of an answer: its request's
	session  string
	stream   uint64
	id       string // of a request, as recorded; JSON
	lane     *lane
	request  *agentRequest // of an answer: the agent's request
	required bool          // the report lists it if it never comes
	token    []byte        // progress token, as recorded; JSON
	version  string        // of initialize: the version in the answer; JSON
	at       time.Duration // on the tape
	gap      time.Duration // since the previous frame in its lane
	raw      []byte        // nil: must be read again
	long     bool          // raw is only its beginning

	came     bool   // the live client has sent it
	live     []byte // its live id
	batch    int    // number of the client's batch that contained it; 0: none
	refused  bool   // its answer is an HTTP status
	answered bool   // its response was read from the tape
}

// compare orders messages by their position on the tape.
func (exp *expectedMessage) compare(o *expectedMessage) int {
	return cmp.Or(cmp.Compare(exp.seq, o.seq), cmp.Compare(exp.entry, o.entry))
}

// over reports whether the player has stopped waiting for the message.
func (exp *expectedMessage) over() bool { return exp.came || exp.lane.dead }

// A queue holds expected messages in tape order.
type queue struct {
	messages []*expectedMessage
	used     int // how many of them have come; counted only for queues in player.waiting
}

func (q *queue) add(exp *expectedMessage) { q.messages = append(q.messages, exp) }

// first returns the first message that the player still waits for.
func (q *queue) first() *expectedMessage {
	for len(q.messages) > 0 && q.messages[0].over() {
		q.messages[0] = nil
		q.messages = q.messages[1:]
	}
	if len(q.messages) == 0 {
		return nil
	}
	return q.messages[0]
}

// before reports whether the player still waits for a message before pos.
func (q *queue) before(pos uint64) bool {
	exp := q.first()
	return exp != nil && exp.seq < pos
}

// An agentRequest is a request of the agent on the tape.
type agentRequest struct {
	seq       uint64
	id        string // JSON; sent as recorded
	method    string
	lane      *lane
	answer    *expectedMessage // the recorded answer; nil: not read yet
	lost      bool             // the tape has no answer: the agent reused the id, or the tape ended
	cancelled bool             // by the agent
}
