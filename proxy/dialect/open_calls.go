package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A call is a request that waits for its response, with what its response will
// not say again.
type call struct {
	Seq     uint64   `json:"seq"`
	Method  string   `json:"method,omitempty"`
	Session string   `json:"session,omitempty"`
	Wrapped string   `json:"wrapped,omitempty"` // the method inside of a frame that was passed along a proxy chain
	Cwd     string   `json:"cwd,omitempty"`     // of a setup
	Parent  string   `json:"parent,omitempty"`  // of a fork
	Servers []string `json:"servers,omitempty"` // that a setup declares, or that mcp/connect names
	Link    string   `json:"link,omitempty"`    // the connection that mcp/disconnect ends
	Offer   Dialect  `json:"offer,omitempty"`   // of initialize, and of a modern MCP request
}

// A callKey names a request. Both directions are spaces of their own, and so
// are the ids `7` and `"7"` (JSON-RPC 2.0, section 4).
type callKey struct {
	Dir wire.Direction `json:"dir"`
	ID  string         `json:"id"`
}

// A pair is the request that each end waits for under one id. They differ only
// where acptap put a request of its own between the two: what it withheld, only
// the sender knows, what it injected, only the receiver.
type pair struct {
	Client *call `json:"client,omitempty"`
	Agent  *call `json:"agent,omitempty"`
}

// ask remembers a request.
func (t *Tracker) ask(f *wire.Frame, id []byte, c *call) {
	key := callKey{f.Dir, short(id)}
	p, _ := t.calls.get(key)
	if f.AtClient() {
		p.Client = c
	}
	if f.AtAgent() {
		p.Agent = c
	}
	t.calls.set(key, p)
}

// answer returns the requests that a response answers, and forgets them.
func (t *Tracker) answer(f *wire.Frame, id []byte) pair {
	key := callKey{opposite(f.Dir), short(id)}
	p, ok := t.calls.get(key)
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
		t.calls.drop(key)
	} else {
		t.calls.set(key, left)
	}
	return answered
}

// open returns the open request that a side names, nil if there is none: its
// own if acptap put one of that id in its place.
func (t *Tracker) open(dir wire.Direction, id []byte) *call {
	p, _ := t.calls.get(callKey{dir, short(id)})
	own, other := p.Client, p.Agent
	if dir == wire.AgentToClient {
		own, other = other, own
	}
	if own == nil {
		return other
	}
	return own
}

// named returns the session of an open request, if it is known.
func (t *Tracker) named(dir wire.Direction, id []byte) string {
	if c := t.open(dir, id); c != nil {
		return c.Session
	}
	return ""
}

// short returns the text of an id, or a digest of one that is too long to keep.
func short(id []byte) string {
	if len(id) <= 64 && utf8.Valid(id) {
		return string(id)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:])
}
