package replay

import (
	"bytes"
	"io"
	"sync"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A liveJournal records what client and live agent send to each other, with the ids that
// the client knows, so that a replay looks the same to the client. Of the player's own
// messages it records only initialize, without which a tape says little.
type liveJournal struct {
	mu sync.Mutex
	to proxy.Journal // may be nil; guarded by mu
}

// line records a line, which has no line feed. The journal itself keeps any error.
func (j *liveJournal) line(dir wire.Direction, line []byte) {
	j.append(dir, append(bytes.Clone(line), '\n'))
}

func (j *liveJournal) append(dir wire.Direction, p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.to != nil {
		j.to.Append(dir, wire.Wire, p)
	}
}

// A liveStderr passes on the live agent's stderr, and records it.
type liveStderr struct {
	journal *liveJournal
	w       io.Writer
}

func (s *liveStderr) Write(p []byte) (int, error) {
	s.journal.append(wire.AgentStderr, p)
	return s.w.Write(p)
}
