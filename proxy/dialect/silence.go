package dialect

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// LongSilence is how long nothing may come of an agent that is to answer: longer
// than a model needs for its first words, shorter than a user waits in patience.
const LongSilence = 10 * time.Second

// A clock knows when something crossed the wire last.
type clock struct {
	Last  time.Duration `json:"last,omitempty"`
	Known bool          `json:"known,omitempty"` // false: nobody knows, or bytes are missing since
}

// since takes the time of the next frame, and returns how long nothing has come
// before it; 0 if nobody knows.
func (c *clock) since(f *wire.Frame) time.Duration {
	quiet := f.At - c.Last
	if !c.Known || f.Untimed {
		quiet = 0
	}
	c.Last, c.Known = f.At, !f.Untimed
	return quiet
}

// silence reports whether the agent was silent before f. Frames of both sides end a
// silence, whoever is to answer: a client that asks for something else meanwhile
// hears of it. What the agent writes to stderr ends none, for no client reads it.
//
// Who is at work is found as in the parts of a turn (record/trace): first the user,
// who is asked for a permission, for input or to log in; then the client, which
// reads a file or runs a command. As long as the agent waits for these it is not
// silent, however long they take. Else the silence is the agent's if a request
// that it has got is open: its model's, or that of a tool it runs by itself.
func (t *Tracker) silence(f *wire.Frame) bool {
	return t.clock.since(f) > LongSilence && t.isAgentsTurn()
}

// maxAtWork is how many open requests are looked at, the newest: more are not worked
// on at once, and a tape may have tens of thousands that nobody will answer.
const maxAtWork = 256

// isAgentsTurn reports whether the agent is to answer and waits for nobody.
func (t *Tracker) isAgentsTurn() bool {
	owes, n := false, 0
	for key, p := range t.calls.Newest() {
		if n++; n > maxAtWork {
			break
		}
		c := p.Agent
		if c == nil || c.Cancelled {
			continue
		}
		switch ends := row(AnyProtocol, c.Method).ends(); {
		case key.Dir == wire.AgentToClient, ends == ByUser:
			return false
		case ends == ByReceiver:
			owes = true
		}
	}
	n = 0
	for _, u := range t.turns.Newest() {
		if n++; owes || n > maxAtWork {
			break
		}
		owes = u.Accepted
	}
	return owes
}
