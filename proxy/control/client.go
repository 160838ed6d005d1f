package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A Client is a connection to a running proxy.
type Client struct {
	Hello Hello // what the server said

	conn   *net.UnixConn
	ledger *ledger
	asking sync.WaitGroup // goroutines that ask which frames wait
	done   chan struct{}  // closed when the connection has ended

	writing sync.Mutex // held while a line is written

	mu      sync.Mutex
	last    uint64                  // guarded by mu
	waiting map[uint64]chan message // guarded by mu; nil: the connection has ended
	err     error                   // guarded by mu: why the connection ended
}

// Dial connects to the proxy that listens at path. With attend, rules hold frames for this
// user, who must Ping; see PingEvery. tell, which may be nil, is called for one notification
// at a time and must not call the Client. It is first called for each waiting frame in Hello.
// If the server dropped notifications, the Client asks which frames wait, reports what has
// changed, and then reports the loss. The caller closes the Client.
func Dial(ctx context.Context, path string, attend bool, tell func(Notification)) (*Client, error) {
	conn, err := dial(path)
	if err != nil {
		return nil, err
	}
	switch uid, err := peer(conn); {
	case err != nil:
		conn.Close()
		return nil, fmt.Errorf("cannot tell whose proxy this is: %w", err)
	case uid != os.Geteuid():
		conn.Close()
		return nil, errors.New("the proxy belongs to another user")
	}
	if tell == nil {
		tell = func(Notification) {}
	}
	c := &Client{conn: conn, ledger: newLedger(tell), done: make(chan struct{}), waiting: map[uint64]chan message{}}
	go c.read()
	if err := c.Call(ctx, "hello", params{Version: Version, Attend: attend}, &c.Hello); err != nil {
		c.Close()
		return nil, err
	}
	c.asking.Go(func() { c.replace(c.Hello.Held) })
	return c, nil
}

// replace updates the ledger with the frames that wait, and asks again while notifications
// were lost.
func (c *Client) replace(held []Held) {
	for c.ledger.replace(held) {
		var err error
		if held, err = c.Held(context.Background()); err != nil {
			return // the connection has ended
		}
	}
}

// ask asks the proxy which frames wait, and updates the ledger.
func (c *Client) ask() {
	if held, err := c.Held(context.Background()); err == nil {
		c.replace(held)
	}
}

// Close ends the connection.
func (c *Client) Close() {
	c.conn.Close()
	<-c.done
	c.asking.Wait()
}

// Done returns a channel that is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection has ended.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// read handles the server's messages.
func (c *Client) read() {
	defer close(c.done)
	defer c.conn.Close()
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(make([]byte, 0, 4<<10), 2*maxLine)
	why := errors.New("the proxy has closed the connection")
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			break
		}
		if m.Method == "" {
			c.mu.Lock()
			if m.ID != nil && c.waiting[*m.ID] != nil {
				c.waiting[*m.ID] <- m
				delete(c.waiting, *m.ID)
			}
			c.mu.Unlock()
			continue
		}
		var n Notification
		if json.Unmarshal(m.Params, &n) != nil {
			continue
		}
		switch n.Kind = m.Method; n.Kind {
		case "refused":
			why = errors.New(n.Why)
		case "ended":
			why = errors.New("the proxy has ended")
			c.ledger.note(n)
		default:
			if c.ledger.note(n) {
				c.asking.Go(c.ask)
			}
		}
	}
	if errors.Is(lines.Err(), os.ErrDeadlineExceeded) {
		why = errors.New("the proxy does not read what it is sent")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = why
	for _, w := range c.waiting {
		close(w)
	}
	c.waiting = nil
}

// Call sends a request and waits for the answer. result may be nil. If the request cannot be
// written before the deadline of ctx, or within ten seconds, the connection ends.
func (c *Client) Call(ctx context.Context, method string, parameters, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return c.err
	}
	c.last++
	id := c.last
	c.waiting[id] = answer
	line := encode(message{Version: "2.0", ID: &id, Method: method, Params: raw(parameters)})
	c.mu.Unlock()
	if err := c.write(ctx, line); err != nil {
		<-c.done // the last message from the proxy says why
		return c.Err()
	}
	select {
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
		return ctx.Err()
	case m, ok := <-answer:
		switch {
		case !ok:
			return c.Err()
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

// write writes a line. The line may be half written after an error, so the connection is then
// about to end.
func (c *Client) write(ctx context.Context, line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	by := time.Now().Add(lease)
	if d, ok := ctx.Deadline(); ok && d.Before(by) {
		by = d
	}
	c.conn.SetWriteDeadline(by)
	_, err := c.conn.Write(line)
	if err != nil {
		c.conn.SetReadDeadline(time.Now().Add(lastPatience))
	}
	return err
}

// Ping tells the proxy that the user is still present.
func (c *Client) Ping(ctx context.Context) error {
	return c.Call(ctx, "ping", params{}, nil)
}

// Attend pings until ctx is done or the connection has ended.
func (c *Client) Attend(ctx context.Context) {
	every := time.NewTicker(PingEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.done:
			return
		case <-every.C:
			c.Ping(ctx)
		}
	}
}

// Hold holds the frames that match a filter; see rule.User.Hold.
func (c *Client) Hold(ctx context.Context, filter string, count int, limit time.Duration) error {
	p := params{Filter: filter, Count: count}
	if limit > 0 {
		p.Limit = limit.String()
	}
	return c.Call(ctx, "hold", p, nil)
}

// Held returns the waiting frames, without the contents of large ones.
func (c *Client) Held(ctx context.Context) ([]Held, error) {
	var r struct{ Held []Held }
	err := c.Call(ctx, "held/list", params{}, &r)
	return r.Held, err
}

// Frame returns the line of a waiting frame.
func (c *Client) Frame(ctx context.Context, id uint64) ([]byte, error) {
	var r struct{ Held []Held }
	err := c.Call(ctx, "held/list", params{ID: id}, &r)
	switch {
	case err != nil:
		return nil, err
	case len(r.Held) == 0:
		return nil, fmt.Errorf("no frame waits as %d", id)
	case r.Held[0].Frame != nil:
		return r.Held[0].Frame, nil
	}
	return []byte(r.Held[0].Text), nil
}

// Release releases a frame, or all waiting frames if id is 0. line, if not nil, replaces the
// frame and need not be JSON.
func (c *Client) Release(ctx context.Context, id uint64, line []byte) error {
	p := params{ID: id}
	p.setLine(line)
	return c.Call(ctx, "held/release", p, nil)
}

func (p *params) setLine(line []byte) {
	switch {
	case line == nil:
	case json.Valid(line):
		p.Frame = line
	default:
		p.Text = string(line)
	}
}

// Drop removes a frame without sending it.
func (c *Client) Drop(ctx context.Context, id uint64) error {
	return c.Call(ctx, "held/drop", params{ID: id}, nil)
}

// Answer answers a waiting request with a result or an error.
func (c *Client) Answer(ctx context.Context, id uint64, result, failure []byte) error {
	return c.Call(ctx, "held/answer", params{ID: id, Result: result, Error: failure}, nil)
}

// Inject sends an additional line to the agent or the client. If it is a request, Inject
// waits for the answer and returns it.
func (c *Client) Inject(ctx context.Context, to wire.Direction, line []byte) (answer []byte, err error) {
	p := params{Dir: to.Receiver()}
	p.setLine(line)
	var r struct{ Answer json.RawMessage }
	err = c.Call(ctx, "inject", p, &r)
	return r.Answer, err
}

// Rules returns the rules.
func (c *Client) Rules(ctx context.Context) ([]Rule, error) {
	var r struct{ Rules []Rule }
	err := c.Call(ctx, "rules/list", params{}, &r)
	return r.Rules, err
}

// AddRules adds rules. With file, they replace those added from a file of that name.
func (c *Client) AddRules(ctx context.Context, file, text string) error {
	method := "rules/add"
	if file != "" {
		method = "rules/load"
	}
	return c.Call(ctx, method, params{File: file, Text: text}, nil)
}

// EnableRule enables or disables a rule.
func (c *Client) EnableRule(ctx context.Context, name string, on bool) error {
	return c.Call(ctx, "rules/enable", params{Name: name, On: on}, nil)
}

// RemoveRule removes a rule.
func (c *Client) RemoveRule(ctx context.Context, name string) error {
	return c.Call(ctx, "rules/remove", params{Name: name}, nil)
}
