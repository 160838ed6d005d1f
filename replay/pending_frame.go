package replay

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A pendingFrame is a frame of the agent, or a line of its stderr, that was read from the
// tape and not sent yet.
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
	token   bool // it is about a progress token
	long    bool // raw is only its beginning
	end     wire.LineEnd
	dir     wire.Direction
	after   *expectedMessage // of a frame of the connection or another line: the client's last message before it; nil if that has come
	slot    *slot            // of another line: the slot of the frame before it; of a frame: set if such a line follows
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
