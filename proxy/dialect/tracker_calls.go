package dialect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A call is a request that waits for its response, with what its response will
// not say again.
type call struct {
	Seq     uint64  `json:"seq"`
	Method  string  `json:"method,omitempty"`
	Session string  `json:"session,omitempty"`
	Wrapped string  `json:"wrapped,omitempty"` // the method inside of a frame that was passed along a proxy chain
	Cwd     string  `json:"cwd,omitempty"`     // of a setup
	Parent  string  `json:"parent,omitempty"`  // of a fork
	Servers idList  `json:"servers,omitempty"` // that a setup declares, or that mcp/connect names
	Link    string  `json:"link,omitempty"`    // the connection that mcp/disconnect ends
	Offer   Dialect `json:"offer,omitempty"`   // of initialize, and of a modern MCP request
	Rejects idList  `json:"rejects,omitempty"` // the options of a permission that reject

	Cancelled bool `json:"cancelled,omitempty"` // by who asked
}

// An idList has ids as a JSON array of strings. As such it takes no more memory than
// in the state of a Tracker, whatever a damaged one says.
type idList []byte

// maxIDList is how many bytes an idList may have: thousands of ids.
const maxIDList = 64 << 10

// add adds an id, if there is room. It returns false if there is none.
func (l *idList) add(id string) bool {
	quoted := encode(id)
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
		r := wire.Inside(l, '[')
		for id, ok := r.Element(); ok && yield(text(id)); id, ok = r.Element() {
		}
	}
}

// MarshalJSON returns the array.
func (l idList) MarshalJSON() ([]byte, error) { return l, nil }

// UnmarshalJSON takes the array, in which a character may be written as \u003c.
func (l *idList) UnmarshalJSON(data []byte) error {
	if len(data) > len(`\u003c`)*maxIDList {
		return fmt.Errorf("a list of %d bytes", len(data))
	}
	*l = bytes.Clone(data)
	return nil
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

	Stream    uint64 `json:"stream,omitempty"`    // that they were sent on
	Elsewhere []pair `json:"elsewhere,omitempty"` // that wait under the same id on other streams, the newest first
}

// maxElsewhere bounds these. On a connection that is guessed over HTTP, several clients
// may use the same ids; a client by itself does not.
const maxElsewhere = 16

// on returns the pair of one stream, and those of the others.
func (p pair) on(stream uint64) (own pair, others []pair) {
	if p.Stream == stream && p.Elsewhere == nil {
		return p, nil
	}
	own = pair{Stream: stream}
	for _, one := range append([]pair{{p.Client, p.Agent, p.Stream, nil}}, p.Elsewhere...) {
		switch {
		case one.Stream == stream:
			own = one
		case one.Client != nil || one.Agent != nil:
			others = append(others, one)
		}
	}
	return own, others
}

// wait keeps the pair of a stream beside those of others, if anybody waits.
func (t *Tracker) wait(key callKey, own pair, others []pair) {
	if own.Client == nil && own.Agent == nil {
		if len(others) == 0 {
			t.calls.Drop(key)
			return
		}
		own, others = others[0], others[1:]
	}
	own.Elsewhere = nil
	if len(others) > 0 {
		own.Elsewhere = others[:min(len(others), maxElsewhere)]
	}
	t.calls.Set(key, own)
}

// ask remembers a request.
func (t *Tracker) ask(f *wire.Frame, id []byte, c *call) {
	key := callKey{f.Dir, IDKey(id)}
	p, _ := t.calls.Get(key)
	own, others := p.on(f.Stream)
	if f.AtClient() {
		own.Client = c
	}
	if f.AtAgent() {
		own.Agent = c
	}
	t.wait(key, own, others)
}

// answer returns the requests that a response answers, and forgets them: those of its
// own stream, or else of another one, as an answer may come on a stream that was resumed
// (MCP 2025-11-25, Streamable HTTP).
func (t *Tracker) answer(f *wire.Frame, id []byte) pair {
	key := callKey{opposite(f.Dir), IDKey(id)}
	p, ok := t.calls.Get(key)
	if !ok {
		return p
	}
	own, others := p.on(f.Stream)
	if own.Client == nil && own.Agent == nil && len(others) > 0 {
		own, others = others[0], others[1:]
	}
	answered, left := own, own
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
	t.wait(key, left, others)
	return answered
}

// open returns the open request that a side names, nil if there is none: its
// own if acptap put one of that id in its place.
func (t *Tracker) open(dir wire.Direction, id []byte) *call {
	p, _ := t.calls.Get(callKey{dir, IDKey(id)})
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

// IDKey returns what tells an id from others: the same for all ways to write one value,
// as a peer that decodes an id may answer 2.0 with 2, and "a\/b" with "a/b". `7` and
// `"7"` are different (JSON-RPC 2.0, section 4). Of an id that is too long to keep it is
// a digest.
func IDKey(id []byte) string {
	switch {
	case len(id) == 0:
	case id[0] == '"' && bytes.IndexByte(id, '\\') > 0:
		if text, ok := wire.Unquote(id); ok {
			id = slices.Concat([]byte{'"'}, text, []byte{'"'})
		}
	case id[0] != '"' && bytes.ContainsAny(id, ".eE"):
		if n, ok := wire.Integer(id); ok && n > -1<<53 && n < 1<<53 { // a float64 is exact
			id = strconv.AppendInt(nil, n, 10)
		}
	}
	if len(id) <= 64 && utf8.Valid(id) {
		return string(id)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:])
}
