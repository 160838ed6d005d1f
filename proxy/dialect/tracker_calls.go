package dialect

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A call is a request that waits for its response, with the facts that the response will
// not repeat.
type call struct {
	Seq     uint64        `json:"seq"`
	At      time.Duration `json:"at,omitempty"`
	Method  string        `json:"method,omitempty"`
	Session string        `json:"session,omitempty"`
	Wrapped string        `json:"wrapped,omitempty"` // the inner method of a request passed along a proxy chain
	Cwd     string        `json:"cwd,omitempty"`     // of a setup
	Parent  string        `json:"parent,omitempty"`  // of a fork
	Servers idList        `json:"servers,omitempty"` // those that a setup declares, or the one that mcp/connect names
	Link    string        `json:"link,omitempty"`    // the connection that mcp/disconnect ends
	Offer   Dialect       `json:"offer,omitempty"`   // of initialize, and of a modern MCP request
	Rejects idList        `json:"rejects,omitempty"` // the options of a permission request that deny it
	Tool    string        `json:"tool,omitempty"`    // the key of the tool call that a permission or input is requested for

	Cancelled bool `json:"cancelled,omitempty"` // by its sender
}

// An idList holds ids as a JSON array of strings, so even a damaged one takes no more
// memory than in the state of a Tracker.
type idList []byte

// maxIDList limits the bytes of an idList: room for thousands of ids.
const maxIDList = 64 << 10

// add adds an id, or returns false if there is no room.
func (l *idList) add(id string) bool {
	quoted := wire.Encode(id)
	if len(*l)+len(quoted)+len("[,]") > maxIDList {
		return false
	}
	if *l == nil {
		*l = append(append(idList{'['}, quoted...), ']')
		return true
	}
	(*l)[len(*l)-1] = ','
	*l = append(append(*l, quoted...), ']')
	return true
}

// all yields the ids.
func (l idList) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range wire.Elements(l) {
			if !yield(wire.Text(id)) {
				return
			}
		}
	}
}

// MarshalJSON returns the array.
func (l idList) MarshalJSON() ([]byte, error) { return l, nil }

// UnmarshalJSON accepts the array, in which a character may be spelled \u003c.
func (l *idList) UnmarshalJSON(data []byte) error {
	if len(data) > len(`\u003c`)*maxIDList {
		return fmt.Errorf("a list of %d bytes", len(data))
	}
	*l = bytes.Clone(data)
	return nil
}

// A pair is the request that each end waits for under one id. The two differ only if
// acptap inserted a request of its own between the ends: only the sender knows a withheld
// request, only the receiver an injected one.
type pair struct {
	Client *call `json:"client,omitempty"`
	Agent  *call `json:"agent,omitempty"`
}

// ask remembers a request.
func (t *Tracker) ask(f *wire.Frame, id []byte, c *call) {
	key := callKey{f.Dir, IDKey(id), f.Stream}
	p, _ := t.calls.Get(key)
	if f.AtClient() {
		p.Client = c
	}
	if f.AtAgent() {
		p.Agent = c
	}
	t.calls.Set(key, p)
}

// answer returns the requests that a response answers, and removes them.
func (t *Tracker) answer(f *wire.Frame, id []byte) pair {
	key, p, ok := t.calls.find(callKey{f.Dir.Opposite(), IDKey(id), f.Stream})
	if !ok {
		return p
	}
	answered, left := p, p
	if f.AtClient() {
		left.Client = nil
	} else {
		answered.Client = nil
	}
	if f.AtAgent() {
		left.Agent = nil
	} else {
		answered.Agent = nil
	}
	if left == (pair{}) {
		t.calls.Drop(key)
	} else {
		t.calls.Set(key, left)
	}
	return answered
}

// open returns the open request that a message from the side with direction dir refers
// to, or nil if there is none. If acptap replaced that request, open returns the side's
// own.
func (t *Tracker) open(f *wire.Frame, dir wire.Direction, id []byte) *call {
	p := t.waiting(f, dir, id)
	own, other := p.Client, p.Agent
	if dir == wire.AgentToClient {
		own, other = other, own
	}
	if own == nil {
		return other
	}
	return own
}

// waiting returns the requests open under an id that a message refers to.
func (t *Tracker) waiting(f *wire.Frame, dir wire.Direction, id []byte) pair {
	_, p, _ := t.calls.find(callKey{dir, IDKey(id), f.Stream})
	return p
}

// named returns the session of the open request that a message refers to, if known.
func (t *Tracker) named(f *wire.Frame, dir wire.Direction, id []byte) string {
	if c := t.open(f, dir, id); c != nil {
		return c.Session
	}
	return ""
}
