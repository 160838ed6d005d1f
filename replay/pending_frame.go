package replay

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A pendingFrame is a frame of the agent, or a line on its stderr, that has been
// read from the tape and not been sent.
type pendingFrame struct {
	seq     uint64
	pos     uint64 // it waits for what is wanted before this number; seq in most cases
	at      time.Duration
	raw     []byte           // kept; nil: to be read again
	reply   *expectedMessage // of a response: the request
	request *agentRequest    // of a request
	batch   *agentBatch      // of an entry of a batch
	entry   int              // its place there, from 0; else -1
	method  string
	ends    bool // a turn
	token   bool // it is about a progress token
	long    bool // the tape gives only its beginning
	end     wire.LineEnd
	dir     wire.Direction
	after   *expectedMessage // of what belongs to no session: the client's last message before it, if that is waited for
	slot    *slot            // where it stands, if a line follows; of such a line where the frame before it does, if that was not sent
}

// A slot is the place of a frame that has not been sent, for lines that follow it.
type slot struct {
	lane   *lane
	passed bool
}

// over reports whether the frame was sent, or never will be.
func (s *slot) over() bool { return s.passed || s.lane.dead }

func newPendingFrame(f *dialect.Frame) pendingFrame {
	return pendingFrame{
		seq: f.Seq, pos: f.Seq, at: f.At, dir: f.Dir, end: f.End, entry: -1,
		method: f.Method, ends: f.Events.Has(dialect.TurnEnded), long: int64(len(f.Raw)) < f.Size,
	}
}
