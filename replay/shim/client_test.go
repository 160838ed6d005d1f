package shim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/replay/shim"
)

// patience is how long a test waits for something that must arrive: long enough for a busy
// machine.
const patience = 3 * time.Minute

// A client drives an agent through a proxy with a shim.
type client struct {
	t       testing.TB
	in      *io.PipeWriter
	done    chan error
	dialect string

	mu     sync.Mutex
	cond   sync.Cond
	lines  []string // all that came, in order; guarded by mu
	ended  bool     // guarded by mu
	ids    int
	sees   func(line string)               // called for each line; may be nil
	answer func(request wire.Value) string // the result that an agent's request gets; nil: {}
}

// start runs an agent behind a proxy that records in the store at dir. change
// may set options of the shim.
func start(t testing.TB, dir string, c character, change func(*shim.Shim)) *client {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, dir, c.Dialect, []string{os.Args[0], "role:agent", string(text)}, change)
}

func startCommand(t testing.TB, dir, dialect string, command []string, change func(*shim.Shim)) *client {
	t.Helper()
	in, out, done := connect(t, dir, command, change)
	cl := &client{t: t, in: in, done: done, dialect: dialect}
	cl.cond.L = &cl.mu
	go cl.listen(out)
	t.Cleanup(cl.stop)
	return cl
}

// imported makes a shim offer imported sessions too.
func imported(s *shim.Shim) { s.Imported = true }

// connect runs an agent behind a proxy with a shim. done gets the result of the proxy.
func connect(t testing.TB, dir string, command []string, change func(*shim.Shim)) (in *io.PipeWriter, out *io.PipeReader, done chan error) {
	t.Helper()
	store := record.OpenStore(dir)
	journal := recordtest.Record(t, store, record.Start{Command: command, Name: "agent", Proto: "acp"})
	s := &shim.Shim{Store: store, Agent: "agent", Tape: journal.Tape()}
	s.WaitForIDs()
	if change != nil {
		change(s)
	}
	inR, in := io.Pipe()
	out, outW := io.Pipe()
	p := &proxy.Proxy{Command: command, In: inR, Out: outW, Err: os.Stderr, Journal: journal, Interceptors: []proxy.Interceptor{s}}
	done = make(chan error, 1)
	go func() {
		err := p.Run(context.Background())
		inR.Close() // a client of a proxy that has ended must not hang
		outW.Close()
		s.Close()
		err = errors.Join(err, journal.Close())
		journal.Wait() // the store goes with the test
		done <- errors.Join(err, sealAll(dir))
	}()
	return in, out, done
}

// stop ends the connection.
func (c *client) stop() {
	c.in.Close()
	if err, ok := <-c.done; ok {
		if err != nil {
			c.t.Errorf("the proxy ends with %v", err)
		}
		close(c.done)
	}
}

func (c *client) listen(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := lines.Text()
		if c.sees != nil {
			c.sees(line)
		}
		c.mu.Lock()
		c.lines = append(c.lines, line)
		c.cond.Broadcast()
		c.mu.Unlock()
		if m := wire.ValueOf(line); m.Get("method").Exists() && m.Get("id").Exists() {
			result := "{}"
			if c.answer != nil {
				result = c.answer(m)
			}
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.Get("id").Raw(), result)
		}
	}
	c.mu.Lock()
	c.ended = true
	c.cond.Broadcast()
	c.mu.Unlock()
}

// send sends a line.
func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// ask sends a request and returns its id.
func (c *client) ask(method, params string) int {
	c.t.Helper()
	c.ids++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.ids, method, params)
	return c.ids
}

// await returns the first line from number from on that fits, and its number.
func (c *client) await(from int, what string, fits func(m wire.Value) bool) (wire.Value, int) {
	c.t.Helper()
	deadline := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		c.cond.Broadcast()
	})
	defer deadline.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := from; ; i++ {
		for i >= len(c.lines) && !c.ended {
			c.cond.Wait()
		}
		if i >= len(c.lines) {
			c.t.Fatalf("no %s among\n%s", what, strings.Join(c.lines[from:], "\n"))
		}
		if m := wire.ValueOf(c.lines[i]); fits(m) {
			return m, i
		}
	}
}

// response waits for the response to a request.
func (c *client) response(id int) wire.Value {
	c.t.Helper()
	m, _ := c.await(0, fmt.Sprintf("response to %d", id), func(m wire.Value) bool {
		return !m.Get("method").Exists() && m.Get("id").Raw() == fmt.Sprint(id)
	})
	return m
}

// call sends a request and returns the response.
func (c *client) call(method, params string) wire.Value {
	c.t.Helper()
	return c.response(c.ask(method, params))
}

// must is call for a request that must succeed; it returns the result.
func (c *client) must(method, params string) wire.Value {
	c.t.Helper()
	m := c.call(method, params)
	if m.Get("error").Exists() || !m.Get("result").Exists() {
		c.t.Fatalf("%s %s: got %s", method, params, m.Raw())
	}
	return m.Get("result")
}

// fails is call for a request that must fail with a code and with words in its message.
func (c *client) fails(code int, method, params string, says ...string) {
	c.t.Helper()
	m := c.call(method, params)
	if m.Get("error.code").Int() != int64(code) {
		c.t.Errorf("%s %s: got %s, want the error %d", method, params, m.Raw(), code)
	}
	for _, want := range says {
		if !strings.Contains(m.Get("error.message").Text(), want) {
			c.t.Errorf("%s %s: got %s, want the words %q", method, params, m.Raw(), want)
		}
	}
}

// initialize begins the connection and returns the result.
func (c *client) initialize() wire.Value {
	c.t.Helper()
	switch c.dialect {
	case "", "v1":
		return c.must("initialize", `{"protocolVersion":1,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"editor","version":"1"}}`)
	case "v2":
		return c.must("initialize", `{"protocolVersion":2,"capabilities":{},"info":{"name":"editor","version":"1"}}`)
	}
	return c.must("initialize", `{"protocolVersion":2,"capabilities":{},"clientInfo":{"name":"editor","version":"1"}}`)
}

// new makes a session and returns its id.
func (c *client) new() string {
	c.t.Helper()
	return c.must("session/new", `{"cwd":"/w","mcpServers":[]}`).Get("sessionId").Text()
}

// prompt performs a turn.
func (c *client) prompt(session, text string) wire.Value {
	c.t.Helper()
	return c.promptBlocks(session, fmt.Sprintf(`[{"type":"text","text":%q}]`, text))
}

func (c *client) promptBlocks(session, blocks string) wire.Value {
	c.t.Helper()
	from := c.count()
	result := c.must("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":%s}`, session, blocks))
	if !result.Get("stopReason").Exists() {
		c.await(from, "idle", func(m wire.Value) bool {
			return m.Get("params.sessionId").Text() == session && m.Get("params.update.state").Text() == "idle"
		})
	}
	return result
}

// got returns the lines received, starting with number from.
func (c *client) got(from int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines[from:])
}

func (c *client) count() int { return len(c.got(0)) }

// load loads a session and returns the lines that came for it before the
// response, and the result.
func (c *client) load(session string) ([]string, wire.Value) {
	c.t.Helper()
	from := c.count()
	method, more := "session/load", ""
	if c.dialect == "v2" {
		method, more = "session/resume", `,"replayFrom":{"type":"start"}`
	}
	id := c.ask(method, fmt.Sprintf(`{"sessionId":%q,"cwd":"/w","mcpServers":[]%s}`, session, more))
	m, at := c.await(from, "response", func(m wire.Value) bool {
		return !m.Get("method").Exists() && m.Get("id").Raw() == fmt.Sprint(id)
	})
	if !m.Get("result").IsObject() {
		c.t.Fatalf("loading %s: got %s", session, m.Raw())
	}
	var lines []string
	for _, line := range c.got(from)[:at-from] {
		if wire.ValueAt(line, "params.sessionId").Text() == session {
			lines = append(lines, line)
		}
	}
	return lines, m.Get("result")
}
