package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

const (
	// maxWork limits the unhandled requests of a connection.
	maxWork = 64

	// maxOutbox and maxOutboxBytes limit the notifications that a client has not yet read.
	// Past either limit, notifications are only counted.
	maxOutbox      = 1000
	maxOutboxBytes = 4 << 20

	// maxAnswers limits the bytes of responses that a client has not yet read. Past it the
	// server closes the connection.
	maxAnswers = 64 << 20

	// lastPatience is how long a client that sends no more requests may take to read the
	// answers.
	lastPatience = time.Second
)

// A conn is a connection to a user.
type conn struct {
	server *Server
	conn   *net.UnixConn
	work   chan message
	user   *rule.User // nil before hello; used only by the goroutine of act
	wake   chan struct{}
	lease  *time.Timer // nil if the user does not attend

	mu      sync.Mutex
	why     string         // guarded by mu: why the server ends the connection
	answers []answer       // guarded by mu: not yet written
	size    int            // guarded by mu: bytes of answers
	notices []Notification // guarded by mu: not yet written
	shown   int            // guarded by mu: bytes of frames in notices
	hits    map[string]int // guarded by mu
	lost    int            // guarded by mu
	until   time.Time      // guarded by mu: deadline for what is queued; zero: not closing
	ended   bool           // guarded by mu: the proxy has ended
}

func newConn(s *Server, u *net.UnixConn) *conn {
	return &conn{server: s, conn: u, work: make(chan message, maxWork), wake: make(chan struct{}, 1), hits: map[string]int{}}
}

// serve runs the connection until it ends.
func (c *conn) serve() {
	var acting, writing sync.WaitGroup
	writing.Go(c.write)
	acting.Go(c.act)
	c.read()
	close(c.work)
	acting.Wait()
	c.finish(lastPatience)
	writing.Wait()
	c.conn.Close()
}

// read reads requests. It answers pings itself, so that they do not queue behind other
// requests.
func (c *conn) read() {
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Method == "" {
			c.answer(m.ID, nil, fmt.Errorf("not a request: %.100q", lines.Bytes()), wire.InvalidRequest)
			continue
		}
		if m.Method == "ping" {
			c.mu.Lock()
			if c.lease != nil {
				c.lease.Reset(lease)
			}
			c.mu.Unlock()
			c.answer(m.ID, struct{}{}, nil, 0)
			continue
		}
		select {
		case c.work <- m:
		default:
			c.answer(m.ID, nil, fmt.Errorf("%d requests wait already", maxWork), wire.InternalError)
		}
	}
}

// act handles requests in turn. When there are no more, it makes the user leave.
func (c *conn) act() {
	for m := range c.work {
		var p params
		if len(m.Params) > 0 {
			if err := json.Unmarshal(m.Params, &p); err != nil {
				c.answer(m.ID, nil, err, wire.InvalidParams)
				continue
			}
		}
		if m.Method == "inject" {
			c.inject(m.ID, &p)
			continue
		}
		result, err := c.handle(m.Method, &p)
		code := wire.InvalidParams
		if errors.Is(err, errNoMethod) {
			code = wire.MethodNotFound
		}
		c.answer(m.ID, result, err, code)
	}
	if c.user == nil {
		return
	}
	c.mu.Lock()
	why := c.why
	if c.lease != nil {
		c.lease.Stop()
	}
	c.mu.Unlock()
	if why == "" {
		why = "the user has gone"
	}
	c.user.Leave(why)
}

var errNoMethod = errors.New("no such method")

// handle handles a request.
func (c *conn) handle(method string, p *params) (result any, err error) {
	if method == "hello" {
		return c.hello(p)
	}
	if c.user == nil {
		return nil, errors.New("hello comes first")
	}
	u := c.user
	switch method {
	case "held/list":
		held, err := u.Held()
		list := []Held{}
		for _, h := range held {
			if p.ID == 0 || h.ID == p.ID {
				list = append(list, newHeld(h, p.ID != 0))
			}
		}
		return map[string]any{"held": list}, err
	case "held/release":
		if p.ID == 0 {
			return nil, u.ReleaseAll()
		}
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		return nil, u.Release(p.ID, line)
	case "held/drop":
		return nil, u.Drop(p.ID)
	case "held/answer":
		if (p.Result == nil) == (p.Error == nil) {
			return nil, errors.New("an answer has a result or an error")
		}
		return nil, u.Answer(p.ID, compact(p.Result), compact(p.Error))
	case "hold":
		var limit time.Duration
		if p.Limit != "" {
			if limit, err = time.ParseDuration(p.Limit); err != nil {
				return nil, err
			}
		}
		return nil, u.Hold(p.Filter, p.Count, limit)
	case "rules/list":
		rules, err := u.Rules()
		list := []Rule{}
		for _, r := range rules {
			list = append(list, Rule(r))
		}
		return map[string]any{"rules": list}, err
	case "rules/add":
		return nil, u.AddRules("", p.Text)
	case "rules/load":
		if p.File == "" {
			return nil, errors.New("the name of the file is missing")
		}
		return nil, u.AddRules(p.File, p.Text)
	case "rules/remove":
		return nil, u.RemoveRule(p.Name)
	case "rules/enable":
		return nil, u.EnableRule(p.Name, p.On)
	}
	return nil, errNoMethod
}

// hello joins the client as a user.
func (c *conn) hello(p *params) (any, error) {
	switch {
	case c.user != nil:
		return nil, errors.New("hello comes once")
	case p.Version != Version:
		return nil, fmt.Errorf("this proxy speaks version %d of the protocol, not %d: use the same acptap", Version, p.Version)
	}
	u, held, err := c.server.desk.Join(p.Attend, c.tell)
	if err != nil {
		return nil, err
	}
	c.user = u
	if p.Attend {
		c.mu.Lock()
		c.lease = time.AfterFunc(lease, func() { c.close(fmt.Sprintf("the user gave no sign for %v", lease)) })
		c.mu.Unlock()
	}
	h := Hello{Version: Version, Tape: c.server.tape, PID: os.Getpid()}
	for _, one := range held {
		h.Held = append(h.Held, newHeld(one, false))
	}
	return h, nil
}

// inject injects a line. A request is answered when the peer's answer arrives.
func (c *conn) inject(id *uint64, p *params) {
	line, err := p.line()
	dir, known := wire.ToPeer(p.Dir)
	switch {
	case c.user == nil:
		err = errors.New("hello comes first")
	case err != nil:
	case !known:
		err = errors.New("dir is agent or client")
	case line == nil:
		err = errors.New("the frame is missing")
	}
	if err != nil {
		c.answer(id, nil, err, wire.InvalidParams)
		return
	}
	request := wire.Scan(line).Kind == wire.Request
	err = c.user.Inject(dir, line, func(response []byte) {
		if id != nil {
			c.queue(answer{injected: id, line: response})
		}
	})
	if err != nil || !request {
		c.answer(id, nil, err, wire.InvalidParams)
	}
}

// line returns the line in the parameters, or nil if there is none.
func (p *params) line() ([]byte, error) {
	switch {
	case p.Frame != nil && p.Text != "":
		return nil, errors.New("there are both a frame and a text")
	case p.Text != "":
		return []byte(p.Text), nil
	}
	return compact(p.Frame), nil
}

// compact rewrites JSON as one line. nil stays nil.
func compact(v json.RawMessage) []byte {
	if v == nil || !bytes.ContainsAny(v, "\n\r") {
		return v
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}

// An answer is the response to a request of the client.
type answer struct {
	line     []byte  // the response
	injected *uint64 // the id of the inject request that line answers; nil: an answer of our own
}

// encode returns the line to be written.
func (a answer) encode() []byte {
	line := a.line
	if a.injected != nil { // encoded here and not when queued, because the proxy waits in queue
		id := strconv.AppendUint(nil, *a.injected, 10)
		if json.Valid(line) {
			line = wire.NewResult(id, slices.Concat([]byte(`{"answer":`), line, []byte("}")))
		} else {
			line = wire.NewFailure(id, wire.InternalError, fmt.Sprintf("the answer, of %d bytes, is broken or too deep: the tape has it", len(line)), nil)
		}
	}
	return append(line, '\n')
}

// answer queues the response to the request with id, or does nothing if id is nil.
func (c *conn) answer(id *uint64, result any, err error, code int) {
	if id == nil {
		return
	}
	number := strconv.AppendUint(nil, *id, 10)
	switch {
	case err != nil:
		c.queue(answer{line: wire.NewFailure(number, code, err.Error(), nil)})
	case result == nil:
		c.queue(answer{line: wire.NewResult(number, []byte("{}"))})
	default:
		c.queue(answer{line: wire.NewResult(number, raw(result))})
	}
}

// queue queues an answer for the client. It must be quick, because the proxy may wait for it.
func (c *conn) queue(a answer) {
	c.mu.Lock()
	c.answers = append(c.answers, a)
	c.size += len(a.line)
	full := c.size > maxAnswers
	c.mu.Unlock()
	c.wakeUp()
	if full {
		c.close("the user does not read the answers")
	}
}

// tell queues an event for the client. It must be quick, because the proxy waits for it.
func (c *conn) tell(e rule.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.until.IsZero():
	case e.Rule != "":
		c.hits[e.Rule] = e.Hits
	case len(c.notices) >= maxOutbox || c.shown >= maxOutboxBytes:
		c.lost++
	case e.Held != nil:
		h := newHeld(*e.Held, false)
		c.notices = append(c.notices, Notification{Kind: "held", Held: &h})
		c.shown += len(h.Frame) + len(h.Text)
	default:
		c.notices = append(c.notices, Notification{Kind: "gone", ID: e.Gone, Why: e.Why})
	}
	c.wakeUp()
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write writes queued messages until the connection ends.
func (c *conn) write() {
	for {
		lines, last := c.take()
		for _, line := range lines {
			if _, err := c.conn.Write(line); err != nil {
				c.conn.Close() // makes the reader end
				break
			}
		}
		if last {
			c.conn.Close()
			return
		}
		<-c.wake
	}
}

// take empties the queues and returns their lines. last says that nothing will follow.
func (c *conn) take() (lines [][]byte, last bool) {
	c.mu.Lock()
	answers, notices, lost, hits := c.answers, c.notices, c.lost, map[string]int(nil)
	c.answers, c.size, c.notices, c.shown, c.lost, last = nil, 0, nil, 0, 0, !c.until.IsZero()
	ended := c.ended
	if len(c.hits) > 0 {
		hits, c.hits = c.hits, map[string]int{}
	}
	c.mu.Unlock()
	for _, a := range answers {
		lines = append(lines, a.encode())
	}
	say := func(n Notification) {
		lines = append(lines, encode(message{Version: "2.0", Method: n.Kind, Params: raw(n)}))
	}
	for _, n := range notices {
		say(n)
	}
	if lost > 0 {
		say(Notification{Kind: "lost", Count: lost})
	}
	for name, n := range hits {
		say(Notification{Kind: "hit", Rule: name, Count: n})
	}
	if ended {
		say(Notification{Kind: "ended"})
	}
	return lines, last
}

// end tells the client that the proxy has ended, and closes the connection soon after.
func (c *conn) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.finish(20 * time.Millisecond)
}

// finish closes the connection once the queues are written, or after patience.
func (c *conn) finish(patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(patience); c.until.IsZero() || until.Before(c.until) {
		c.until = until
		c.conn.SetWriteDeadline(until)
	}
	c.wakeUp()
}

// close ends the connection.
func (c *conn) close(why string) {
	c.mu.Lock()
	c.why = why
	c.mu.Unlock()
	c.conn.SetWriteDeadline(time.Now()) // unblocks a write
	c.conn.CloseRead()
	c.conn.Close()
}
