package portable

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// conductorTrace reads the output of agent-client-protocol-conductor --trace for a chain
// Client, Proxy(0), Proxy(1), …, Agent. ts is seconds since the start:
//
//	{"type":"request","ts":0.1,"protocol":"acp","from":"Client","to":"Agent","id":"…","method":"initialize","params":{…}}
//	{"type":"response","ts":0.2,"from":"Agent","to":"Client","id":"…","is_error":false,"payload":{…}}
//	{"type":"notification","ts":0.3,"protocol":"acp","from":"Agent","to":"Client","method":"session/update","params":{…}}
//
// A tape has one connection, so the reader takes the client's. If there are proxies, the
// trace lacks the notifications and requests to the client; those to the first proxy are used
// instead. MCP messages are unwrapped in the trace, and their connections are unknown.
type conductorTrace struct {
	log
	skipped map[string]bool // ids of omitted requests, whose responses are omitted too
	hops    count           // number of messages between other components
	mcp     count
}

func isTrace(head []byte) bool { return isTraceEvent(wire.ValueOf(firstLine(head))) }

func isTraceEvent(g wire.Value) bool {
	switch g.Get("type").Text() {
	case "request", "response", "notification":
		return g.Get("ts").IsNumber() && g.Get("from").IsString() && g.Get("to").IsString()
	}
	return false
}

func readTrace(f *file) error {
	c := &conductorTrace{log: log{
		file: f, unit: "line", head: Head{Start: journal.Start{Proto: "acp"}},
		lacks:  "From the trace of a conductor, on the side of its client: it does not say when it began, messages were encoded again, and it has no stderr",
		origin: firstLog,
	}, skipped: map[string]bool{}}
	err := c.end(c.eachLine(c.read))
	if err == nil {
		c.say(c.hops, "went between other components, which the tape does not have")
		c.say(c.mcp, "carried MCP over ACP, which the tape does not have")
	}
	return err
}

func (c *conductorTrace) read(l logLine) error {
	if l.size > len(l.text) || !json.Valid(l.text) {
		return c.lost(l.n, l.size)
	}
	g := wire.ValueOf(l.text)
	from, known := place(g.Get("from").Text())
	to, ok := place(g.Get("to").Text())
	ts := g.Get("ts").Float()
	if !isTraceEvent(g) || !known || !ok || from == to || ts < 0 || ts > 1e9 {
		return c.lost(l.n, l.size)
	}
	kind, id := g.Get("type").Text(), g.Get("id").Raw()
	dir := wire.ClientToAgent
	if from > to {
		dir = wire.AgentToClient
	}
	switch {
	case kind == "response" && c.skipped[id]:
		delete(c.skipped, id)
		return nil
	case g.Get("protocol").Text() == "mcp":
		c.mcp.add(l.n)
		c.skip(id)
		return nil
	case from == client, to == client:
	case dir == wire.AgentToClient && to == firstProxy && kind != "response",
		dir == wire.ClientToAgent && from == firstProxy && kind == "response":
	default:
		c.hops.add(l.n)
		return nil
	}
	at := c.origin.Add(time.Duration(ts*1e9 + 0.5))
	payload := wire.Get(l.text, "payload")
	if payload == nil {
		payload = []byte("null")
	}
	switch {
	case kind == "response" && g.Get("is_error").Bool():
		return c.message(l.n, dir, rebuilt(wire.Get(l.text, "id"), nil, nil, nil, payload), at)
	case kind == "response":
		return c.message(l.n, dir, rebuilt(wire.Get(l.text, "id"), nil, nil, payload, nil), at)
	}
	method := wire.Get(l.text, "method")
	if to, ok := strings.CutPrefix(g.Get("method").Text(), "_proxy/"); ok && to == dialect.Initialize { // as sent to a proxy
		method = []byte(`"` + dialect.Initialize + `"`)
	}
	return c.message(l.n, dir, rebuilt(wire.Get(l.text, "id"), method, wire.Get(l.text, "params"), nil, nil), at)
}

func (c *conductorTrace) skip(id string) {
	if id != "" && len(id) <= maxID && len(c.skipped) < maxPending {
		c.skipped[id] = true
	}
}

const (
	client     = -1
	firstProxy = 0
)

// place returns the position of a component in the chain.
func place(component string) (n int, ok bool) {
	switch component {
	case "Client":
		return client, true
	case "Agent":
		return math.MaxInt, true
	}
	number, ok := strings.CutPrefix(component, "Proxy(")
	number, closed := strings.CutSuffix(number, ")")
	n, err := strconv.Atoi(number)
	return n, ok && closed && err == nil && n >= 0
}

// conductorLog reads the output of the conductor with --debug: the lines of all components,
// the last of which is the agent.
//
//	=== Conductor Debug Log ===
//	Started: 2026-01-02T15:04:05.123456789+01:00
//	Components:
//	  0: my-agent --acp
//	========================
//	C → +3ms {"jsonrpc":"2.0","id":0,"method":"initialize","params":{…}}
//	0 → +12ms {"jsonrpc":"2.0","id":"…","method":"initialize","params":{…}}
//	0 ← +15ms {"jsonrpc":"2.0","id":"…","result":{…}}
//	0 ! +16ms a line of its stderr
type conductorLog struct {
	log
	agent  string // its number
	others count  // lines of other components
	header bool
}

var (
	conductorComponent = lazyregexp.New(`^  (\d+): (.*)$`)
	conductorLine      = lazyregexp.New(`^(C|\d+) (→|←|!) \+(\d{1,15})ms ?`)
)

const conductorTitle = "=== Conductor Debug Log ==="

func isConductorLog(head []byte) bool { return begins(head, conductorTitle) }

func readConductorLog(f *file) error {
	c := &conductorLog{log: log{
		file: f, unit: "line", head: Head{Start: journal.Start{Proto: "acp"}},
		lacks:  "From the debug log of a conductor: only what the agent at the end of its chain received and sent",
		origin: firstLog,
	}}
	err := c.end(c.eachLine(c.read))
	if err == nil {
		c.say(c.others, "came from or went to others, which the tape does not have")
	}
	return err
}

func (c *conductorLog) read(l logLine) error {
	text := string(l.text[:min(len(l.text), 4<<10)])
	switch {
	case text == conductorTitle:
		if c.agent == "" {
			c.header = true
			return nil
		}
		return fmt.Errorf("%s:%d: a second log begins here; a tape has one: head -n %d %[1]s gives the first", c.name, l.n, l.n-1)
	case c.header && strings.HasPrefix(text, "====="):
		c.header = false
		return nil
	case c.header:
		if started, ok := strings.CutPrefix(text, "Started: "); ok {
			if began, err := time.Parse(time.RFC3339, started); err == nil {
				c.origin, c.head.Start.Time = began.UTC(), began.UTC()
			}
		}
		if m := conductorComponent().FindStringSubmatch(text); m != nil {
			c.agent, c.head.Start.Command = m[1], strings.Fields(m[2])
		}
		return nil
	}
	m := conductorLine().FindStringSubmatch(text)
	switch {
	case m == nil:
		c.unread.add(l.n)
		return nil
	case m[1] != c.agent:
		c.others.add(l.n)
		return nil
	}
	ms, _ := strconv.ParseInt(m[3], 10, 64)
	at := c.origin.Add(time.Duration(min(ms, 1e12)) * time.Millisecond)
	dir := map[string]wire.Direction{"→": wire.ClientToAgent, "←": wire.AgentToClient, "!": wire.AgentStderr}[m[2]]
	rest := l.text[len(m[0]):]
	if dir != wire.AgentStderr && !l.complete(rest) || l.size > len(l.text) {
		return c.missing(l.n, dir, l.size, at)
	}
	return c.message(l.n, dir, rest, at)
}
