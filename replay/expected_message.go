package replay

import (
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// An expectedMessage is a recorded message of the client, and whether the live client
// has sent it.
type expectedMessage struct {
	seq      uint64
	entry    int       // of a batch, from 0; else -1
	kind     wire.Kind // Request, Response or Notification
	method   string    // of an answer: its request's
	session  string
	stream   uint64
	id       string // of a request, as recorded; JSON
	lane     *lane
	request  *agentRequest // of an answer: the agent's request
	required bool          // if it never comes, that is reported
	token    []byte        // of progress, as recorded; JSON
	version  string        // of initialize: that of the answer; JSON
	at       time.Duration // on the tape
	gap      time.Duration // since the previous frame in its lane
	raw      []byte        // nil: must be read again
	long     bool          // raw is only its beginning

	came     bool   // the live client has sent it
	live     []byte // its live id
	batch    int    // number of the client's batch that it came in; 0: none
	refused  bool   // its answer is a status of HTTP
	answered bool   // its response was read from the tape
}

// compare orders messages as on the tape.
func (exp *expectedMessage) compare(o *expectedMessage) int {
	return cmp.Or(cmp.Compare(exp.seq, o.seq), cmp.Compare(exp.entry, o.entry))
}

// over reports whether nothing waits for the message any more.
func (exp *expectedMessage) over() bool { return exp.came || exp.lane.dead }

// A queue has expected messages in the order of the tape.
type queue struct {
	messages []*expectedMessage
	used     int // how many of them have come; counted for those in player.waiting only
}

func (q *queue) add(exp *expectedMessage) { q.messages = append(q.messages, exp) }

// first returns the first message that has not come and is still waited for.
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

// before reports whether a message that is still waited for precedes pos.
func (q *queue) before(pos uint64) bool {
	exp := q.first()
	return exp != nil && exp.seq < pos
}
