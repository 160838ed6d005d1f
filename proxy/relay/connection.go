package relay

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// Limits of connections without a request.
const (
	idleTime      = 10 * time.Minute
	maxIdle       = 128
	unsettledTime = time.Minute
)

// A connection is one conversation of a client with the server, recorded on one tape.
type connection struct {
	facts  Facts
	begin  func(Facts) *tape
	once   sync.Once
	tape   *tape // set by once
	opened time.Time

	// Guarded by connections.mu.
	keys    []key
	peer    peer
	client  string // empty if it has not identified itself
	settled bool   // it has an id, or a guess in place of one
	open    int    // requests in flight
	waiting int    // open requests without a response
	last    time.Time
	idle    *time.Timer // nil while a request is in flight
	ended   string      // why it ended; it closes with its last request
}

// recorded returns the connection's tape. The first call begins it.
func (c *connection) recorded() *tape {
	c.once.Do(func() { c.tape = c.begin(c.facts) })
	return c.tape
}

// A key identifies the requests of one connection.
type key struct {
	kind  keyKind
	value string
}

type keyKind string

const (
	mcpSession    keyKind = "Mcp-Session-Id"    // MCP 2025-03-26 to 2025-11-25
	acpConnection keyKind = "Acp-Connection-Id" // ACP over HTTP
	endpoint      keyKind = "endpoint"          // MCP 2024-11-05: where the client's messages go
	wholePeer     keyKind = "peer"              // a guess: the server gave no id
	namedPeer     keyKind = "client"            // a guess: MCP 2026-07-28 has no ids
)

// guess reports whether two clients might share this key.
func (k keyKind) guess() bool { return k == wholePeer || k == namedPeer }

// Why connections end.
const (
	becauseDeleted  = "the client deleted the session"
	becauseUnknown  = "the server does not know the session any more"
	becauseIdle     = "idle"
	becauseReplaced = "the client began another connection"
	becauseStreamed = "the event stream ended"
	becauseSocket   = "the WebSocket was closed"
	becauseNoSocket = "no WebSocket was opened"
)

// connections are the connections of a relay.
type connections struct {
	begin func(Facts) *tape

	mu       sync.Mutex
	byKey    map[key]*connection      // guarded by mu
	all      map[*connection]struct{} // guarded by mu; excludes listener
	listener *connection              // guarded by mu; handles requests that belong to no connection; nil before the first one
	closing  sync.WaitGroup
}

// enter returns the connection that a request belongs to, and counts the request; guessed
// says that no id ties the request to it. The caller must call leave once.
func (s *connections) enter(q question) (c *connection, guessed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = s.find(q)
	c.waiting++
	if c.open++; c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	guessed = q.id.value == "" && c.settled && slices.ContainsFunc(c.keys, func(k key) bool { return k.kind.guess() })
	return c, guessed
}

// find is enter without counting. Called with mu held.
func (s *connections) find(q question) *connection {
	switch {
	case q.upgrade:
		return s.add(q, "ws")
	case q.id.value != "":
		return s.keyed(q, q.id)
	case s.byKey[key{endpoint, q.target}] != nil && q.target != "":
		return s.byKey[key{endpoint, q.target}]
	case dialect.Does(q.method, dialect.Initializes):
		return s.unsettledOr(q)
	case q.modern:
		return s.keyed(q, q.guess())
	case q.message, q.listens:
		if c := s.byKey[q.guess()]; c != nil {
			return c
		}
		return s.unsettledOr(q)
	}
	if s.listener == nil {
		s.listener = &connection{facts: Facts{Transport: "http"}, begin: s.begin, opened: time.Now(), settled: true}
	}
	return s.listener
}

// keyed returns the connection with a key. If there is none, for example because the
// session is older than acptap, it makes one. Called with mu held.
func (s *connections) keyed(q question, k key) *connection {
	c := s.byKey[k]
	switch {
	case c != nil:
		return c
	case k.kind.guess():
		c = s.unsettledOr(q)
	default:
		c = s.add(q, "http")
		c.settled = true
	}
	s.give(c, k)
	return c
}

func (s *connections) add(q question, transport string) *connection {
	c := &connection{
		facts: Facts{Transport: transport}, peer: q.peer, client: q.client, begin: s.begin,
		opened: time.Now(), settled: transport == "ws",
	}
	if s.all == nil {
		s.all, s.byKey = map[*connection]struct{}{}, map[key]*connection{}
	}
	s.all[c] = struct{}{}
	return c
}

// unsettledOr returns a connection of the same client that has no id yet and waits for no
// response, or else a new one. A client whose request is refused tries another, possibly
// before the response has ended. Called with mu held.
func (s *connections) unsettledOr(q question) *connection {
	for c := range s.all {
		if c.settled || c.ended != "" || c.waiting > 0 || time.Since(c.opened) >= unsettledTime || !c.peer.before(q.peer) {
			continue
		}
		if c.client != "" && q.client != "" && c.client != q.client {
			continue
		}
		c.peer, c.client = q.peer, cmp.Or(q.client, c.client)
		return c
	}
	return s.add(q, "http")
}

// give assigns a key to the connection. The key's previous connection ends. Called with
// mu held.
func (s *connections) give(c *connection, k key) {
	switch other := s.byKey[k]; other {
	case c:
		return
	case nil:
	default:
		s.end(other, becauseReplaced)
	}
	s.byKey[k] = c
	c.keys = append(c.keys, k)
}

// settle assigns the connection the key that identifies it. An id from the server
// replaces a guess.
func (s *connections) settle(c *connection, k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == s.listener || c.ended != "" || c.settled && k.kind.guess() {
		return
	}
	for i := len(c.keys) - 1; i >= 0 && !k.kind.guess(); i-- {
		if old := c.keys[i]; old.kind.guess() {
			delete(s.byKey, old)
			c.keys = append(c.keys[:i], c.keys[i+1:]...)
		}
	}
	c.settled = true
	s.give(c, k)
}

// over ends the connection once its last request has ended.
func (s *connections) over(c *connection, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c != s.listener {
		s.end(c, why)
	}
}

// end ends a connection. The caller must hold mu.
func (s *connections) end(c *connection, why string) {
	if c.ended == "" {
		c.ended = why
		for _, k := range c.keys {
			delete(s.byKey, k)
		}
	}
	if c.open == 0 {
		s.remove(c)
	}
}

// remove closes a connection that has no request in flight. Called with mu held.
func (s *connections) remove(c *connection) {
	if _, here := s.all[c]; !here {
		return
	}
	delete(s.all, c)
	if c.idle != nil {
		c.idle.Stop()
	}
	why := c.ended
	s.closing.Go(func() { c.recorded().close(why) })
}

// answered is called once per request: with the head of its response, or when it ends
// without one.
func (s *connections) answered(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiting--
}

// leave is called when a request has ended.
func (s *connections) leave(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.open--
	switch {
	case c.open > 0 || c == s.listener:
	case c.ended != "":
		s.remove(c)
	default:
		c.last = time.Now()
		c.idle = time.AfterFunc(idleTime, func() { s.expire(c) })
		s.limit()
	}
}

// expire ends a connection that has been idle too long.
func (s *connections) expire(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.open == 0 && time.Since(c.last) >= idleTime {
		s.end(c, becauseIdle)
	}
}

// limit ends the connection that has been idle longest if there are too many. Called with
// mu held.
func (s *connections) limit() {
	var oldest *connection
	n := 0
	for c := range s.all {
		if c.open == 0 {
			n++
			if oldest == nil || c.last.Before(oldest.last) {
				oldest = c
			}
		}
	}
	if n > maxIdle {
		s.end(oldest, becauseIdle)
	}
}

// close closes all connections, and waits until they are closed.
func (s *connections) close(why string) {
	s.mu.Lock()
	for c := range s.all {
		c.open = 0
		s.end(c, why)
	}
	if c := s.listener; c != nil {
		s.listener = nil
		s.closing.Go(func() { c.recorded().close(why) })
	}
	s.mu.Unlock()
	s.closing.Wait()
}
